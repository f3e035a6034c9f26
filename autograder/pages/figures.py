"""Pictures of small matrices for the book: a step of a by-hand computation each.

A matrix is drawn as an HTML table, not as an image: it wraps on a phone, follows
the page's colours, can be copied, and a screen reader reads it cell by cell. The
look is in `book/_static/by-hand.css`; the tables make sense without it.

    chain(S, ("÷ √3", scaled))     one matrix becomes the next, entry by entry
    side_by_side(causal, window)   several in a row

The steps that a reader fills in are drawn by `autograder.worksheet.draw`, and
`autograder.pages.plots` draws what is not a matrix.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Number = int | float | Fraction
Values = Sequence[Sequence[Number]]

#: what a matrix may be; each has a colour in the style sheet, and always a name too
ROLES = ("plain", "input", "weight", "query", "key", "value", "score", "share")


@dataclass(frozen=True)
class Matrix:
    """A small matrix with a name, as a table.

    name   : as in the text; `_` sets what follows below the line ("W_Q"), `^` above
    values : rows of numbers
    role   : one of ROLES
    cols, rows : headings, or none
    digits : decimals to show; None shows integers and fractions as they are
    foot   : a heading and one number per column, below the matrix
    shade  : tint each entry by its value between 0 and 1
    """

    name: str
    values: Values
    role: str = "plain"
    cols: Sequence[str] | None = None
    rows: Sequence[str] | None = None
    digits: int | None = None
    foot: tuple[str, Sequence[Number]] | None = None
    shade: bool = False

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"unknown role {self.role!r}; roles: {', '.join(ROLES)}")
        if len({len(row) for row in self.values}) != 1:
            raise ValueError(f"{self.name}: the rows differ in length")

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)"""
        return len(self.values), len(self.values[0])

    def text(self, value: Number) -> str:
        """One entry as it is shown, with a real minus sign."""
        if self.digits is None or isinstance(value, Fraction):
            shown = str(value)
        else:
            shown = f"{value:.{self.digits}f}"
        return shown.replace("-", "−")

    def width(self) -> int:
        """Characters of the widest entry."""
        entries = [v for row in self.values for v in row]
        return max(len(self.text(v)) for v in [*entries, *(self.foot or ("", []))[1]])

    def table(self, chars: int | None = None) -> str:
        """The matrix as an HTML table; `chars` makes the cells that wide."""
        n, m = self.shape
        out = [
            f'<table class="bh-matrix bh-{self.role}" '
            f'style="--bh-chars:{chars or self.width()}">'
            f'<caption><span class="bh-name">{symbol(self.name)}</span> '
            f'<span class="bh-shape">{n}&thinsp;×&thinsp;{m}</span></caption>'
        ]
        corner = "<td></td>" if self.rows else ""
        if self.cols:
            heads = "".join(f'<th scope="col">{symbol(c)}</th>' for c in self.cols)
            out.append(f"<thead><tr>{corner}{heads}</tr></thead>")
        out.append("<tbody>")
        for i, row in enumerate(self.values):
            head = f'<th scope="row">{symbol(self.rows[i])}</th>' if self.rows else ""
            cells = "".join(self._cell(value) for value in row)
            out.append(f"<tr>{head}{cells}</tr>")
        out.append("</tbody>")
        if self.foot:
            label, sums = self.foot
            cells = "".join(f"<td>{self.text(v)}</td>" for v in sums)
            head = f'<th scope="row">{html.escape(label)}</th>' if self.rows else ""
            aside = "" if self.rows else f' aria-label="{html.escape(label)}"'
            out.append(f"<tfoot><tr{aside}>{head}{cells}</tr></tfoot>")
        return "".join([*out, "</table>"])

    def _cell(self, value: Number) -> str:
        marks = ""
        if self.shade:
            marks = f' style="--bh-share:{min(1.0, max(0.0, float(value))):.3f}"'
        return f"<td{marks}>{self.text(value)}</td>"

    def __str__(self) -> str:
        width = self.width()
        rows = ["  ".join(self.text(v).rjust(width) for v in r) for r in self.values]
        return "\n".join([f"{self.name}  {self.shape[0]} × {self.shape[1]}", *rows])


@dataclass(frozen=True)
class Figure:
    """Something to display: HTML, and the same as plain text."""

    markup: str
    plain: str

    def _repr_html_(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        return self.plain


def symbol(name: str) -> str:
    """A name as HTML: what follows `_` goes below the line, what follows `^` above."""
    base, sign, script = name.partition("_") if "_" in name else name.partition("^")
    tag = "sub" if sign == "_" else "sup"
    return html.escape(base) + (f"<{tag}>{html.escape(script)}</{tag}>" if sign else "")


def chain(first: Matrix, *steps: tuple[str, Matrix], caption: str = "") -> Figure:
    """One matrix becomes the next: an arrow with its rule, then the matrix."""
    parts = [first.table()]
    plain = [str(first)]
    for rule, matrix in steps:
        parts.append(
            f'<div class="bh-arrow"><span>{html.escape(rule)}</span></div>'
            f"{matrix.table()}"
        )
        plain += [f"→ {rule}", str(matrix)]
    body = f'<div class="bh-chain">{"".join(parts)}</div>'
    return Figure(framed(body, caption), "\n\n".join(plain))


def side_by_side(*matrices: Matrix, caption: str = "") -> Figure:
    """Several matrices in a row, nothing between them."""
    tables = "".join(m.table() for m in matrices)
    body = f'<div class="bh-chain">{tables}</div>'
    return Figure(framed(body, caption), "\n\n".join(str(m) for m in matrices))


def framed(body: str, caption: str) -> str:
    """The figure around a body, with its caption."""
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure class="bh-figure">{body}{below}</figure>'
