"""The graded notebook: the master's cells, the student's texts, what both showed.

It is what a person sees in the formgrader, and what the feedback page is made from. It
has the form that nbgrader's own autograde leaves behind.
"""

from __future__ import annotations

import copy
from typing import Any

from ..checking.check import MIME
from ..checking.judge import Verdict
from ..checking.show import as_html, as_text
from .limits import Limits
from .plan import Entry, Plan
from .run import Run
from .shown import outputs

_STOPPED = {
    "timeout": "took too long and was stopped",
    "late": "did not run: the time for the whole notebook was used up",
    "memory": "used too much memory and was stopped",
    "output": "printed too much and was stopped",
    "garbled": "wrote to an open file that was not its own and was stopped",
    "died": "ended the process that it ran in",
}


def make(
    plan: Plan, run: Run | None, verdicts: dict[str, Verdict], limits: Limits
) -> dict[str, Any]:
    """The graded notebook as JSON of format 4.5."""
    cells = [
        _cell(number, entry, run, verdicts, limits)
        for number, entry in enumerate(plan.entries)
    ]
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(
    number: int,
    entry: Entry,
    run: Run | None,
    verdicts: dict[str, Verdict],
    limits: Limits,
) -> dict[str, Any]:
    name = entry.cell.id if entry.cell else f"added-{number}"
    metadata = copy.deepcopy(entry.cell.metadata) if entry.cell else {}
    metadata.pop("limits", None)
    cell: dict[str, Any] = {
        "cell_type": entry.kind,
        "id": name or f"cell-{number}",
        "metadata": metadata,
        "source": entry.text,
    }
    if entry.kind != "code":
        return cell
    shown: list[dict[str, Any]] = outputs(entry.seen, limits)
    if run is not None and entry.role == "check" and entry.cell is not None:
        verdict = verdicts[entry.cell.name]
        shown = [*run.checks[entry.cell.name].outputs, *judged(verdict)]
    elif run is not None and number in run.cells:
        ran = run.cells[number]
        shown = list(ran.outputs)
        if ran.why in _STOPPED:
            text = f"[this cell {_STOPPED[ran.why]}]\n"
            shown.append({"output_type": "stream", "name": "stderr", "text": text})
    cell["execution_count"] = None
    cell["outputs"] = shown
    return cell


def judged(verdict: Verdict) -> list[dict[str, Any]]:
    """A verdict as the outputs of its check: for people, for programs, the score."""
    data = {
        "text/plain": as_text(verdict),
        "text/html": as_html(verdict),
        MIME: verdict.as_dict(seconds=True),
    }
    return [
        {"output_type": "display_data", "data": data, "metadata": {}},
        {
            "output_type": "execute_result",
            "data": {"text/plain": str(float(verdict.score))},
            "metadata": {},
            "execution_count": None,
        },
    ]
