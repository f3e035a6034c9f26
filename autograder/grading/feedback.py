"""The page a student gets back: from the graded notebook, or from the result alone."""

from __future__ import annotations

from html import escape

from .classroom import Classroom
from .page import Row, document, summary, told, totals
from .pipeline import feedback_page
from .results import CheckResult, Result, points, write_text


def write_page(room: Classroom, result: Result) -> None:
    """Write the feedback page of a result.

    nbgrader makes it from the autograded notebook (see notebook_page). Where there
    is no such notebook, the page is the summary alone.
    """
    name = f"{result.assignment}.ipynb"
    notebook = room.autograded / result.student / result.assignment / name
    if notebook.is_file():
        outcome = feedback_page(room, result.assignment, result.student)
        if outcome.good:
            return
    write_text(room.page(result.student, result.assignment), plain_page(result))


def plain_page(result: Result) -> str:
    """A page from the result alone: verdicts, reasons, hints, points."""
    reasons = {check.reason for check in result.checks}
    same = reasons.pop() if len(reasons) == 1 and len(result.checks) > 1 else None
    rows = [_row(check, same) for check in result.checks]
    about = [same] if same else []
    body = [
        f'<header><p class="faint">{escape(result.student)}</p>',
        f"<h1>{escape(result.assignment)}</h1>",
        *(f'<p class="points">{line}</p>' for line in totals(rows)),
        "</header>\n<main>",
        *(f"<p>{escape(text)}</p>" for text in about + result.warnings),
        summary(rows),
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
