"""A verdict as people see it: a small table, in HTML and in plain text.

Three states, told apart by symbol and word and not by colour alone: right,
not right, not done yet. Inline styles only, so that it looks the same in
JupyterLab, Notebook, VS Code, Colab and the book. Everything to read has the
page's own colour, and only lines and frames have another: no colour is clear
enough for letters on a light page and on a dark one.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from .compare import as_array, number
from .judge import Case, Verdict
from .values import is_module

SYMBOL = {"right": "✓", "wrong": "✗", "error": "✗", "blank": "○"}
WORD = {
    "right": "right",
    "wrong": "not right",
    "error": "not right",
    "blank": "not done",
}
_COLOUR = {
    "right": "#2e8b57",
    "wrong": "#c2500a",
    "error": "#c2500a",
    "blank": "#7a7a7a",
}
#: a symbol in a frame of its colour, which follows
_GLYPH = (
    "display:inline-block;width:1.2em;line-height:1.2;margin-right:.45em;"
    "text-align:center;border-radius:3px;border:1.5px solid "
)
_HEAD = {
    "right": "right",
    "partial": "partly right",
    "wrong": "not right",
    "error": "not right",
    "blank": "not done yet",
}
#: what happens only where a grader runs the notebook
STOPPED = {
    "timeout": "took too long",
    "memory": "too much memory",
    "output": "too much output",
    "crash": "crashed",
    "refused": "not graded",
}
MAX_ROWS, MAX_COLUMNS = 8, 8


def points(score: float) -> str:
    """Points as people read them: at most two decimals. Sums are rounded, not summands.

    The small number keeps half a cent up when a sum of thirds falls just below it.
    """
    return f"{round(score + 1e-9, 2):.10g}"


def headline(verdict: Verdict) -> str:
    """One line: the answer, its state, its points, the cases still to come."""
    line = (
        f"{verdict.answer}: {(_HEAD | STOPPED)[verdict.status]}"
        f" ({points(verdict.score)} of {points(verdict.max_score)} points)"
    )
    if verdict.more_hidden:
        word = "case" if verdict.more_hidden == 1 else "cases"
        line += f"; {verdict.more_hidden} hidden {word} when graded"
    return line


def rows(verdict: Verdict) -> list[Case]:
    """The cases in order, hidden ones under a name that gives nothing away."""
    shown, hidden = [], 0
    for case in verdict.cases:
        if case.hidden:
            hidden += 1
            case = Case(f"hidden case {hidden}", True, case.passed, case.status)
            if not case.passed:
                case.reason = {
                    "blank": "not done yet",
                    "error": "your code raised an error here",
                }.get(case.status, "your value is not the expected one")
        shown.append(case)
    return shown


def cells(value: Any) -> list[list[str]] | None:
    """The entries of a small array as text, one list a row; None if too large."""
    array = None if is_module(value) else as_array(value)
    if array is None or array.ndim > 2 or array.size < 2:
        return None
    columns = array.shape[-1]
    if columns > MAX_COLUMNS or array.size // columns > MAX_ROWS:
        return None
    if not (type(value) in (list, tuple) and array.dtype.kind == "f"):
        texts = [number(x) for x in array.ravel().tolist()]
    else:
        flat: list[Any] = []
        _flatten(value, flat)
        texts = [number(x) for x in flat]
    return [texts[i : i + columns] for i in range(0, len(texts), columns)]


def _flatten(value: Any, into: list[Any]) -> None:
    for v in value:
        if type(v) in (list, tuple):
            _flatten(v, into)
        else:
            into.append(v)


def _marked(case: Case) -> tuple[list[list[str]], list[list[str]], np.ndarray] | None:
    mine, theirs = cells(case.got), cells(case.expected)
    if mine is None or theirs is None or case.hidden or case.passed:
        return None
    if case.mask is not None and case.mask.ndim in (1, 2):
        return mine, theirs, np.atleast_2d(case.mask)
    return mine, theirs, np.zeros((len(mine), len(mine[0])), bool)


def _first_differences(case: Case) -> str | None:
    """For arrays too large to show: where they first part."""
    if case.mask is None or case.hidden or not case.mask.any() or case.mask.size < 2:
        return None
    got, expected = as_array(case.got), as_array(case.expected)
    if got is None or expected is None:
        return None
    place = tuple(int(i) for i in np.argwhere(case.mask)[0])
    return (
        f"first at {list(place)}: yours {number(got[place].item())},"
        f" expected {number(expected[place].item())}"
    )


def as_text(verdict: Verdict) -> str:
    """The verdict for a terminal."""
    lines = [headline(verdict)]
    if verdict.status in STOPPED and verdict.reason:
        lines.append(f"  {verdict.reason}")
    opened = False
    for case in rows(verdict):
        line = f"  {SYMBOL[case.status]} {case.label}"
        lines.append(line + (f": {case.reason}" if case.reason else ""))
        if opened or case.passed or case.status == "blank":
            continue
        tables = _marked(case)
        if tables is not None:
            lines += _text_tables(*tables)
            opened = True
        elif (first := _first_differences(case)) is not None:
            lines.append(f"      {first}")
            opened = True
    if verdict.hint:
        lines.append(f"  Hint: {verdict.hint}")
    return "\n".join(lines)


def _text_tables(
    mine: list[list[str]], theirs: list[list[str]], mask: np.ndarray
) -> list[str]:
    def mark(i: int, j: int) -> str:
        inside = i < mask.shape[0] and j < mask.shape[1] and mask[i, j]
        return f"[{mine[i][j]}]" if inside else mine[i][j]

    left = [[mark(i, j) for j in range(len(mine[0]))] for i in range(len(mine))]
    width = max(len(t) for r in left + theirs for t in r) + 1
    block = [" ".join(t.rjust(width) for t in r) for r in left]
    other = [" ".join(t.rjust(width) for t in r) for r in theirs]
    span = max(len("yours"), *(len(b) for b in block))
    out = [f"      {'yours'.ljust(span)}    expected"]
    for i in range(max(len(block), len(other))):
        a = block[i] if i < len(block) else ""
        b = other[i] if i < len(other) else ""
        out.append(f"      {a.ljust(span)}   {b}".rstrip())
    return out


def as_html(verdict: Verdict) -> str:
    """The verdict for a notebook or a page."""
    state = "error" if verdict.status in STOPPED else verdict.status
    colour = _COLOUR["wrong" if state == "partial" else state]
    symbol = {"partial": "◐"}.get(state) or SYMBOL[state]
    out = [
        f'<div class="bh-verdict" style="border-left:4px solid {colour};'
        'padding:.35em .8em;margin:.3em 0;line-height:1.45;max-width:52em">',
        f'<div style="font-weight:600"><span aria-hidden="true">{symbol}</span>'
        f" {escape(headline(verdict))}</div>",
    ]
    if verdict.status in STOPPED and verdict.reason:
        out.append(f"<div>{escape(verdict.reason)}</div>")
    opened = False
    for case in rows(verdict):
        reason = f": {escape(case.reason)}" if case.reason else ""
        out.append(
            f'<div style="margin:.1em 0"><span style="{_GLYPH}{_COLOUR[case.status]}"'
            f' role="img" aria-label="{WORD[case.status]}">{SYMBOL[case.status]}</span>'
            f"{escape(case.label)}{reason}</div>"
        )
        if opened or case.passed or case.status == "blank":
            continue
        tables = _marked(case)
        if tables is not None:
            out.append(_html_tables(*tables))
            opened = True
        elif (first := _first_differences(case)) is not None:
            out.append(f'<div style="margin-left:1.8em">{escape(first)}</div>')
            opened = True
    if verdict.hint:
        out.append(
            '<div style="margin:.4em 0 .1em;padding:.35em .6em;border-radius:4px;'
            'background:rgba(194,130,10,.13)"><b>Hint.</b> '
            f"{escape(verdict.hint)}</div>"
        )
    out.append("</div>")
    return "".join(out)


def _html_tables(
    mine: list[list[str]], theirs: list[list[str]], mask: np.ndarray
) -> str:
    plain = "padding:.1em .55em;text-align:right;font-variant-numeric:tabular-nums"
    wrong = f"{plain};font-weight:700;outline:2px solid #c2500a;outline-offset:-2px"

    def table(name: str, texts: list[list[str]], marks: np.ndarray | None) -> str:
        body = ""
        for i, row in enumerate(texts):
            body += "<tr>"
            for j, text in enumerate(row):
                bad = (
                    marks is not None
                    and i < marks.shape[0]
                    and j < marks.shape[1]
                    and marks[i, j]
                )
                title = ' title="differs"' if bad else ""
                style = wrong if bad else plain
                body += f'<td style="{style}"{title}>{escape(text)}</td>'
            body += "</tr>"
        return (
            '<table style="display:inline-table;margin:.3em 1.6em .3em 1.8em;'
            'border-collapse:collapse;font-size:.95em">'
            f'<caption style="caption-side:top;text-align:left;color:inherit">{name}'
            f"</caption><tbody>{body}</tbody></table>"
        )

    return f"<div>{table('yours', mine, mask)}{table('expected', theirs, None)}</div>"
