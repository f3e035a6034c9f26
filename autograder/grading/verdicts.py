"""What an executed check cell counts: its verdict and score, or zero with a reason.

Fail closed: errors, missing, textual or contradictory scores are zero points.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from ..checking.check import MIME

#: errors of a check's own lines: every Exception of Python's, and CourseError
OURS = {
    "CourseError",
    *(
        name
        for name, thing in vars(builtins).items()
        if isinstance(thing, type) and issubclass(thing, Exception)
    ),
}


def is_check(cell: NotebookNode) -> bool:
    """True for a code cell that is graded by running it."""
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def decide(cell: NotebookNode) -> dict[str, Any]:
    """The verdict of an executed check cell, as `check` gave it or as zero.

    Returns the verdict's dictionary; `shown` is True when it is the check's own.
    """
    points = float(cell.metadata.nbgrader["points"])
    name = cell.metadata.nbgrader["grade_id"]
    for output in cell.outputs:
        if output.output_type == "error":
            late = output.ename == "CellTimeoutError"
            reason = f"the check stopped: {output.ename}"
            # errors of the answer are caught where it is called, all but an interrupt:
            # its words are the answer's, and may tell what a hidden case hands over
            if output.ename in OURS:
                reason = f"{reason}: {output.evalue}"[:300]
            if late:
                reason = "it took too long and was stopped"
            return refusal(name, points, "timeout" if late else "error", reason)
    verdicts = [
        output.data[MIME]
        for output in cell.outputs
        if output.output_type == "display_data" and MIME in output.data
    ]
    verdict = verdicts[-1] if verdicts else {}
    score = last_score(cell)
    if score is None:
        return refusal(name, points, "error", "the check gave no score")
    if not isinstance(verdict, dict) or verdict.get("id") != name:
        return refusal(name, points, "error", "the check gave no verdict")
    if verdict.get("score") != score:
        reason = "the check's score and its verdict differ"
        return refusal(name, points, "error", reason)
    if score < 0:
        return refusal(name, points, "error", "the check's score is below zero")
    if score > points:
        verdict = {
            **verdict,
            "reason": f"the check gave {score:g} of {points:g} points",
        }
    return {**verdict, "score": min(score, points), "max_score": points, "shown": True}


def last_score(cell: NotebookNode) -> float | None:
    """The number that the cell ended in; None for text, NaN and nothing."""
    results = [o for o in cell.outputs if o.output_type == "execute_result"]
    try:
        score = float(results[-1].data["text/plain"])
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    return score if math.isfinite(score) else None


def refusal(name: str, points: float, status: str, reason: str) -> dict[str, Any]:
    """A verdict of zero points that says why."""
    return {
        "id": name,
        "answer": name.removesuffix("-check"),
        "score": 0.0,
        "max_score": points,
        "status": status,
        "reason": reason,
        "hint": None,
        "misconception": None,
        "cases": [],
        "shown": False,
    }
