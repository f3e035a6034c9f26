"""Grade one notebook by its visible cases, for whoever wrote it. Writes nothing."""

from __future__ import annotations

from pathlib import Path

from ..engine import master as masters
from ..engine.graded import grade, take
from ..engine.warm import Warm
from ..errors import CourseError
from ..paths import exercises_root
from .page import SAID, told
from .results import CheckResult, Result, points


def show(assignment: str, path: Path, level: str, gpu: bool = False) -> int:
    """Grade a notebook and print the verdicts.

    Raises CourseError when there is no such assignment or no such notebook.
    """
    if not path.is_file():
        raise CourseError(f"there is no file {path}", usage=True)
    master = masters.load(assignment, exercises_root(assignment), hidden=False)
    warm = Warm(level, 0, master.imports, gpu)
    try:
        graded = grade(master, take("you", path.resolve(), master.limits), warm)
    finally:
        warm.stop()
    checks = graded.result.checks
    if checks and all(check.status == "refused" for check in checks):
        raise CourseError(
            str(checks[0].reason), "name the .ipynb file of this chapter", usage=True
        )
    print("\n".join(lines(graded.result, level)))
    return 0


def lines(result: Result, level: str) -> list[str]:
    """The verdicts as text."""
    wide = max(len(check.answer) for check in result.checks)
    found = [line for check in result.checks for line in _lines(check, wide)]
    found += [f"note: {warning}" for warning in result.warnings]
    score = f"{points(result.score)} of {points(result.max_score)}"
    found.append(f"{score} points by the visible cases (isolation: {level})")
    return found


def _lines(check: CheckResult, wide: int) -> list[str]:
    _, symbol, word = SAID[check.status]
    got = f"{points(check.score)}/{points(check.max_score)}"
    found = [f"{symbol} {check.answer:{wide}}  {got:>7}  {word}"]
    if check.status != "right" and (words := told(check)):
        found.append(f"  {'':{wide}}           {words}")
    if check.hint:
        found.append(f"  {'':{wide}}           Hint: {check.hint}")
    return found
