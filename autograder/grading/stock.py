"""Grade one submission through stock nbgrader: the student's code runs unprotected.

This is the engine behind `grade` for now. Another one has to offer the same:
`name`, `isolation`, `caution`, `grade(room, assignment, student) -> Result`, and leave
the autograded notebook and the gradebook's scores behind.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import stat
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat

from .. import __version__
from .classroom import Classroom, Item
from .gradebook import record_zero
from .mend import mended
from .pipeline import Outcome, autograde
from .results import STATUSES, CaseResult, CheckResult, Result
from .verdicts import MIME

#: no notebook is this large by honest work
MAX_BYTES = 10 * 2**20
MAX_CELLS = 500

name = f"autograder {__version__}, stock nbgrader {version('nbgrader')}"
isolation = "none"
caution = "stock engine: no isolation; grade only work you trust"


def grade(room: Classroom, assignment: str, student: str) -> Result:
    """Run and grade a submission. Whatever is wrong with it ends in its result."""
    path = room.notebook(student, assignment)
    items = [item for item in room.items(assignment) if not item.written]
    warnings: list[str] = []
    if reason := unreadable(path):
        checks = _all(items, "refused", reason)
    else:
        text, warnings = mended(path)
        outcome = autograde(room, assignment, student, text)
        warnings += notes(outcome)
        if outcome.good:
            done = room.autograded / student / assignment / path.name
            checks = verdicts(done, items)
        else:
            checks = _all(items, *why(outcome))
    if checks and all(check.status in ("refused", "crash") for check in checks):
        record_zero(room, assignment, student)
    return Result(
        student=student,
        assignment=assignment,
        score=sum(check.score for check in checks),
        max_score=sum(check.max_score for check in checks),
        checks=checks,
        warnings=warnings,
        isolation=isolation,
        engine=name,
        notebook_sha256=fingerprint(path),
        assignment_sha256=room.digest(assignment),
    )


def fingerprint(path: Path) -> str:
    """sha256 of a submitted notebook; empty when it is no file of sensible size."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def unreadable(path: Path) -> str | None:
    """Why nbgrader could not read a submission, in words for the student, or None."""
    if any(sign in str(path) for sign in "*?["):
        return f"nbgrader can't read a folder with *, ? or [ in its name: {path.parent}"
    if not path.parent.is_dir() or not (path.is_symlink() or path.exists()):
        others = sorted(p.name for p in path.parent.glob("*.ipynb"))
        there = f"; there is {', '.join(others)}" if others else ""
        return f"{path.name} is missing{there}"
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return f"{path.name} is a link or a folder, not a file"
    if status.st_size > MAX_BYTES:
        return f"{path.name} is larger than {MAX_BYTES // 2**20} MB"
    try:
        raw = json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        return f"{path.name} is not UTF-8 text"
    except (ValueError, RecursionError):
        return f"{path.name} is not a notebook (it is no JSON)"
    cells = raw.get("cells") if isinstance(raw, dict) else None
    if not isinstance(cells, list) or not isinstance(raw.get("nbformat"), int):
        return f"{path.name} is not a notebook of format 4"
    if len(cells) > MAX_CELLS:
        return f"{path.name} has more than {MAX_CELLS} cells"
    return None


def why(outcome: Outcome) -> tuple[str, str]:
    """Status and reason when nbgrader gave up on a submission."""
    if "DeadKernelError" in outcome.error or "unresponsive" in outcome.log:
        return "crash", "the notebook's process died while it ran"
    words = re.sub(r"^[\w.]+\.(\w+: )", r"\1", outcome.error)[:300]
    words = " ".join(words.split())
    return "refused", f"nbgrader could not grade this notebook: {words}"


def notes(outcome: Outcome) -> list[str]:
    """The warnings of a run that say something about the submission."""
    found = []
    for message in outcome.messages:
        if message.startswith("note: "):
            found.append(message.removeprefix("note: ") + " and was put back")
        elif match := re.match(r"Cell with id '(.*)' exists multiple times", message):
            found.append(f"cell '{match[1]}' was there more than once: the last counts")
    return found


def verdicts(autograded: Path, items: list[Item]) -> list[CheckResult]:
    """The verdicts that the check cells of an autograded notebook hold."""
    found: dict[str, Any] = {}
    for cell in nbformat.read(autograded, as_version=4).cells:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                found[cell.metadata.get("nbgrader", {}).get("grade_id")] = output.data[
                    MIME
                ]
    return [_check(item, found.get(item.id)) for item in items]


def _check(item: Item, verdict: Any) -> CheckResult:
    """A verdict, held against its format: the student's process wrote it."""
    try:
        if verdict["status"] not in STATUSES:
            raise ValueError(verdict["status"])
        return CheckResult(
            id=item.id,
            answer=item.answer,
            score=min(max(float(verdict["score"]), 0.0), item.points),
            max_score=item.points,
            status=verdict["status"],
            reason=_words(verdict["reason"]),
            hint=_words(verdict["hint"]),
            misconception=_words(verdict["misconception"]),
            cases=[
                CaseResult(
                    str(case["label"]),
                    case["hidden"] is True,
                    case["passed"] is True,
                    _words(case["status"]),
                    _words(case["reason"]),
                )
                for case in verdict["cases"]
            ],
            seconds=_seconds(verdict.get("seconds")),
        )
    except (KeyError, TypeError, ValueError):
        return _all([item], "error", "the check left no verdict that can be read")[0]


def _seconds(value: Any) -> float | None:
    return value if isinstance(value, float) and math.isfinite(value) else None


def _words(value: Any) -> str | None:
    return None if value is None else str(value)[:2000]


def _all(items: list[Item], status: str, reason: str) -> list[CheckResult]:
    return [
        CheckResult(item.id, item.answer, 0.0, item.points, status, reason)
        for item in items
    ]
