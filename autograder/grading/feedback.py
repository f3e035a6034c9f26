"""The page a student gets back: from the graded notebook, or from the result alone."""

from __future__ import annotations

import copy
from html import escape
from typing import Any

from nbformat import from_dict
from nbgrader.utils import is_grade

from .gradebook import Known
from .notebook_page import page, seen
from .page import Row, document, summary, told, totals
from .preprocessors import HideHidden
from .results import CheckResult, Result, not_gradable, points

#: what somebody can do whose work could not be read
HAND_IN_AGAIN = (
    "What helps: open the notebook in Jupyter, see that your answers are in it, save "
    "it under the name that it was given out with, and hand in that one file again.",
    "Is it too late for that? Your work is not lost: ask your instructor.",
)


def direct_page(notebook: dict[str, Any], result: Result, known: Known) -> str:
    """The page of a graded notebook as `nbgrader generate_feedback` would write it,
    without going through nbgrader.

    known : what the gradebook has: marks, comments, penalty
    """
    nb = from_dict({**notebook, "cells": [lean(c) for c in notebook["cells"]]})
    told_of = {}
    for cell in nb.cells:
        info = cell.metadata.get("nbgrader", {})
        name = info.get("grade_id")
        if name in known.comments:
            info["comment"] = known.comments[name]
        if is_grade(cell):
            told_of[name] = seen(cell, known.marks)
            if name in known.marks:
                info["score"] = known.marks[name].score
    hide = HideHidden()
    for number, cell in enumerate(nb.cells):
        hide.preprocess_cell(cell, {}, number)
    return page(
        nb,
        {
            "student": result.student,
            "assignment": result.assignment,
            "seen": told_of,
            "late_penalty": known.penalty,
        },
    )


def lean(cell: dict[str, Any]) -> dict[str, Any]:
    """A copy of a cell that may be changed."""
    copied = {**cell, "metadata": copy.deepcopy(cell["metadata"])}
    if "outputs" in cell:
        copied["outputs"] = [
            {**output, "data": dict(output["data"])} if "data" in output else output
            for output in cell["outputs"]
        ]
    return copied


def plain_page(result: Result) -> str:
    """A page from the result alone: verdicts, reasons, hints, points."""
    reasons = {check.reason for check in result.checks}
    same = reasons.pop() if len(reasons) == 1 and len(result.checks) > 1 else None
    rows = [_row(check, same) for check in result.checks]
    about, table = [same] if same else [], summary(rows)
    if why := not_gradable(result):
        about, table = [f"Nothing could be graded: {why}.", *HAND_IN_AGAIN], ""
    body = [
        f'<header><p class="faint">{escape(result.student)}</p>',
        f"<h1>{escape(result.assignment)}</h1>",
        *(f'<p class="points">{line}</p>' for line in totals(rows)),
        "</header>\n<main>",
        *(f"<p>{escape(text)}</p>" for text in about + result.warnings),
        table,
        "</main>",
    ]
    name = f"{result.assignment}: {points(result.score)} of {points(result.max_score)}"
    return document(name, "\n".join(body))


def _row(check: CheckResult, same: str | None) -> Row:
    words = told(check)
    return Row(
        escape(check.answer),
        "",
        check.status,
        check.score,
        check.max_score,
        told=None if words == same else words,
        hint=check.hint,
    )
