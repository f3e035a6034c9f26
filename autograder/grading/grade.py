"""Grade a class: result files, gradebook, feedback pages and one table.

Reads class/submitted/<student>/<assignment>/<assignment>.ipynb, and writes
class/results/ (one file a submission), class/feedback/ (a page a student),
class/grades.csv, and nbgrader's gradebook, so that the formgrader shows the same.
A submission that can't be graded gets a row with the reason and never stops the
class. What has not changed since the last run is left alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.graded import NAME, take
from ..engine.jail import LEVELS
from ..errors import CourseError
from ..paths import chapters, course_root
from .lock import alone
from .progress import Progress
from .results import not_gradable, points

if TYPE_CHECKING:
    from ..engine.graded import Graded, Handed
    from .classroom import Classroom
    from .results import Result

HELP = "grade the class: results, gradebook, feedback pages, CSV"
EXAMPLE = "python -m autograder grade attention"

#: how many graded submissions are brought into the gradebook at a time
BATCH = 20


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
        "--notebook",
        type=Path,
        metavar="FILE",
        help="grade this one notebook by the visible cases, and write nothing: "
        "what students can run themselves",
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="submissions at a time (default: cores)"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="grade on a Dask cluster instead"
    )
    parser.add_argument(
        "--isolation",
        choices=LEVELS,
        help="how submissions are shut in (default: the strongest that works here)",
    )
    parser.add_argument(
        "--regrade",
        action="store_true",
        help="grade unchanged submissions again, with new inputs for hidden cases",
    )
    parser.add_argument(
        "--seed", type=int, metavar="S", help="draw the hidden cases' inputs from this"
    )
    parser.add_argument(
        "--experiments",
        action="store_true",
        help="run the cells again that only show something (plots), instead of "
        "keeping what they showed when the notebook was saved",
    )
    parser.add_argument(
        "--times", type=Path, metavar="FILE", help="write where the time went, as JSON"
    )
    parser.add_argument("--gpu", action="store_true", help="let submissions use a GPU")
    parser.add_argument(
        "--feedback",
        action="store_true",
        help="write every feedback page again (after grading by hand)",
    )


def run(args: argparse.Namespace) -> int:
    """Grade the class of one chapter, or one notebook."""
    from .isolation import choose

    if args.jobs is not None and not 1 <= args.jobs <= 1000:
        raise CourseError(f"--jobs {args.jobs}?", "it takes 1 to 1000", usage=True)
    if args.notebook:
        from .one import show

        level = choose(args.isolation, own_work=True)
        return show(args.chapter, args.notebook, level, args.gpu)
    chapters([args.chapter])
    level = choose(args.isolation, own_work=False)
    with alone(course_root() / "class" / ".grading", "grade"):
        return grade_class(args, level)


def grade_class(args: argparse.Namespace, level: str) -> int:
    """Grade every submission that is new or has changed, and write what follows."""
    from ..engine import master as masters
    from ..engine import pool
    from . import bring_in, gradebook, results
    from .classroom import Classroom, collect, overlooked
    from .pipeline import enter_assignment
    from .seeds import seed_for

    chapter = args.chapter
    room = Classroom.here()
    folder = args.submitted
    students = collect(room, folder, chapter) if folder else room.students(chapter)
    if room.submitted.is_dir():
        for said in overlooked(room.submitted, chapter):
            print(said)
    if not students:
        raise CourseError(
            f"nobody has handed in {chapter!r}: {room.submitted} has no folder "
            f"<student>/{chapter}",
            f"put notebooks there, or: python -m autograder simulate {chapter} "
            "--students 12",
            usage=True,
        )
    print(f"{chapter}: {len(students)} submissions; {worth(room, chapter)}")
    print(isolated(level), flush=True)
    seed = seed_for(room, chapter, args.seed, fresh=args.regrade)
    released = masters.load(chapter, room.root, hidden=False)
    gradebook.make(room)
    entered = gradebook.entered(room, chapter)
    digest = room.digest(chapter)
    todo = []
    for student in students:
        each = take(student, room.notebook(student, chapter), released.limits)
        scores = entered.get(student, {})
        if args.regrade or not unchanged(
            room, chapter, (digest, seed), each, scores, level
        ):
            todo.append(each)
    workers = 0 if args.scheduler else min(args.jobs or cores(), len(todo))
    # recording hidden cases and getting warm take some seconds: side by side
    with (
        ThreadPoolExecutor(1) as aside,
        pool.Crew(level, args.gpu, released.imports, workers) as crew,
    ):
        loading = aside.submit(
            masters.load, chapter, room.root, seed=seed, digest=digest
        )
        enter_assignment(room, chapter)
        job = pool.Job(loading.result(), level, args.gpu, args.experiments)
        if args.scheduler:
            stream = pool.on_cluster(job, todo, args.scheduler)
        else:
            stream = crew.grade(job, todo)
        spent = bring_in_all(room, chapter, stream, len(todo))
    if args.times:
        results.write_text(args.times, json.dumps(spent, indent=1) + "\n")
    if args.feedback:
        new = {each.student for each in todo}
        bring_in.pages_again(room, chapter, [s for s in students if s not in new])
    paths = [results.result_path(room.results, s, chapter) for s in students]
    everyone = [results.read(path) for path in paths]
    table = gradebook.table(room)
    results.write_text(room.grades, table.text)
    print(summary(everyone, len(todo), table.open))
    for what, place in (
        ("results", room.results),
        ("feedback pages", room.feedback),
        ("gradebook", room.root / "class" / "gradebook.db"),
        ("grades (CSV)", room.grades),
    ):
        print(f"{what + ':':<16}{place}")
    return 0


def bring_in_all(
    room: Classroom, chapter: str, stream: Iterable[Graded], count: int
) -> dict[str, float]:
    """Bring in what comes, and show how far it is; returns seconds by stage."""
    from . import bring_in

    progress = Progress(count, sys.stdout)
    spent = {"cells": 0.0, "gradebook and pages": 0.0}
    for batch in batches(stream, BATCH):
        began = time.monotonic()
        bring_in.bring_in(room, chapter, batch)
        spent["gradebook and pages"] += time.monotonic() - began
        spent["cells"] += sum(graded.cpu for graded in batch)
        for graded in batch:
            progress.step(graded.result.student, outcome(graded.result))
    progress.close()
    return spent


def isolated(level: str) -> str:
    """How submissions are shut in, in one line."""
    words = {
        "namespaces": "each submission in namespaces of its own",
        "landlock": "each submission behind Landlock and seccomp",
        "container": "submissions in a container",
        "none": "no isolation: this is for work you trust",
    }
    return f"isolation: {level} ({words[level]})"


def cores() -> int:
    """The cores that we may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def batches(stream: Iterable[Graded], most: int) -> Iterator[list[Graded]]:
    """What comes, some at a time: when there are enough, or a second has gone by."""
    batch: list[Graded] = []
    began = time.monotonic()
    try:
        for graded in stream:
            batch.append(graded)
            if len(batch) >= most or time.monotonic() - began > 1:
                yield batch
                batch, began = [], time.monotonic()
    except CourseError:
        yield batch
        raise
    if batch:
        yield batch


def unchanged(
    room: Classroom,
    chapter: str,
    now: tuple[str, int],
    handed: Handed,
    entered: dict[str, float],
    level: str,
) -> bool:
    """True when this very notebook has been graded against this very assignment,
    by this engine, and everything derived from it is there.

    now : the assignment's digest, and the seed of its hidden cases
    """
    from . import results

    path = results.result_path(room.results, handed.student, chapter)
    page = room.page(handed.student, chapter)
    if not path.is_file() or not page.is_file():
        return False
    try:
        old = results.read(path)
    except CourseError:
        return False
    if handed.refused and results.not_gradable(old) != handed.refused:
        return False
    if old.isolation not in LEVELS[: LEVELS.index(level) + 1]:
        return False  # graded behind a weaker wall
    known = (old.notebook_sha256, old.engine, old.assignment_sha256, old.seed)
    return known == (handed.sha256, NAME, *now) and all(
        abs(entered.get(check.id, -1) - check.score) < 1e-6 for check in old.checks
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
    refused = [result.student for result in graded if not_gradable(result)]
    lines = [
        f"{len(graded)} submissions, {new} graded now, {len(graded) - new} unchanged; "
        f"checks alone: mean {points(sum(scores) / len(scores))} of {points(most)}, "
        f"from {points(min(scores))} to {points(max(scores))}"
    ]
    if refused:
        names = ", ".join(refused)
        lines.append(f"not gradable ({len(refused)}): {names}; 0 points in the mean")
    if still_open:
        lines.append(
            f"{still_open} written answers wait for a person (until then they count "
            "nothing in the totals of the CSV): run `jupyter lab` here, "
            "then Nbgrader > Formgrader; afterwards: python -m autograder grade "
            f"{graded[0].assignment} --feedback"
        )
    return "\n".join(lines)
