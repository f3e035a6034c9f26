"""What this course changes in nbgrader's pipelines: three small preprocessors.

`NamedStubs` writes the stubs of a release, `FailClosed` makes sure that only a
number from a check counts as a score, `HideHidden` keeps hidden cases out of the
feedback page. `nbgrader_config.py` puts them in their places.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor, SaveCells
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from .paths import course_root

Processed = tuple[NotebookNode, ResourcesDict]


class NamedStubs(ClearSolutions):
    """Stubs that say which answer is missing.

    In a code cell an indented solution region becomes
    `raise NotImplementedError("<grade_id>")`, a region at the left margin
    disappears (the blank form above it stays). Markdown gets nbgrader's text stub.
    """

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        if cell.cell_type != "code":
            return bool(super()._replace_solution_region(cell, language))
        kept: list[str] = []
        inside = found = False
        for line in cell.source.split("\n"):
            if self.begin_solution_delimeter in line:
                if inside:
                    raise RuntimeError(f"nested BEGIN SOLUTION:\n{cell.source}")
                inside = found = True
                indent = re.match(r"\s*", line)
                if indent is not None and indent.group():
                    kept.append(indent.group() + stub(cell))
            elif self.end_solution_delimeter in line:
                inside = False
            elif not inside:
                kept.append(line)
        if inside:
            raise RuntimeError(f"BEGIN SOLUTION without END SOLUTION:\n{cell.source}")
        if found:
            cell.source = "\n".join(kept).rstrip("\n")
        return found

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> Processed:
        """Replace the regions; a code answer without one is replaced as a whole."""
        self.code_stub = {resources["language"]: stub(cell)}
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        return cell, resources


def stub(cell: NotebookNode) -> str:
    """The line that stands where an answer is missing."""
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    return f'raise NotImplementedError("{grade_id}")'


# --------------------------------------------------------------------- releases


def release_preprocessors() -> list[type]:
    """nbgrader's generate-assignment steps, in its own order, with our stubs."""
    stock = GenerateAssignment.preprocessors.default_args[0]
    return [NamedStubs if step is ClearSolutions else step for step in stock]


def release_notebook(
    source_nb: NotebookNode, assignment: str, config: Config | None = None
) -> NotebookNode:
    """The released form of a source notebook, as `nbgrader generate_assignment`
    makes it, without touching a database. The argument is left as it is.

    config: the nbgrader configuration; by default the course's own.

    Raises RuntimeError (unclosed regions) and nbgrader's ValidationError.
    """
    config = course_config() if config is None else config
    nb = copy.deepcopy(source_nb)
    resources: Any = ResourcesDict(
        unique_key=assignment,
        metadata=ResourcesDict(name=assignment, path=""),
        nbgrader={
            "student": ".",
            "assignment": assignment,
            "notebook": assignment,
            "db_url": "",
        },
    )
    for step in release_preprocessors():
        if step is not SaveCells:
            nb, resources = step(config=config)(nb, resources)
    return nb


def course_config() -> Config:
    """What the course's `nbgrader_config.py` says (empty when there is none)."""
    root = course_root()
    if not (root / "nbgrader_config.py").is_file():
        return Config()
    loader = PyFileConfigLoader("nbgrader_config.py", path=str(root))
    return loader.load_config()


def authors_files(root: Path) -> set[str]:
    """Names in `solutions/` that no release or autograded folder may hold:
    everything but notebooks and the visible expected values."""
    released = ("*.ipynb", "*.expected.json")
    return {
        path.name
        for path in (root / "solutions").glob("*/*")
        if not any(path.match(pattern) for pattern in released)
    } | {"misconceptions.py", "worksheet.py", "experiment.py", "stated.json", "results"}
