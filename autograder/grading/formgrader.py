"""What students wrote, in the formgrader: text in which nothing acts.

The formgrader shows a submission inside the instructor's own Jupyter server. Whatever
HTML a text cell brings along would act there with the instructor's rights, so that
it is shown as it was typed. `nbgrader_config.py` puts both in their places.
"""

from __future__ import annotations

from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from .notebook_page import markdown


@pass_context
def harmless(context: Context, text: str) -> str:
    """Markdown as HTML, as the feedback page has it: tags are text, links are safe."""
    cell: Any = context.get("cell")
    return markdown(text, cell.get("attachments") if cell else None)


class RawAsText(Preprocessor):  # type: ignore[misc]
    """Shows raw cells as lines of code: an exporter to HTML would take them as HTML."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        """A raw cell as an indented block of Markdown."""
        if cell.cell_type == "raw":
            cell.cell_type = "markdown"
            cell.source = "\n".join(f"    {line}" for line in cell.source.splitlines())
        return cell, resources
