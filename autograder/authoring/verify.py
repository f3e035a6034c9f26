"""Prove that every exercise tells right from wrong.

For each exercise: the reference gets full marks, the blank form and an answer that
does nothing get none, every known wrong answer loses marks and gets its own hint,
every other right answer keeps full marks. No exercise may have fewer than 4 wrong
and 2 right answers. With --seed or --seeds the same is asked of hidden cases whose
inputs are drawn anew, as each grading run draws them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..checking import judge as judging
from ..checking.forbid import forbidden_in
from ..checking.judge import Expected, Verdict
from ..checking.record import Record
from ..checking.salt import SEEDS
from ..paths import chapters, course_root
from . import misconceptions, sidecar
from .misconceptions import Answer
from .reference import Runner, walk
from .source import Assignment, Cell, defines_itself, read

HELP = "prove that wrong answers lose marks and right ones keep them"
EXAMPLE = "python -m autograder verify attention"
LEAST_WRONG, LEAST_RIGHT = 4, 2


@dataclass
class Row:
    """What was found for one exercise."""

    exercise: str
    points: float
    cases: tuple[int, int]
    wrong: int = 0
    killed: int = 0
    named: int = 0
    seen: int = 0
    right: int = 0
    kept: int = 0
    problems: list[str] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("chapter", nargs="*", help="default: every chapter there is")
    parser.add_argument(
        "--seed", nargs="+", type=seed_number, default=[], metavar="N",
        help="with the hidden cases that these seeds draw",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=seed_number, default=0, metavar="COUNT",
        help="the same for the seeds 1 to COUNT",
    )  # fmt: skip


def seed_number(text: str) -> int:
    """A seed as typed on the command line."""
    if not text.isdecimal() or not int(text) < SEEDS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to {SEEDS - 1}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Print the kill matrix, each exercise as it is found; 1 when anything in it
    is not as it must be."""
    root = course_root()
    bad = 0
    for chapter in chapters(args.chapter, root):
        assignment = read(chapter, root)
        if seeds := [*args.seed, *range(1, args.seeds + 1)]:
            bad += draw(assignment, misconceptions.load(chapter, root), seeds)
            continue
        answers = [str(cell.id) for cell in assignment.by_role("answer")]
        width = max(map(len, ["exercise", *answers]))
        print("\n".join(head(chapter, width)), flush=True)
        rows = []
        for row in find(assignment, misconceptions.load(chapter, root)):
            print("\n".join(lines(row, width)), flush=True)
            rows.append(row)
        print("\n".join(end(rows, width)))
        bad += sum(len(r.problems) for r in rows)
    return 1 if bad else 0


def draw(assignment: Assignment, known: list[Answer], seeds: list[int]) -> int:
    """Print one line a seed, and what does not hold; returns how many problems."""
    print(f"verify {assignment.chapter}, hidden cases drawn anew", flush=True)
    bad = 0
    for seed in seeds:
        rows = verify(assignment, known, seed)
        print(f"seed {seed}: {summary(rows)}", flush=True)
        for row in rows:
            for problem in row.problems:
                print(f"  ! {row.exercise}: {problem}", flush=True)
        bad += sum(len(row.problems) for row in rows)
    return bad


def verify(
    assignment: Assignment, known: list[Answer], seed: int | None = None
) -> list[Row]:
    """The kill matrix of an assignment, one row an exercise.

    seed : draw the inputs of hidden cases from it; None for the committed ones
    """
    return list(find(assignment, known, seed))


def find(
    assignment: Assignment, known: list[Answer], seed: int | None = None
) -> Iterator[Row]:
    """The rows of the kill matrix, one after the other."""
    misconceptions.check_answers(assignment, known)
    visible, hidden = sidecar.make(assignment, known, seed)
    both = Expected(assignment.chapter, visible["checks"], visible["hints"])
    shown = {
        c: [{**case, "hidden": False} for case in e["cases"]]
        for c, e in visible["checks"].items()
    }
    for check_id, entry in hidden["checks"].items():
        unseen = [{**case, "hidden": True} for case in entry["cases"]]
        both.checks[check_id] = {**entry, "cases": shown[check_id] + unseen}
    both.hints.update(hidden["hints"])
    seen = Expected(
        assignment.chapter,
        {c: {**both.checks[c], "cases": shown[c]} for c in shown},
        visible["hints"],
    )
    for check, answer, runner in walk(assignment, seed):
        yield _row(assignment, check, answer, runner, known, both, seen)


def _idle(*args: object, **options: object) -> None:
    """An answer that takes anything and does nothing."""


def _row(
    assignment: Assignment,
    check: Cell,
    answer: Cell,
    runner: Runner,
    known: list[Answer],
    both: Expected,
    seen: Expected,
) -> Row:
    entry = both.checks[str(check.id)]
    unseen = sum(c["hidden"] for c in entry["cases"])
    row = Row(str(answer.id), check.points, (len(entry["cases"]) - unseen, unseen))

    def verdict(records: list[Record], expected: Expected = both) -> Verdict:
        return judging.judge(str(check.id), records, expected)

    given = sidecar.given(assignment)
    reference = verdict(runner.reference())
    if reference.score != check.points:
        row.problems.append(f"reference scores {reference.score:g}: {reference.reason}")
    if check.forbid and (
        why := forbidden_in(given, answer.text, row.exercise, check.forbid)
    ):
        row.problems.append(f"reference: {why}")
    blank = verdict(runner.blank())
    if blank.score != 0 or blank.status != "blank":
        row.problems.append(
            f"blank scores {blank.score:g} and counts as {blank.status}"
        )
    if defines_itself(answer):
        idle = verdict(runner.record(lambda names: names.update({row.exercise: _idle})))
        if idle.score != 0:
            row.problems.append(f"an answer that does nothing scores {idle.score:g}")
    for other in (a for a in known if a.answer == answer.id):
        records = runner.other(other)
        refused = sidecar.refused(other, answer, check, assignment)
        if other.right:
            row.right += 1
            result = verdict(records)
            if result.score == check.points and not refused:
                row.kept += 1
            else:
                why = refused or result.reason
                row.problems.append(f"right answer {other.name} loses marks: {why}")
            continue
        row.wrong += 1
        if refused:
            result = at_once = judging.refuse(str(check.id), refused, both)
        else:
            result, at_once = verdict(records), verdict(records, seen)
        if result.score >= check.points:
            row.problems.append(f"wrong answer {other.name} keeps full marks")
            continue
        row.killed += 1
        row.seen += at_once.score < check.points
        if result.hint == other.hint:
            row.named += 1
        else:
            row.problems.append(
                f"wrong answer {other.name} gets the hint of {result.misconception}"
            )
    for count, least, word in (
        (row.wrong, LEAST_WRONG, "wrong"),
        (row.right, LEAST_RIGHT, "right"),
    ):
        if count < least:
            row.problems.append(f"{count} {word} answers, at least {least} are needed")
    return row


def table(chapter: str, rows: list[Row]) -> str:
    """The kill matrix as text."""
    width = max(map(len, ["exercise", *(r.exercise for r in rows)]))
    middle = [line for row in rows for line in lines(row, width)]
    return "\n".join([*head(chapter, width), *middle, *end(rows, width)])


def head(chapter: str, width: int) -> list[str]:
    """The table's title and heading."""
    return [f"verify {chapter}", _heading(width), "-" * len(_heading(width))]


def _heading(width: int) -> str:
    columns = "  points  cases  wrong  killed  hinted  at once  right  kept"
    return f"{'exercise':{width}}{columns}"


def lines(row: Row, width: int) -> list[str]:
    """An exercise's line, and its problems."""
    r = row
    line = (
        f"{r.exercise:{width}}  {r.points:>6g}  {r.cases[0]:>2}+{r.cases[1]:<2}"
        f"  {r.wrong:>5}  {r.killed:>6}  {r.named:>6}  {r.seen:>7}"
        f"  {r.right:>5}  {r.kept:>4}"
    )
    return [line, *(f"{'':{width}}  ! {p}" for p in r.problems)]


def end(rows: list[Row], width: int) -> list[str]:
    """The sums."""
    total = f"{len(rows)} exercises, {sum(r.points for r in rows):g} points: "
    return ["-" * len(_heading(width)), total + summary(rows), ""]


def summary(rows: list[Row]) -> str:
    """How many wrong answers were killed, and how many right ones kept."""
    total = (
        f"{sum(r.killed for r in rows)} of {sum(r.wrong for r in rows)} wrong killed"
    )
    total += f", {sum(r.named for r in rows)} with their own hint"
    total += f" ({sum(r.seen for r in rows)} by the visible cases alone)"
    total += f", {sum(r.kept for r in rows)} of {sum(r.right for r in rows)} right kept"
    problems = sum(len(r.problems) for r in rows)
    return total + ("" if not problems else f"; {problems} PROBLEMS")
