"""The result file of a submission: `class/results/<student>/<assignment>.json`.

Whatever grades a submission ends in one `Result`; gradebook, feedback and CSV are
derived from it. Scores here are the automatic ones: what a person gives for the
written answers lives in nbgrader's gradebook.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ..checking.show import points
from ..errors import CourseError

__all__ = ["points"]

#: what a check's `status` may be
STATUSES = (
    "right",
    "partial",
    "wrong",
    "blank",
    "error",
    "timeout",
    "memory",
    "crash",
    "output",
    "refused",
)


@dataclass
class CaseResult:
    """One case of a check: its label, and whether it passed."""

    label: str
    hidden: bool
    passed: bool
    status: str | None = None
    reason: str | None = None


@dataclass
class CheckResult:
    """One check: points, status, and the words a student needs.

    id, answer    : the check cell and the answer it judges
    status        : one of STATUSES
    reason, hint  : what was seen, and what was probably misunderstood
    misconception : name of the known wrong answer, if it is one
    """

    id: str
    answer: str
    score: float
    max_score: float
    status: str
    reason: str | None = None
    hint: str | None = None
    misconception: str | None = None
    cases: list[CaseResult] = field(default_factory=list)
    seconds: float | None = None


@dataclass
class Result:
    """One graded submission.

    warnings          : what was odd about the submission and cost nothing
    isolation         : how the student's code was shut in ("none": not at all)
    engine            : which program, and version, decided
    notebook_sha256   : of the submitted notebook ("" when there was none)
    assignment_sha256 : of the assignment it was graded against
    seed              : what hidden cases drew their inputs from (null: as built)
    """

    student: str
    assignment: str
    score: float
    max_score: float
    checks: list[CheckResult]
    warnings: list[str]
    isolation: str
    engine: str
    notebook_sha256: str
    assignment_sha256: str = ""
    seed: int | None = None


def not_gradable(result: Result) -> str | None:
    """Why nothing of a submission could be graded; None when something could."""
    refused = [check for check in result.checks if check.status == "refused"]
    whole = refused and len(refused) == len(result.checks)
    return refused[0].reason if whole else None


def result_path(results: Path, student: str, assignment: str) -> Path:
    """Where the result of a submission lies."""
    return results / student / f"{assignment}.json"


def as_text(result: Result) -> str:
    """The file's text. Raises CourseError when the result breaks its own rules."""
    validate(result, f"the result of {result.student}")
    return in_lines(asdict(result))


def in_lines(data: dict[str, Any]) -> str:
    """An object as JSON, each item of its lists on a line of its own.

    Ten times faster than json's own indentation, and easier to compare.
    """
    write = functools.partial(json.dumps, ensure_ascii=False)
    parts = []
    for key, value in data.items():
        if value and isinstance(value, list):
            text = "[\n  " + ",\n  ".join(map(write, value)) + "\n ]"
        else:
            text = write(value)
        parts.append(f" {write(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(result: Result, results: Path) -> Path:
    """Write a result file, all of it or nothing, and return its path."""
    path = result_path(results, result.student, result.assignment)
    write_text(path, as_text(result))
    return path


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step, so that a kill leaves the old or the new one.

    What a kill leaves of a half-written one has always the same name, and is replaced
    when the file is written again.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def read(path: Path) -> Result:
    """Read a result file and hold it against its rules.

    Raises CourseError, naming the file and the field.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        _broken(str(path), f"can't be read ({error})")
    where = str(path)
    fields = _fields(raw, Result, where)
    fields["checks"] = [
        _check(entry, f"{where}, check {number}")
        for number, entry in enumerate(_list(fields, "checks", where), 1)
    ]
    result = Result(**fields)
    validate(result, where)
    return result


def read_all(results: Path, assignment: str) -> list[Result]:
    """Every result of an assignment, by student."""
    return [read(path) for path in sorted(results.glob(f"*/{assignment}.json"))]


def validate(result: Result, where: str) -> None:
    """Hold a result against the rules of the format; CourseError if it breaks one."""
    for name in ("student", "assignment", "isolation", "engine"):
        value = getattr(result, name)
        if not isinstance(value, str) or not value:
            _broken(where, f"{name} must be a text")
    for name in ("notebook_sha256", "assignment_sha256"):
        if not isinstance(getattr(result, name), str):
            _broken(where, f"{name} must be a text")
    if not all(isinstance(warning, str) for warning in result.warnings):
        _broken(where, "warnings must be texts")
    _points(result.score, result.max_score, where)
    seen = set()
    for check in result.checks:
        here = f"{where}, {check.id}"
        if check.id in seen:
            _broken(here, "appears twice")
        seen.add(check.id)
        if check.status not in STATUSES:
            _broken(here, f"status {check.status!r} is none of {', '.join(STATUSES)}")
        _points(check.score, check.max_score, here)
        for case in check.cases:
            if not isinstance(case.hidden, bool) or not isinstance(case.passed, bool):
                _broken(here, "a case's hidden and passed must be true or false")
    for mine, theirs in (
        (result.score, sum(check.score for check in result.checks)),
        (result.max_score, sum(check.max_score for check in result.checks)),
    ):
        if abs(mine - theirs) > 1e-6:
            _broken(where, f"{mine} is not the sum over its checks, {theirs}")


def _points(score: Any, most: Any, where: str) -> None:
    for value in (score, most):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            _broken(where, f"a score must be a number, not {value!r}")
        if not math.isfinite(value):
            _broken(where, f"a score must be finite, not {value!r}")
    if not 0 <= score <= most:
        _broken(where, f"score {score} is not between 0 and {most}")


def _check(raw: Any, where: str) -> CheckResult:
    fields = _fields(raw, CheckResult, where)
    fields["cases"] = [
        CaseResult(**_fields(case, CaseResult, where))
        for case in _list(fields, "cases", where)
    ]
    return CheckResult(**fields)


def _fields(raw: Any, cls: type, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        _broken(where, "must be an object")
    known = cls.__dataclass_fields__  # type: ignore[attr-defined]
    if unknown := set(raw) - set(known):
        _broken(where, f"has unknown fields: {', '.join(sorted(unknown))}")
    try:
        cls(**raw)
    except TypeError as error:
        _broken(where, f"misses a field ({error})")
    return dict(raw)


def _list(fields: dict[str, Any], name: str, where: str) -> list[Any]:
    value = fields.get(name, [])
    if not isinstance(value, list):
        _broken(where, f"{name} must be a list")
    return value


def _broken(where: str, what: str) -> NoReturn:
    raise CourseError(
        f"{where}: {what}", "delete that result file and grade the submission again"
    )
