"""nbgrader's gradebook beside the result files, and the table made from both."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbgrader
from alembic.script import ScriptDirectory
from nbgrader.api import (
    Assignment,
    Base,
    BaseCell,
    Course,
    Grade,
    Gradebook,
    InvalidEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import create_engine, insert, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from ..errors import CourseError
from ..paths import chapters
from . import results
from .classroom import Classroom, Item
from .results import Result, points

#: nbgrader's steps from one form of its database to the next
MIGRATIONS = Path(nbgrader.__file__).parent / "alembic"


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


@dataclass(frozen=True)
class Known:
    """What the gradebook knows of a submission.

    marks    : by cell
    comments : by cell, a person's own or an automatic one
    penalty  : points taken off for handing in late
    """

    marks: dict[str, Mark] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    penalty: float = 0.0


@contextmanager
def opened(db_url: str) -> Iterator[Gradebook]:
    """nbgrader's gradebook. Raises CourseError where the database refuses."""
    try:
        with warnings.catch_warnings(), Gradebook(db_url) as gradebook:
            warnings.simplefilter("ignore")  # SQLAlchemy's, about nbgrader's models
            with gradebook.db.no_autoflush:
                yield gradebook
    except (SQLAlchemyError, InvalidEntry) as error:
        raise unusable(str(error)) from None


def unusable(why: str) -> CourseError:
    """The error when the gradebook can't be read or written."""
    why = why.splitlines()[0][:200]
    if "database is locked" in why:
        why = "the database is locked"
    return CourseError(
        f"the gradebook can't be used: {why}",
        "is another program in the middle of something in class/gradebook.db? Close "
        "it, and grade again: nothing is lost, and what is graded stays graded",
    )


def make(room: Classroom) -> None:
    """Make nbgrader's gradebook if there is none, as nbgrader would, in one step.

    nbgrader itself looks for the program `alembic` on the path, which takes seconds,
    and a kill in between would leave half a database.
    """
    name = make_url(room.db_url).database
    if not room.db_url.startswith("sqlite:///") or not name or Path(name).exists():
        return
    part = Path(name).with_name(f".{Path(name).name}.part")
    for left in (part, part.with_name(f"{part.name}-journal")):
        left.unlink(missing_ok=True)
    engine = create_engine(f"sqlite:///{part}")
    version = ScriptDirectory(str(MIGRATIONS)).get_current_head()
    try:
        Base.metadata.create_all(engine)
        with engine.begin() as connection:
            connection.execute(insert(Course).values(id="default_course"))
            connection.execute(
                text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
            )
            connection.execute(
                text("INSERT INTO alembic_version VALUES (:version)"),
                {"version": version},
            )
    except SQLAlchemyError as error:
        raise unusable(str(error)) from None
    finally:
        engine.dispose()
    part.replace(name)


def known_of(row: SubmittedNotebook, names: dict[str, str]) -> Known:
    """What a row of the gradebook says.

    names : the cells' names by their ids in the gradebook
    """
    return Known(
        {
            names[grade.cell_id]: mark(
                grade.auto_score, grade.manual_score, grade.extra_credit
            )
            for grade in row.grades
        },
        {
            names[comment.cell_id]: comment.manual_comment or comment.auto_comment or ""
            for comment in row.comments
        },
        float(row.late_submission_penalty or 0.0),
    )


def mark(auto: float | None, manual: float | None, extra: float | None) -> Mark:
    """A mark from the three numbers that the gradebook keeps."""
    score = manual if manual is not None else auto if auto is not None else 0.0
    return Mark(
        float(score + (extra or 0.0)),
        manual is not None or extra is not None,
        manual is None and auto is None,
    )


def marks(room: Classroom, assignment: str) -> dict[str, dict[str, Mark]]:
    """The gradebook's marks of a class: by student, by cell; in one query."""
    found: dict[str, dict[str, Mark]] = {}
    for student, cell, auto, manual, extra in _grades(room.db_url, assignment):
        found.setdefault(student, {})[cell] = mark(auto, manual, extra)
    return found


def entered(room: Classroom, assignment: str) -> dict[str, dict[str, float]]:
    """The automatic scores of a class as they were entered: by student, by cell."""
    found: dict[str, dict[str, float]] = {}
    for student, cell, auto, _, _ in _grades(room.db_url, assignment):
        if auto is not None:
            found.setdefault(student, {})[cell] = float(auto)
    return found


def _grades(db_url: str, assignment: str, student: str | None = None) -> list[Any]:
    """(student, cell, automatic score, a person's, extra credit) of every grade."""
    with opened(db_url) as gradebook:
        query = (
            gradebook.db.query(
                SubmittedAssignment.student_id,
                BaseCell.name,
                Grade.auto_score,
                Grade.manual_score,
                Grade.extra_credit,
            )
            .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
            .join(
                SubmittedAssignment,
                SubmittedNotebook.assignment_id == SubmittedAssignment.id,
            )
            .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
            .join(BaseCell, Grade.cell_id == BaseCell.id)
            .filter(Assignment.name == assignment)
        )
        if student is not None:
            query = query.filter(SubmittedAssignment.student_id == student)
        return list(query.all())


def read_marks(db_url: str, assignment: str, student: str) -> dict[str, Mark]:
    """The marks of one submission, by cell; empty when the gradebook has none."""
    return {
        cell: mark(auto, manual, extra)
        for _, cell, auto, manual, extra in _grades(db_url, assignment, student)
    }


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
    in the table is rounded once. The last column says why work can't be graded.
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
        header += [f"{assignment} {name}" for name in (*SUMS, "remark")]
        everyone = marks(room, assignment)
        for result in graded:
            known = everyone.get(result.student, {})
            scores = {item.id: _score(result, item.id, known) for item in items}
            row = rows.setdefault(result.student, {"student": inert(result.student)})
            for name, score in (scores | sums(items, scores)).items():
                row[f"{assignment} {name}"] = "" if score is None else points(score)
            row[f"{assignment} remark"] = inert(results.not_gradable(result) or "")
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
