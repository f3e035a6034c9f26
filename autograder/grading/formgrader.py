"""What students wrote, in the formgrader: text in which nothing acts.

The formgrader shows a submission inside the instructor's own Jupyter server. Whatever
HTML a text cell brings along would act there with the instructor's rights, so that
it is shown as it was typed (raw cells are so by themselves).
"""

from __future__ import annotations

from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from .notebook_page import markdown


@pass_context
def harmless(context: Context, text: str) -> str:
    """Markdown as HTML, as the feedback page has it: tags are text, links are safe."""
    cell: Any = context.get("cell")
    return markdown(text, cell.get("attachments") if cell else None)
