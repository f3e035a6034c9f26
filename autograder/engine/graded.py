"""Grade one submission: from the bytes of a file to its result and its notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..checking.judge import Verdict
from ..errors import CourseError
from ..grading.results import CaseResult, CheckResult, Result
from . import judge, notebook, plan, run, submission
from .limits import Limits
from .master import Master
from .shown import printable
from .submission import RefusedError
from .warm import NotBegunError, Warm, WarmDiedError

NAME = f"autograder {__version__}"


@dataclass(frozen=True)
class Handed:
    """What a student handed in, as it travels to where it is graded.

    data    : the bytes of the notebook
    refused : why there are none, "" when there are
    """

    student: str
    name: str
    data: bytes = b""
    sha256: str = ""
    refused: str = ""
    warnings: tuple[str, ...] = ()


@dataclass
class Graded:
    """A graded submission.

    result   : what goes into the result file
    notebook : for the formgrader and the feedback page; None when it was refused
    cpu      : CPU seconds of the student's cells and of the checks
    """

    result: Result
    notebook: dict[str, Any] | None = None
    cpu: float = 0.0
    times: dict[str, float] = field(default_factory=dict)


def take(student: str, path: Path, limits: Limits) -> Handed:
    """Read what a student handed in; whatever is wrong with it is in `refused`."""
    try:
        found, warnings = submission.find(path)
        data = submission.content(found, limits)
    except RefusedError as error:
        return Handed(student, printable(path.name), refused=printable(str(error)))
    sha256 = submission.digest(data)
    return Handed(student, printable(found.name), data, sha256, "", tuple(warnings))


def grade(
    master: Master, handed: Handed, warm: Warm, experiments: bool = False
) -> Graded:
    """Grade a submission. Whatever is wrong with it ends in its result.

    Raises CourseError when the warm process can't be started at all.
    """
    warnings = list(handed.warnings)
    try:
        if handed.refused:
            raise RefusedError(handed.refused)
        submitted = submission.parse(handed.data, handed.name, master.limits)
        made = plan.make(master, submitted, experiments)
    except (RefusedError, RecursionError) as error:
        reason = str(error) or "the notebook's code is nested too deep"
        verdicts = judge.nothing(master.expected, "refused", reason)
        return Graded(_result(master, handed, verdicts, warnings, warm.level))
    ran = None
    for last in (False, True):  # the warm process may have ended by an accident
        try:
            ran = run.run(master, made, warm)
            break
        except WarmDiedError as error:
            if last and isinstance(error, NotBegunError):
                raise CourseError(
                    f"no submission can be run here: {error}",
                    "see `python -m autograder doctor`, and the limits",
                ) from None
    if ran is None:
        reason = "this notebook ended the process that runs all notebooks"
        verdicts = judge.nothing(master.expected, "crash", reason)
    else:
        verdicts = judge.judge(master, made, ran)
        made.warnings += _warnings(made, ran)
    result = _result(master, handed, verdicts, warnings + made.warnings, warm.level)
    graded = notebook.make(made, ran, verdicts, master.limits)
    return Graded(result, graded, ran.cpu if ran else 0.0)


def _warnings(made: plan.Plan, ran: run.Run) -> list[str]:
    """The errors of cells that no check judges: they cost nothing by themselves."""
    found = []
    for number, cell in ran.cells.items():
        entry = made.entries[number]
        if entry.role == "answer" or (not cell.error and cell.why == "done"):
            continue
        what = f"given cell '{entry.cell.name}'" if entry.cell else "an added cell"
        said = f"raised {cell.error}: {cell.text}" if cell.error else "was stopped"
        first = entry.text.strip().split("\n")[0][:60]
        found.append(f"{what} {said} ({first!r})")
    return found


def _result(
    master: Master,
    handed: Handed,
    verdicts: dict[str, Verdict],
    warnings: list[str],
    isolation: str,
) -> Result:
    checks = [_check(verdict) for verdict in verdicts.values()]
    return Result(
        student=handed.student,
        assignment=master.assignment,
        score=sum(check.score for check in checks),
        max_score=sum(check.max_score for check in checks),
        checks=checks,
        warnings=[printable(text)[:500] for text in warnings[:100]],
        isolation=isolation,
        engine=NAME,
        notebook_sha256=handed.sha256,
        assignment_sha256=master.digest,
        seed=master.seed,
    )


def _check(verdict: Verdict) -> CheckResult:
    data = verdict.as_dict(seconds=True)
    cases = [CaseResult(**case) for case in data.pop("cases")]
    return CheckResult(cases=cases, **data)
