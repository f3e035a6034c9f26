"""The page a student gets back: nbgrader's own, or a plain one where it has none."""

from __future__ import annotations

from html import escape

from .classroom import Classroom
from .pipeline import feedback_page
from .results import Result, write_text

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{assignment}: {score} of {most} points</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46em; margin: 2em auto;
  padding: 0 1em; color-scheme: light dark; }}
td, th {{ text-align: left; padding: .2em 1em .2em 0; vertical-align: top; }}
</style>
</head>
<body>
<h1>{assignment}: {score} of {most} points</h1>
{about}
<table>
<thead><tr><th>exercise</th><th>points</th><th>what was seen</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""


def write_page(room: Classroom, result: Result) -> None:
    """Write the feedback page of a result.

    nbgrader makes it from the autograded notebook (see HideHidden). Where there is
    no such notebook, the page is a table of verdicts and reasons.
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
    rows = []
    reasons = {check.reason for check in result.checks}
    same = reasons.pop() if len(reasons) == 1 and len(result.checks) > 1 else None
    for check in result.checks:
        seen = [check.status]
        if check.reason and check.reason != same:
            seen.append(check.reason)
        if check.hint:
            seen.append(f"Hint: {check.hint}")
        rows.append(
            f"<tr><td>{escape(check.answer)}</td>"
            f"<td>{check.score:g} of {check.max_score:g}</td>"
            f"<td>{escape(': '.join(seen))}</td></tr>"
        )
    about = [same] if same else []
    return PAGE.format(
        assignment=escape(result.assignment),
        score=f"{result.score:g}",
        most=f"{result.max_score:g}",
        about="\n".join(f"<p>{escape(text)}</p>" for text in about + result.warnings),
        rows="\n".join(rows),
    )
