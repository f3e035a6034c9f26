"""The frame of a feedback page: one file, its summary on top, nothing fetched."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ..errors import CourseError
from ..paths import course_root
from .results import CaseResult, CheckResult, points

#: no script runs and nothing is loaded, whatever a student's notebook brings along
POLICY = (
    "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; "
    "form-action 'none'; base-uri 'none'"
)

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""

#: a verdict's status: its class, its symbol, its word
SAID = {
    "right": ("right", "✓", "right"),
    "partial": ("not", "◐", "partly right"),
    "wrong": ("not", "✗", "not right"),
    "error": ("not", "✗", "not right"),
    "timeout": ("not", "✗", "took too long"),
    "memory": ("not", "✗", "too much memory"),
    "output": ("not", "✗", "too much output"),
    "crash": ("not", "✗", "crashed"),
    "refused": ("not", "✗", "not graded"),
    "blank": ("faint", "○", "not done yet"),
    "open": ("faint", "…", "not marked yet"),
    "marked": ("", "", "marked"),
}


@dataclass(frozen=True)
class Row:
    """A line of the summary.

    title  : the exercise's, as HTML
    anchor : where on the page it is, if it is
    status : a key of SAID ("open": a person still has to mark it)
    told   : what was seen, and the hint, if any
    """

    title: str
    anchor: str
    status: str
    score: float
    most: float
    written: bool = False
    told: str | None = None
    hint: str | None = None

    @property
    def got(self) -> str:
        """The points, or that there are none yet."""
        if self.status == "open":
            return f"not marked yet ({points(self.most)} points)"
        return f"{points(self.score)} / {points(self.most)}"


def document(title: str, body: str) -> str:
    """The whole page."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    if "<math" in body:
        style = font() + style
    return PAGE.format(policy=POLICY, title=escape(title), style=style, body=body)


def font() -> str:
    """The book's font for formulas, packed into the page."""
    try:
        path = course_root() / "book" / "_static" / "by-hand-math.woff2"
        data = base64.b64encode(path.read_bytes()).decode()
    except (CourseError, OSError):
        return ""  # the browser's own font then
    source = f"url(data:font/woff2;base64,{data})"
    return f'@font-face {{ font-family: "By Hand Math"; src: {source}; }}\n'


def summary(rows: Iterable[Row]) -> str:
    """The table of the exercises: verdict, points, what was seen."""
    lines = []
    for row in rows:
        kind, symbol, word = SAID[row.status]
        name = row.title
        if row.anchor:
            name = f'<a href="#{escape(row.anchor)}">{name}</a>'
        mark = f'<span aria-hidden="true">{symbol}</span> ' if symbol else ""
        told = escape(row.told or "")
        if row.hint:
            told += f" <b>Hint:</b> {escape(row.hint)}"
        got = row.got if row.status != "open" else f"– / {points(row.most)}"
        lines.append(
            f'<tr><th scope="row" class="name">{name}</th>'
            f'<td class="verdict {kind}">{mark}{word}</td>'
            f'<td class="got">{got}</td><td class="told">{told.strip()}</td></tr>'
        )
    return (
        '<table class="summary"><thead><tr><th scope="col">exercise</th>'
        '<th scope="col">verdict</th><th scope="col" class="got">points</th>'
        '<th scope="col">what was seen</th></tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table>"
    )


def totals(rows: list[Row], penalty: float = 0.0) -> list[str]:
    """The points in sentences, checks and written answers told apart."""
    checks = [row for row in rows if not row.written]
    marked = [row for row in rows if row.written and row.status != "open"]
    still = [row for row in rows if row.status == "open"]

    def of(some: list[Row]) -> str:
        return f"{points(sum(r.score for r in some))} of " + points(
            sum(r.most for r in some)
        )

    known = [*checks, *marked]
    got, most = sum(r.score for r in known) - penalty, sum(r.most for r in known)
    words = "points" if not still else "points in what is marked"
    if still and not marked:
        words = "points in the checks"
    lines = [f"<strong>{points(got)}</strong> of {points(most)} {words}"]
    if marked:
        lines.append(f"Checks: {of(checks)}. Written answers: {of(marked)}.")
    if penalty:
        lines.append(f"{points(penalty)} points are taken off: handed in late.")
    if still:
        worth = points(sum(r.most for r in still))
        many = (
            f"{len(still)} written answers are"
            if len(still) > 1
            else ("1 written answer is")
        )
        lines.append(f"{many} not marked yet: {worth} points are still to be given.")
    return lines


def told(check: CheckResult) -> str | None:
    """What was seen in a check, in words that give no hidden case away."""
    failed = [case for case in check.cases if not case.passed]
    if not failed:
        return check.reason if check.status != "right" else None
    if check.status == "blank":
        return None
    first = next((case for case in failed if not case.hidden), None)
    if first is not None:
        alike = {case.reason for case in check.cases} == {first.reason}
        if alike and first.reason and len(check.cases) > 1:
            return first.reason
        return f"{first.label}: {first.reason}" if first.reason else first.label
    number = [case for case in check.cases if case.hidden].index(failed[0]) + 1
    words = {"blank": "not done yet", "error": "your code raised an error here"}
    said = words.get(failed[0].status or "", "your value is not the expected one")
    return f"hidden case {number}: {said}"


def case(raw: object) -> CaseResult:
    """A case of a verdict in a notebook: the student's process wrote it."""
    if not isinstance(raw, dict):
        raise TypeError("a case is a dictionary")
    status, reason = raw.get("status"), raw.get("reason")
    return CaseResult(
        str(raw["label"]),
        raw["hidden"] is True,
        raw["passed"] is True,
        status if isinstance(status, str) else None,
        str(reason)[:500] if reason else None,
    )


_LOADS = re.compile(
    r"<(?=/?\s*(?:script|meta|base|link|iframe|frame|object|embed|form|portal)\b)",
    re.IGNORECASE,
)


def tame(html: str) -> str:
    """A student's HTML output with what acts or loads shown as text."""
    return _LOADS.sub("&lt;", html)
