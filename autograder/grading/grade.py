"""Grade a class: result files, gradebook, feedback pages and one table.

Reads class/submitted/<student>/<assignment>/<assignment>.ipynb, and writes
class/results/ (one file a submission), class/feedback/ (a page a student),
class/grades.csv, and nbgrader's gradebook, so that the formgrader shows the same.
A submission that can't be graded gets a row with the reason and never stops the
class. What has not changed since the last run is left alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ..errors import CourseError
from ..paths import chapters, course_root
from .lock import alone
from .progress import Progress
from .results import points

if TYPE_CHECKING:
    from .classroom import Classroom
    from .results import Result

HELP = "grade the class: results, gradebook, feedback pages, CSV"
EXAMPLE = "python -m autograder grade attention"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("chapter", help="which chapter's assignment")
    parser.add_argument(
        "--submitted",
        type=Path,
        metavar="DIR",
        help="fetch notebooks from here first: one folder a student, or a clone "
        "of the course for each (default: what is in class/submitted)",
    )
    parser.add_argument(
        "--regrade", action="store_true", help="grade unchanged submissions again"
    )
    parser.add_argument(
        "--feedback",
        action="store_true",
        help="write every feedback page again (after grading by hand)",
    )


def run(args: argparse.Namespace) -> int:
    """Grade the class of one chapter."""
    chapters([args.chapter])
    from . import stock  # nbgrader takes a second to import: only when grading

    with alone(course_root() / "class" / ".grading", "grade"):
        return grade_class(
            stock, args.chapter, args.submitted, args.regrade, args.feedback
        )


def grade_class(
    engine: ModuleType,
    chapter: str,
    folder: Path | None = None,
    regrade: bool = False,
    pages: bool = False,
) -> int:
    """Grade every submission with an engine; see `stock` for what that offers."""
    from . import gradebook, results
    from .classroom import Classroom, collect
    from .feedback import write_page
    from .pipeline import enter_assignment

    room = Classroom.here()
    students = collect(room, folder, chapter) if folder else room.students(chapter)
    if not students:
        raise CourseError(
            f"nobody has handed in {chapter!r}: {room.submitted} has no folder "
            f"<student>/{chapter}",
            f"put notebooks there, or: python -m autograder simulate {chapter} "
            "--students 12",
            usage=True,
        )
    print(f"{chapter}: {len(students)} submissions; {worth(room, chapter)}")
    print(engine.caution, flush=True)
    enter_assignment(room, chapter)
    todo = [s for s in students if regrade or not unchanged(room, engine, chapter, s)]
    progress = Progress(len(todo), sys.stdout)
    for student in todo:
        # no result while it is graded: whoever is stopped here is graded next time
        results.result_path(room.results, student, chapter).unlink(missing_ok=True)
        result = engine.grade(room, chapter, student)
        write_page(room, result)
        results.write(result, room.results)
        progress.step(student, outcome(result))
    progress.close()
    paths = {s: results.result_path(room.results, s, chapter) for s in students}
    graded = [results.read(path) for path in paths.values()]
    for result in graded if pages else []:
        if result.student not in todo:
            write_page(room, result)
    table = gradebook.table(room)
    results.write_text(room.grades, table.text)
    print(summary(graded, len(todo), table.open))
    for what, place in (
        ("results", room.results),
        ("feedback pages", room.feedback),
        ("gradebook", room.root / "class" / "gradebook.db"),
        ("grades (CSV)", room.grades),
    ):
        print(f"{what + ':':<16}{place}")
    return 0


def unchanged(room: Classroom, engine: ModuleType, chapter: str, student: str) -> bool:
    """True when this very notebook has been graded against this very assignment,
    by this engine, and everything derived from it is there."""
    from . import gradebook, results

    path = results.result_path(room.results, student, chapter)
    if not path.is_file() or not room.page(student, chapter).is_file():
        return False
    try:
        old = results.read(path)
    except CourseError:
        return False
    return (
        bool(old.notebook_sha256)
        and old.notebook_sha256 == engine.fingerprint(room.notebook(student, chapter))
        and old.assignment_sha256 == room.digest(chapter)
        and old.engine == engine.name
        and bool(gradebook.marks(room, chapter, student))
    )


def worth(room: Classroom, chapter: str) -> str:
    """What the checks are worth, and what a person marks on top of it."""
    items = room.items(chapter)
    written = [item.points for item in items if item.written]
    checks = points(sum(item.points for item in items) - sum(written))
    if not written:
        return f"{checks} points, all by checks"
    return (
        f"points below are the checks' ({checks}); {len(written)} written answers "
        f"({points(sum(written))} points) are marked by a person"
    )


def outcome(result: Result) -> str:
    """A submission's result in a few words."""
    text = f"{points(result.score)} of {points(result.max_score)}"
    for status in ("refused", "crash"):
        for check in result.checks:
            if check.status == status:
                return f"{text} ({status}: {check.reason})"
    return text


def summary(graded: list[Result], new: int, still_open: int) -> str:
    """The class in a few lines."""
    scores = [result.score for result in graded]
    most = graded[0].max_score
    refused = [
        result.student
        for result in graded
        if result.checks and all(c.status == "refused" for c in result.checks)
    ]
    lines = [
        f"{len(graded)} submissions, {new} graded now, {len(graded) - new} unchanged; "
        f"checks alone: mean {points(sum(scores) / len(scores))} of {points(most)}, "
        f"from {points(min(scores))} to {points(max(scores))}"
    ]
    if refused:
        lines.append(f"not gradable ({len(refused)}): {', '.join(refused)}")
    if still_open:
        lines.append(
            f"{still_open} written answers wait for a person (until then they count "
            "nothing in the totals of the CSV): run `jupyter lab` here, "
            "then Nbgrader > Formgrader; afterwards: python -m autograder grade "
            f"{graded[0].assignment} --feedback"
        )
    return "\n".join(lines)
