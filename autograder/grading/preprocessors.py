"""What this course changes in nbgrader's pipelines: four small preprocessors.

`NamedStubs` writes the stubs of a release, `RestoreCells` mends a submission,
`FailClosed` makes sure that only a number from a check counts as a score, and
`HideHidden` keeps hidden cases out of the feedback page. `nbgrader_config.py` puts
them in their places.
"""

from __future__ import annotations

import copy
import os
import re
from pathlib import Path
from typing import Any
from unittest import mock

import traitlets
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.preprocessors import (
    ClearSolutions,
    Execute,
    GetGrades,
    NbGraderPreprocessor,
    OverwriteCells,
    SaveCells,
)
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from ..checking.check import MIME
from ..paths import course_root
from .notebook_page import Verdicts
from .verdicts import decide, is_check

#: a hidden region, which a release does not have
HIDDEN = re.compile(r"(?ms)^[^\n]*BEGIN HIDDEN TESTS.*?END HIDDEN TESTS[^\n]*(?:\n|\Z)")

Processed = tuple[NotebookNode, ResourcesDict]


class NamedStubs(ClearSolutions):  # type: ignore[misc]
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


# ------------------------------------------------------------------ submissions


class RestoreCells(OverwriteCells):  # type: ignore[misc]
    """nbgrader's OverwriteCells, and every locked cell back in its place.

    A deleted check or given cell returns after the cell that it followed. Cells
    that pretend to be the assignment's lose that claim, so that one pasted cell
    does not cost the whole submission. (`add_missing_cells` of nbgrader 0.9 stops
    when the cell before the missing one is a given cell.)
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Processed:
        """Mend the notebook; what was odd is logged as `note: ...`."""
        self.add_missing_cells = False
        settings = resources["nbgrader"]
        with Gradebook(settings["db_url"]) as gradebook:
            notebook = gradebook.find_notebook(
                settings["notebook"], settings["assignment"]
            )
            for name in recognise(nb, notebook):
                self.log.warning("note: the metadata of cell '%s' was missing", name)
        nb, resources = super().preprocess(nb, resources)
        for cell in nb.cells:
            if "nbgrader" in cell.metadata and not cell_id(cell):
                del cell.metadata["nbgrader"]
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            notebook = gradebook.find_notebook(self.notebook_id, self.assignment_id)
            points = {cell.name: cell.max_score for cell in notebook.grade_cells}
            written = {cell.name for cell in notebook.solution_cells} & set(points)
            place = 0
            for master in notebook.source_cells:
                ids = [cell_id(cell) for cell in nb.cells]
                if master.name in ids:
                    place = ids.index(master.name) + 1
                elif master.locked or master.name in points:
                    solution = master.name in written
                    cell = restored(master, points.get(master.name), solution)
                    if nb.nbformat_minor < 5:
                        del cell["id"]
                    nb.cells.insert(place, cell)
                    place += 1
                    self.log.warning("note: cell '%s' was missing", master.name)
        return nb, resources


def recognise(nb: NotebookNode, notebook: Any) -> list[str]:
    """Give cells that lost their metadata theirs again; returns their ids.

    A cell is known by its notebook id, or a locked one by its text. Other editors
    lose metadata, and would move every check to the top of the notebook.
    """
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    answers = {cell.name for cell in notebook.solution_cells}
    lost = [cell for cell in nb.cells if not cell.metadata.get("nbgrader")]
    there = {cell_id(cell) for cell in nb.cells}
    found = []
    for master in notebook.source_cells:
        if master.name in there:
            continue
        shown = HIDDEN.sub("", master.source).strip()
        for cell in lost:
            same = cell.source.strip() == shown and master.locked
            if cell.cell_type == master.cell_type and (
                cell.get("id") == master.name or same
            ):
                solution = master.name in answers
                model = restored(master, points.get(master.name), solution)
                cell.metadata["nbgrader"] = model.metadata["nbgrader"]
                lost.remove(cell)
                found.append(master.name)
                break
    return found


def restored(master: Any, points: float | None, solution: bool) -> NotebookNode:
    """A cell of the assignment, from what the gradebook knows of it."""
    new = new_code_cell if master.cell_type == "code" else new_markdown_cell
    info = {
        "grade": points is not None,
        "grade_id": master.name,
        "locked": bool(master.locked),
        "schema_version": 3,
        "solution": solution,
        "task": False,
        "checksum": master.checksum,
        "cell_type": master.cell_type,
    }
    if points is not None:
        info["points"] = points
    return new(master.source, metadata={"nbgrader": info})


def cell_id(cell: NotebookNode) -> str | None:
    """The cell's nbgrader id, if it has one."""
    name = cell.metadata.get("nbgrader", {}).get("grade_id")
    return str(name) if name else None


class ExecuteWithHidden(Execute):  # type: ignore[misc]
    """nbgrader's Execute; only while it runs do checks find the hidden values.

    Elsewhere (`nbgrader validate`, notebooks opened in this course's Jupyter) the
    hidden cases are not there, and must not count.
    """

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict, **more: Any
    ) -> Processed:
        """Run the notebook."""
        course = self.config.CourseDirectory
        solutions = str(Path(course.root) / course.source_directory)
        with mock.patch.dict(os.environ, AUTOGRADER_SOLUTIONS=solutions):
            nb, resources = super().preprocess(nb, resources, **more)
        return nb, resources


class FailClosed(NbGraderPreprocessor):  # type: ignore[misc]
    """After execution: a check cell counts only if it ended in a score.

    nbgrader gives full marks to a cell without output, to a negative score and to
    a text, drops the submission when a score is above the maximum, and takes the
    marks away for a line on stderr. After this step every check cell has exactly
    one verdict and one score between 0 and its points; stderr is kept as output.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> Processed:
        """Replace the cell's score by one that is certain."""
        if not is_check(cell):
            return cell, resources
        verdict = decide(cell)
        kept = []
        for output in cell.outputs:
            if output.output_type == "execute_result":
                continue
            if output.output_type == "stream":
                output.name = "stdout"
            if output.get("data", {}).pop(MIME, None) and not output.data:
                continue
            kept.append(output)
        words = verdict["reason"] or "right"
        if verdict.pop("shown"):
            shown = next(o for o in reversed(kept) if o.output_type == "display_data")
            shown.data[MIME] = verdict
        else:
            data = {"text/plain": f"{verdict['score']} points: {words}", MIME: verdict}
            kept.append(new_output("display_data", data))
        data = {"text/plain": str(verdict["score"])}
        number = cell.execution_count
        kept.append(new_output("execute_result", data, execution_count=number))
        cell.outputs = kept
        return cell, resources


class HideHidden(NbGraderPreprocessor):  # type: ignore[misc]
    """Keeps the sources, labels and inputs of hidden cases out of the feedback.

    The table of a check names them "hidden case 1" and stays; whatever the cell
    printed, and tracebacks (they quote its lines), go.
    """

    #: the exporter sets it for every step (nbgrader's own ones take it too)
    display_data_priority = traitlets.List().tag(config=True)

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, cell_index: int
    ) -> Processed:
        """Take out the hidden region and the outputs that may tell about it."""
        if not is_check(cell) or "BEGIN HIDDEN TESTS" not in cell.source:
            return cell, resources
        lines, inside = [], False
        for line in cell.source.split("\n"):
            inside = inside or "BEGIN HIDDEN TESTS" in line
            if not inside:
                lines.append(line)
            inside = inside and "END HIDDEN TESTS" not in line
        cell.source = "\n".join(lines)
        cell.outputs = [
            output
            for output in cell.outputs
            if output.output_type in ("display_data", "execute_result")
        ]
        for output in cell.outputs:
            output.get("data", {}).pop(MIME, None)
        return cell, resources


# -------------------------------------------------------------------- pipelines


def sanitize_preprocessors() -> list[type]:
    """nbgrader's steps before a submission runs, with our RestoreCells."""
    stock = Autograde.sanitize_preprocessors.default_args[0]
    return [RestoreCells if step is OverwriteCells else step for step in stock]


def autograde_preprocessors() -> list[type]:
    """nbgrader's steps that run and grade, with FailClosed after the run."""
    stock = list(Autograde.autograde_preprocessors.default_args[0])
    place = stock.index(Execute)
    return [*stock[:place], ExecuteWithHidden, FailClosed, *stock[place + 1 :]]


def feedback_preprocessors() -> list[type]:
    """nbgrader's GetGrades, our Verdicts, and only then HideHidden."""
    stock = list(GenerateFeedback.preprocessors.default_args[0])
    place = stock.index(GetGrades) + 1
    return [*stock[:place], Verdicts, HideHidden]


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
    everything but notebooks, the visible expected values and the worksheet."""
    released = ("*.ipynb", "*.expected.json", "*.worksheet.json")
    return {
        path.name
        for path in (root / "solutions").glob("*/*")
        if not any(path.match(pattern) for pattern in released)
    } | {"misconceptions.py", "worksheet.py", "experiment.py", "stated.json", "results"}
