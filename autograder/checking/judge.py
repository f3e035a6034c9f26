"""Decide what recorded values are worth, and name the misunderstanding.

Takes records (what the student's code gave) and the expected values (what the
reference gave), and returns a verdict. Runs wherever the expected values may
be: in the student's notebook for the visible cases, in the grader for all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CourseError
from .compare import Difference, as_array, compare
from .record import Record
from .values import Raised, decode

STATUSES = ("right", "partial", "wrong", "blank", "error")


@dataclass
class Case:
    """The verdict on one case; `got`, `expected` and `mask` serve the display."""

    label: str
    hidden: bool
    passed: bool
    status: str
    reason: str | None = None
    misconceptions: list[str] = field(default_factory=list)
    weight: float = 1.0
    got: Any = None
    expected: Any = None
    mask: np.ndarray | None = None


@dataclass
class Verdict:
    """The verdict on one check, as the result file has it, plus its cases."""

    id: str
    answer: str
    score: float
    max_score: float
    status: str
    reason: str | None
    hint: str | None
    misconception: str | None
    cases: list[Case]
    more_hidden: int = 0
    seconds: float = 0.0

    def as_dict(self, *, seconds: bool = False) -> dict[str, Any]:
        """Plain JSON: what goes into result files and notebook outputs."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        data["cases"] = [
            {
                k: getattr(c, k)
                for k in ("label", "hidden", "passed", "status", "reason")
            }
            for c in self.cases
        ]
        del data["more_hidden"]
        if not seconds:
            del data["seconds"]
        return data


@dataclass
class Expected:
    """The expected values of one assignment: visible ones, hidden ones, hints."""

    assignment: str
    checks: dict[str, dict[str, Any]]
    hints: dict[str, str]

    @classmethod
    def read(cls, visible: Path, hidden: Path | None = None) -> Expected:
        """Read the sidecar files that the build wrote.

        Raises CourseError when a file is missing or not one of ours.
        """
        mine = _read(visible)
        for check in mine["checks"].values():
            for case in check["cases"]:
                case["hidden"] = False
        if hidden is not None:
            theirs = _read(hidden)
            if theirs["release"] != mine["release"]:
                raise CourseError(
                    f"{visible} and {hidden} belong to different releases",
                    "release the assignment again: python -m autograder build",
                )
            mine["hints"].update(theirs["hints"])
            for check_id, check in theirs["checks"].items():
                known = mine["checks"][check_id]
                known["hidden"] = 0
                known["cases"] += [{**c, "hidden": True} for c in check["cases"]]
        return cls(mine["assignment"], mine["checks"], mine["hints"])


def _read(path: Path) -> dict[str, Any]:
    mend = "download the file again, or run: python -m autograder build"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CourseError(f"{path} cannot be read: {error}", mend) from None
    wanted = {"assignment", "release", "checks", "hints"}
    if not isinstance(data, dict) or not wanted <= set(data):
        raise CourseError(f"{path} does not hold expected values of this course", mend)
    return data


def judge(check_id: str, records: list[Record], expected: Expected) -> Verdict:
    """The verdict on one check.

    Every expected case counts; one that was not recorded has not passed. The
    score is the share of the weight that passed, times the points.
    """
    entry = expected.checks[check_id]
    by_label = {r.label: r for r in records}
    cases = [_judge_case(by_label.get(c["label"]), c) for c in entry["cases"]]
    total = sum(c.weight for c in cases)
    passed = sum(c.weight for c in cases if c.passed)
    score = round(entry["points"] * passed / total, 4) if total else 0.0
    misconception = _diagnose(cases, entry["cases"])
    failed = [c for c in cases if not c.passed]
    return Verdict(
        id=check_id,
        answer=entry["answer"],
        score=score,
        max_score=entry["points"],
        status=_status(cases),
        reason=failed[0].reason if failed else None,
        hint=expected.hints.get(misconception) if misconception else None,
        misconception=misconception,
        cases=cases,
        more_hidden=int(entry.get("hidden", 0)),
        seconds=round(sum(r.seconds for r in records), 4),
    )


def refuse(check_id: str, reason: str, expected: Expected) -> Verdict:
    """No points for any case, for one reason (a call that is not allowed here)."""
    entry = expected.checks[check_id]
    cases = [
        Case(c["label"], c["hidden"], False, "wrong", reason, weight=c["weight"])
        for c in entry["cases"]
    ]
    return Verdict(
        check_id, entry["answer"], 0.0, entry["points"], "wrong", reason,
        expected.hints.get(f"{check_id}:forbidden"), None, cases,
    )  # fmt: skip


def _judge_case(record: Record | None, case: dict[str, Any]) -> Case:
    verdict = Case(
        case["label"], case["hidden"], False, "wrong", weight=float(case["weight"])
    )
    wanted = decode(case["expected"])
    verdict.expected = wanted
    if record is None:
        verdict.status, verdict.reason = "error", "this case did not run"
        return verdict
    if record.status == "blank":
        verdict.status = "blank"
        verdict.reason = "not done yet"
        return verdict
    got: Any = record.value
    if record.status == "raised":
        verdict.status, verdict.reason = "error", record.reason
        got = Raised(record.error or "Exception")
    verdict.got = got
    try:
        difference = compare(got, wanted, case["tol"], case["dtype"])
    except (
        Exception
    ) as error:  # an object of their own that even refuses to be looked at
        kind = type(error).__name__
        difference = Difference(f"your answer can't be compared ({kind})")
        verdict.got = None
    if difference is None and record.mutated:
        difference = Difference(
            "the values are right, but your code changed its own input: "
            "work on a copy, the caller still needs it"
        )
        verdict.misconceptions = [
            name
            for name, wrong in case["wrong"].items()
            if wrong.get("kind") == "mutates"
        ]
    elif difference is not None:
        verdict.misconceptions = [
            name
            for name, wrong in case["wrong"].items()
            if verdict.got is not None and _is(got, wrong, case["tol"], case["dtype"])
        ]
    if difference is None:
        verdict.passed, verdict.status = True, "right"
        return verdict
    verdict.mask = difference.mask
    verdict.reason = verdict.reason or difference.reason
    return verdict


def _is(got: Any, wrong: dict[str, Any], tol: float | None, dtype: str | None) -> bool:
    if isinstance(wrong, dict) and wrong.get("kind") == "mutates":
        return False
    value = decode(wrong)
    theirs_dtype = str(value.dtype) if dtype and hasattr(value, "dtype") else None
    if compare(got, value, tol, theirs_dtype) is not None:
        return False
    mine, theirs = as_array(got), as_array(value)
    return (mine is None) == (theirs is None)


def _diagnose(cases: list[Case], entries: list[dict[str, Any]]) -> str | None:
    """The known wrong answer that explains what was seen, best first.

    A wrong answer explains a failed case when its recorded value is the
    student's: it has to explain every one. It contradicts a passed case when it
    would have failed it. That both raised the same kind of error is no evidence
    by itself: at least one value must agree.
    """
    best: tuple[float, int] | None = None
    name = None
    order: list[str] = []
    for entry in entries:
        order += [n for n in entry["wrong"] if n not in order]
    for position, candidate in enumerate(order):
        failed = [c for c in cases if not c.passed and c.status != "blank"]
        if not all(candidate in c.misconceptions for c in failed):
            continue
        contradicted = sum(
            candidate in e["wrong"]
            for c, e in zip(cases, entries, strict=True)
            if c.passed
        )
        rank = (len(failed) - 0.5 * contradicted, -position)
        agrees = any(not isinstance(c.got, Raised) for c in failed)
        if agrees and (best is None or rank > best):
            best, name = rank, candidate
    return name


def _status(cases: list[Case]) -> str:
    if all(c.passed for c in cases):
        return "right"
    if all(c.status == "blank" for c in cases):
        return "blank"
    if any(c.passed for c in cases):
        return "partial"
    return "error" if any(c.status == "error" for c in cases) else "wrong"
