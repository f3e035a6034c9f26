"""nbgrader's gradebook beside the result files, and the table made from both."""

from __future__ import annotations

import csv
import io
import warnings
from dataclasses import dataclass

from nbgrader.api import Gradebook, MissingEntry

from ..paths import chapters
from . import results
from .classroom import Classroom, Item
from .results import Result, points


@dataclass(frozen=True)
class Mark:
    """What the gradebook knows of a graded cell.

    score : the points that count there
    given : True when a person gave them, or gave extra credit
    open  : True when a person still has to
    """

    score: float
    given: bool
    open: bool


def marks(room: Classroom, assignment: str, student: str) -> dict[str, Mark]:
    """The gradebook's marks of a submission, by cell; empty when it has none."""
    return read_marks(room.db_url, assignment, student)


def read_marks(db_url: str, assignment: str, student: str) -> dict[str, Mark]:
    """The same, from the gradebook at an address."""
    with Gradebook(db_url) as gradebook:
        try:
            notebook = gradebook.find_submission_notebook(
                assignment, assignment, student
            )
        except MissingEntry:
            return {}
        return {
            grade.name: Mark(
                float(grade.score or 0.0),
                grade.manual_score is not None or grade.extra_credit is not None,
                grade.manual_score is None and grade.auto_score is None,
            )
            for grade in notebook.grades
        }


def record_zero(room: Classroom, assignment: str, student: str) -> None:
    """Enter a submission that could not be graded, with zero automatic points."""
    with warnings.catch_warnings(), Gradebook(room.db_url) as gradebook:
        warnings.simplefilter("ignore")  # SQLAlchemy's, about nbgrader's own models
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(assignment, student)
        notebook = gradebook.find_submission_notebook(assignment, assignment, student)
        for grade in notebook.grades:
            grade.auto_score = 0.0
            grade.needs_manual_grade = False
        gradebook.db.commit()


@dataclass(frozen=True)
class Table:
    """The class's table as text, and how many written answers are still open."""

    text: str
    open: int


def table(room: Classroom) -> Table:
    """One row a student who handed in; a column a graded cell, then the sums.

    A check counts what its result says, unless a person changed it in the
    formgrader. A written answer that nobody has graded yet is an empty field, and
    so is their sum until all are graded. Sums are of the exact points; whatever is
    in the table is rounded once.
    """
    header = ["student"]
    rows: dict[str, dict[str, str]] = {}
    still_open = 0
    for assignment in chapters(root=room.root):
        present = set(room.students(assignment))
        graded = results.read_all(room.results, assignment)
        graded = [result for result in graded if result.student in present]
        if not graded:
            continue
        items = room.items(assignment)
        header += [f"{assignment} {item.id}" for item in items]
        header += [f"{assignment} {name}" for name in SUMS]
        for result in graded:
            known = marks(room, assignment, result.student)
            scores = {item.id: _score(result, item.id, known) for item in items}
            row = rows.setdefault(result.student, {"student": inert(result.student)})
            for name, score in (scores | sums(items, scores)).items():
                row[f"{assignment} {name}"] = "" if score is None else points(score)
            still_open += sum(score is None for score in scores.values())
    out = io.StringIO()
    writer = csv.DictWriter(out, header, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[student] for student in sorted(rows))
    return Table(out.getvalue(), still_open)


#: the columns after the graded cells
SUMS = (
    "checks",
    "checks out of",
    "written",
    "written out of",
    "total",
    "out of",
)


def sums(items: list[Item], scores: dict[str, float | None]) -> dict[str, float | None]:
    """A student's sums, named as in SUMS: checks, written answers, everything."""
    written = [scores[item.id] for item in items if item.written]
    checks = [scores[item.id] or 0.0 for item in items if not item.written]
    marked = [score for score in written if score is not None]
    values = (
        sum(checks),
        sum(item.points for item in items if not item.written),
        sum(marked) if len(marked) == len(written) else None,
        sum(item.points for item in items if item.written),
        sum(checks) + sum(marked),
        sum(item.points for item in items),
    )
    return dict(zip(SUMS, values, strict=True))


def inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe before = + - @."""
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text


def _score(result: Result, item: str, known: dict[str, Mark]) -> float | None:
    mark = known.get(item)
    if mark is not None and mark.given:
        return mark.score
    for check in result.checks:
        if check.id == item:
            return check.score
    return 0.0 if mark is None else None if mark.open else mark.score
