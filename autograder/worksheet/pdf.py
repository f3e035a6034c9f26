"""A worksheet to print: blank to fill in, or solved as its key; A4 or Letter.

    pdf.write(sheet, Path("attention.pdf"))
    pdf.write(sheet, Path("attention-key.pdf"), key=True, paper="letter")

Vector graphics with text that can be searched, and the same bytes every time. The
boxes are as large as one or two pages allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_pdf import FigureCanvasPdf, PdfPages
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..errors import CourseError
from .paper import Block, Matrix, blocks
from .sheet import Worksheet
from .typeset import FAINT, INK, lines, number, put, width

COURSE = "By Hand, at Scale"
PAPERS = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
MARGIN, FOOT = 15.0, 12.0
#: heights of boxes to try, the largest first, for one page and for two; and what is
#: taken where two pages are not enough
HEIGHTS = (
    (1, [10.5 - 0.25 * n for n in range(15)]),
    (2, [10.5 - 0.25 * n for n in range(19)]),
)
LAST = 7.0
#: what a role looks like: the frame, and the tint of given numbers
FRAMES = {
    "input": "#0072b2", "weight": "#5c6670", "bias": "#5c6670", "query": "#b34a00",
    "key": "#00775a", "value": "#a2477e", "score": "#0b5c87", "share": "#a3430b",
}  # fmt: skip
TINT = "#e9edf0"
DECIMALS = "After rounding, the last decimal may differ a little."
FRACTIONS = f"Fractions are exact, with the same as a decimal below. {DECIMALS}"


@dataclass(frozen=True)
class Look:
    """How this print differs from another: key or blank, paper, whose numbers."""

    key: bool = False
    paper: str = "a4"
    owner: str = ""
    address: str = ""


Placed = tuple[Block | str, float, float]


def write(
    ws: Worksheet,
    path: Path,
    *,
    key: bool = False,
    paper: str = "a4",
    owner: str = "",
    address: str = "",
) -> int:
    """Write the sheet as a PDF; returns the number of pages.

    key     : with the values, for who marks it
    paper   : "a4" or "letter"
    owner   : whose variant it is, printed beside its number
    address : where the course lives, for the foot of the page
    """
    if paper not in PAPERS:
        raise CourseError(
            f"unknown paper {paper!r}", f"use: {', '.join(PAPERS)}", usage=True
        )
    look = Look(key, paper, owner, address)
    pages = _pages(ws, look)
    kinds = {
        m.kind for page in pages for item, *_ in page if isinstance(item, Block)
        for m in item.matrices
    }  # fmt: skip
    title = f"{ws.title}{' (key)' if key else ''}, variant {ws.variant}"
    about = {
        "Title": title, "Author": COURSE, "Subject": "worksheet",
        "Keywords": "CC BY 4.0", "CreationDate": None, "Creator": None,
        "Producer": None,
    }  # fmt: skip
    with (
        mpl.rc_context({"pdf.fonttype": 42, "pdf.compression": 6}),
        PdfPages(path, metadata=about) as out,
    ):
        for n, page in enumerate(pages, 1):
            figure = _drawn(ws, look, page, n, len(pages), kinds)
            FigureCanvasPdf(figure)
            out.savefig(figure)
    return len(pages)


# ------------------------------------------------------------------ on pages


def _pages(ws: Worksheet, look: Look) -> list[list[Placed]]:
    """The blocks on pages, with the largest boxes that allow one page, or two."""
    for most, heights in HEIGHTS:
        if _fitted(ws, look, heights[-1], most):
            return next(filter(None, (_fitted(ws, look, h, most) for h in heights)))
    return _fitted(ws, look, LAST, 99) or []


def _fitted(ws: Worksheet, look: Look, tall: float, most: int) -> list[list[Placed]]:
    """The pages with boxes of this height; none where they do not fit."""
    across = PAPERS[look.paper][0] - 2 * MARGIN
    made = blocks(ws, (min(1.25 * tall, 11.0), tall), across, look.key)
    if most < 99 and max(b.size[0] for b in made) > across + 0.1:
        return []
    pages = _placed(made, ws, look)
    return pages if len(pages) <= most else []


def _placed(made: list[Block], ws: Worksheet, look: Look) -> list[list[Placed]]:
    """Block after block: beside the last one where there is room, else below."""
    wide, tall = PAPERS[look.paper]
    pages: list[list[Placed]] = [[]]
    y = _head_height(ws, look) + MARGIN
    x, row, part, parts = MARGIN, 0.0, "", 0
    for block in made:
        w, h = block.size
        heading = 9.0 if block.part and block.part != part else 0.0
        if heading or (x > MARGIN and x + w > wide - MARGIN):
            y, x, row = y + row, MARGIN, 0.0
        if max(y, y + heading) + h > tall - MARGIN - FOOT + 4 and pages[-1]:
            pages.append([])
            y, x, row = MARGIN + 7, MARGIN, 0.0
        if heading:
            parts += 1
            part = block.part
            pages[-1].append((f"{parts}   {part}", MARGIN, y + 5))
            y += heading
        pages[-1].append((block, x, y))
        x, row = x + w + 9, max(row, h + 4.5)
    return pages


def _head_height(ws: Worksheet, look: Look) -> float:
    room = PAPERS[look.paper][0] - 2 * MARGIN
    return 25.5 + 4.1 * len(lines(ws.text, 8.5, room)) + 6


# ------------------------------------------------------------------ drawing


def _drawn(
    ws: Worksheet, look: Look, page: list[Placed], n: int, of: int, kinds: set[str]
) -> Figure:
    wide, tall = PAPERS[look.paper]
    figure = Figure(figsize=(wide / 25.4, tall / 25.4))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, wide)
    ax.set_ylim(tall, 0)
    ax.axis("off")
    if n == 1:
        _head(ax, ws, look, kinds)
    else:
        _running_head(ax, ws, look)
    for item, x, y in page:
        if isinstance(item, str):
            put(ax, item, x, y, 10.5, "strong")
            _rule(ax, x, y + 1.6, wide - MARGIN, 0.8)
        else:
            _block(ax, item, x, y, look.key)
    _foot(ax, look, n, of)
    return figure


def _variant(ws: Worksheet, look: Look) -> str:
    whose = f" · {look.owner}" if look.owner else ""
    return f"variant {ws.variant}{whose}"


def _head(ax: Any, ws: Worksheet, look: Look, kinds: set[str]) -> None:
    right = PAPERS[look.paper][0] - MARGIN
    y = MARGIN + 2
    put(ax, COURSE, MARGIN, y, 8.5, "faint")
    put(ax, _variant(ws, look), right, y, 8.5, "faint", 1, raised=False)
    put(ax, ws.title, MARGIN, y + 8.5, 17, "title")
    if look.key:
        ax.add_patch(
            Rectangle((right - 19, y + 2.2), 19, 8, facecolor=INK, edgecolor="none")
        )
        ax.text(
            right - 9.5, y + 7.9, "KEY", color="white", fontsize=12, ha="center",
            va="baseline", family="DejaVu Sans", weight="bold",
        )  # fmt: skip
        y += 18
        values = [x for s in ws.steps if s.asked for row in s.values for x in row]
        if any(isinstance(x, Fraction) for x in values):
            put(ax, FRACTIONS, MARGIN, y, 7.5, "plain")
        elif any(isinstance(x, float) for x in values):
            put(ax, DECIMALS, MARGIN, y, 7.5, "plain")
    else:
        y += 18
        put(ax, "Name", MARGIN, y, 8.5, "plain")
        _rule(ax, MARGIN + 11, y + 0.6, right - 62, 0.6)
        put(ax, "Date", right - 56, y, 8.5, "plain")
        _rule(ax, right - 46, y + 0.6, right, 0.6)
    y += 6.5
    for line in lines(ws.text, 8.5, right - MARGIN):
        put(ax, line, MARGIN, y, 8.5, "plain")
        y += 4.1
    _legend(ax, y + 1.2, look, kinds)


def _legend(ax: Any, y: float, look: Look, kinds: set[str]) -> None:
    """What the boxes mean, as far as they are there."""
    x = MARGIN
    copied = "from an earlier step" if look.key else "copy from an earlier step"
    dotted = [copied] * ("copy" in kinds) + ["sums on the way"] * ("sums" in kinds)
    meaning = [("given", "given"), ("asked", "solved" if look.key else "fill in")]
    if dotted:
        meaning.append(("copy", ", or ".join(dotted)))
    for kind, words in meaning:
        _boxes(ax, Matrix("", [[0]], kind, "", x, y - 2.9, (4.4, 3.6)), 0, 0)
        put(ax, words, x + 6, y, 7, "plain")
        x += 6 + width(words, 7) + 8


def _running_head(ax: Any, ws: Worksheet, look: Look) -> None:
    right = PAPERS[look.paper][0] - MARGIN
    mark = "  ·  KEY" if look.key else ""
    put(ax, f"{ws.title}{mark}", MARGIN, MARGIN + 2, 8.5, "faint")
    put(ax, _variant(ws, look), right, MARGIN + 2, 8.5, "faint", 1, raised=False)


def _foot(ax: Any, look: Look, n: int, of: int) -> None:
    wide, tall = PAPERS[look.paper]
    y = tall - 9
    _rule(ax, MARGIN, y - 4, wide - MARGIN, 0.4)
    where = look.address.removeprefix("https://")
    line = "  ·  ".join(t for t in (COURSE, "CC BY 4.0", where) if t)
    put(ax, line, MARGIN, y, 7, "faint")
    put(ax, f"page {n} of {of}", wide - MARGIN, y, 7, "faint", 1)


def _block(ax: Any, block: Block, x: float, y: float, key: bool) -> None:
    left, top, *_ = block.box()
    dx, dy = x - left, y - top
    for m in block.matrices:
        _boxes(ax, m, dx, dy)
        if m.kind == "given" or key:
            style = "plain" if m.kind == "given" else "solved"
            w, h = m.cell
            for i, row in enumerate(m.values):
                for j, value in enumerate(row):
                    box = (m.x + dx + j * w, m.y + dy + i * h, w, h)
                    number(ax, value, m.digits, box, style)
        _labels(ax, m, dx, dy)
    for word in block.words:
        put(ax, word.text, word.x + dx, word.y + dy, word.size, word.style, word.shift)
    for ax_x, ax_y in block.arrows:
        ax.annotate(
            "", (ax_x + dx + 2.6, ax_y + dy), (ax_x + dx - 2.6, ax_y + dy),
            arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 0.8,
                        "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7},
        )  # fmt: skip


def _boxes(ax: Any, m: Matrix, dx: float, dy: float) -> None:
    """The boxes of a matrix, as its kind wants them."""
    (rows, columns), (w, h) = m.shape, m.cell
    x, y = m.x + dx, m.y + dy
    dotted = m.kind in ("copy", "sums")
    line: dict[str, Any] = {"lw": 0.5, "color": FAINT}
    if dotted:
        line = {"lw": 0.6, "color": FAINT, "ls": (0, (1, 1.6))}
    if m.kind == "given":
        ax.add_patch(
            Rectangle((x, y), columns * w, rows * h, facecolor=TINT, edgecolor="none")
        )
        line = {"lw": 0.5, "color": "white"}
    for i in range(1, rows):
        ax.plot([x, x + columns * w], [y + i * h] * 2, **line)
    for j in range(1, columns):
        ax.plot([x + j * w] * 2, [y, y + rows * h], **line)
    edge = FRAMES.get(m.role, INK)
    style: dict[str, Any] = {"lw": 1.3 if m.kind == "asked" else 0.7}
    if dotted:
        style = {"lw": 0.7, "ls": (0, (1, 1.6))}
    ax.add_patch(
        Rectangle((x, y), columns * w, rows * h, fill=False, edgecolor=edge, **style)
    )


def _labels(ax: Any, m: Matrix, dx: float, dy: float) -> None:
    """Labels of single columns and rows, where they have names of their own."""
    w, h = m.cell
    if m.cols and not isinstance(m.cols, str):
        for j, text in enumerate(m.cols):
            put(ax, text, m.x + dx + (j + 0.5) * w, m.y + dy - 1, 6.5, "faint", 0.5)
    if m.rows and not isinstance(m.rows, str):
        for i, text in enumerate(m.rows):
            at = m.y + dy + (i + 0.5) * h + 0.9
            put(ax, text, m.x + dx - 1, at, 6.5, "faint", 1)


def _rule(ax: Any, x: float, y: float, to: float, lw: float) -> None:
    ax.plot([x, to], [y, y], color=INK, lw=lw, solid_capstyle="butt")
