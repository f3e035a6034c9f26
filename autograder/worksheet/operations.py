"""The operations of the by-hand chapters, each with its arithmetic in words.

All take and give `Traced` grids; `axis` is "columns" (one result a column) or
"rows". Fractions stay fractions as long as the operation allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from ..errors import CourseError
from .trace import (
    ATOM,
    POWER,
    PRODUCT,
    SUM,
    Cell,
    Number,
    Traced,
    _grid,
    divided,
    entrywise,
    exact,
    given,
    root_divided,
    written,
)

__all__ = [
    "argmax", "concat", "divided", "exp", "floor", "given", "lookup", "mask",
    "mean", "norm", "normalise", "patches", "power", "relu", "root_divided",
    "sigmoid", "tanh", "threshold", "total", "unpatches",
]  # fmt: skip


def relu(a: Traced) -> Traced:
    """max(0, x) of every entry."""
    return entrywise(
        a, lambda x: max(0, x), lambda c: (f"max(0, {c.text})", ATOM),
        "relu", f"ReLU({a.label})",
    )  # fmt: skip


def sigmoid(a: Traced) -> Traced:
    """σ(x) = 1 / (1 + e^−x) of every entry."""
    return entrywise(
        a, lambda x: 1 / (1 + math.exp(-x)), lambda c: (f"σ({c.text})", ATOM),
        "sigmoid", f"σ({a.label})",
    )  # fmt: skip


def tanh(a: Traced) -> Traced:
    """tanh of every entry."""
    return entrywise(
        a, math.tanh, lambda c: (f"tanh({c.text})", ATOM), "tanh", f"tanh({a.label})"
    )


def exp(a: Traced) -> Traced:
    """e to the power of every entry."""
    return entrywise(
        a, math.exp, lambda c: (f"e^{_exponent(c)}", POWER), "power", f"e^{a.label}"
    )


def power(base: int, a: Traced) -> Traced:
    """A base to the power of every entry; whole exponents stay exact."""

    def raised(x: Number) -> Number:
        return Fraction(base) ** x if isinstance(x, int) else float(base) ** float(x)

    return entrywise(
        a,
        raised,
        lambda c: (f"{base}^{_exponent(c)}", POWER),
        "power",
        f"{base}^{a.label}",
    )


def _exponent(c: Cell) -> str:
    return c.text if c.binds == ATOM and not c.text.startswith("−") else f"({c.text})"


def floor(a: Traced) -> Traced:
    """The largest whole number not above every entry."""
    return entrywise(
        a, math.floor, lambda c: (f"⌊{c.text}⌋", ATOM), "floor", f"⌊{a.label}⌋"
    )


def threshold(a: Traced, t: Number) -> Traced:
    """1 where an entry is above `t`, else 0."""
    return entrywise(
        a, lambda x: int(x > t), lambda c: (f"[{c.text} > {written(t)}]", ATOM),
        "threshold", f"[{a.label} > {written(t)}]",
    )  # fmt: skip


def mask(a: Traced, keep: Traced, fill: Number = 0) -> Traced:
    """`a` where `keep` is 1, `fill` elsewhere."""
    if a.shape != keep.shape:
        raise CourseError(
            f"the mask {keep!r} does not fit {a!r}", "same shape, 0 and 1"
        )

    def cell(i: int, j: int) -> Cell:
        x, k = a.at(i, j), keep.at(i, j)
        kept = bool(k.value)
        text = f"{x.text}, kept" if kept else f"{written(fill)}, masked"
        value = x.value if kept else fill
        return Cell(value, text, ATOM if kept else SUM, x.sources + k.sources)

    return _grid(*a.shape, cell, "mask", [a, keep], f"{a.label} where {keep.label}")


Lines = list[list[Cell]]


def _lines(a: Traced, axis: str) -> Lines:
    rows, columns = a.shape
    if axis == "columns":
        return [[a.at(i, j) for i in range(rows)] for j in range(columns)]
    if axis == "rows":
        return [[a.at(i, j) for j in range(columns)] for i in range(rows)]
    raise CourseError(f"unknown axis {axis!r}", 'say "columns" or "rows"')


def _per_line(
    a: Traced, axis: str, fn: Callable[[list[Cell]], Cell], op: str, label: str
) -> Traced:
    results = [fn(line) for line in _lines(a, axis)]
    grid = [results] if axis == "columns" else [[r] for r in results]
    return Traced(grid, op, [a], label)


def _sum(line: Sequence[Cell]) -> Cell:
    text = " + ".join(c.inside(PRODUCT) for c in line)
    sources = tuple(s for c in line for s in c.sources)
    return Cell(exact(sum(c.value for c in line)), text, SUM, sources)


def total(a: Traced, axis: str) -> Traced:
    """The sum of every column (a row of sums) or of every row."""
    return _per_line(a, axis, _sum, "total", f"sums of {a.label}")


def mean(a: Traced, axis: str) -> Traced:
    """The mean of every column, or of every row (mean pooling)."""

    def one(line: list[Cell]) -> Cell:
        s = _sum(line)
        n = len(line)
        whole = isinstance(s.value, (int, Fraction))
        value = exact(Fraction(s.value) / n) if whole else s.value / n
        return Cell(value, f"({s.text})/{n}", PRODUCT, s.sources)

    return _per_line(a, axis, one, "mean", f"mean of {a.label}")


def norm(a: Traced, axis: str, p: int) -> Traced:
    """The L1 norm (sum of sizes) or L2 norm (root of the sum of squares)."""
    if p not in (1, 2):
        raise CourseError(f"there is no norm L{p} here", "p is 1 or 2")

    def one(line: list[Cell]) -> Cell:
        sources = tuple(s for c in line for s in c.sources)
        if p == 1:
            text = " + ".join(f"|{c.text}|" for c in line)
            return Cell(exact(sum(abs(c.value) for c in line)), text, SUM, sources)
        square = exact(sum(c.value * c.value for c in line))
        text = "√(" + " + ".join(f"{c.inside(ATOM)}²" for c in line) + ")"
        root = math.isqrt(square) if isinstance(square, int) else 0
        value = root if root and root * root == square else math.sqrt(square)
        return Cell(value, text, ATOM, sources)

    return _per_line(a, axis, one, "norm", f"L{p} of {a.label}")


def normalise(a: Traced, axis: str) -> Traced:
    """Every entry divided by the sum of its column, or of its row.

    Raises CourseError when a sum is 0.
    """
    lines = _lines(a, axis)
    totals = [_sum(line) for line in lines]
    if any(t.value == 0 for t in totals):
        raise CourseError(
            f"{a!r} has {axis} that sum to 0", "they cannot be shared out"
        )

    def cell(i: int, j: int) -> Cell:
        x, t = a.at(i, j), totals[j if axis == "columns" else i]
        whole = isinstance(x.value, (int, Fraction)) and isinstance(
            t.value, (int, Fraction)
        )
        value = Fraction(x.value) / t.value if whole else x.value / t.value
        text = f"{x.inside(POWER)}/({t.text})"
        return Cell(exact(value), text, PRODUCT, x.sources + t.sources)

    return _grid(*a.shape, cell, "normalise", [a], f"{a.label} over its {axis}")


def argmax(a: Traced, axis: str) -> Traced:
    """Which entry of every column (or row) is the largest, counted from 1."""

    def one(line: list[Cell]) -> Cell:
        best = max(range(len(line)), key=lambda k: line[k].value)
        text = "largest of " + ", ".join(c.text for c in line)
        return Cell(best + 1, text, ATOM, tuple(s for c in line for s in c.sources))

    return _per_line(a, axis, one, "argmax", f"argmax of {a.label}")


def lookup(table: Traced, columns: Sequence[int], words: Sequence[str] = ()) -> Traced:
    """Columns of an embedding table, counted from 0: one a word."""
    for c in columns:
        if not 0 <= c < table.shape[1]:
            raise CourseError(f"{table!r} has no column {c}", "columns count from 0")
    grid = [[table.at(i, c) for c in columns] for i in range(table.shape[0])]
    label = " ".join(words) if words else ", ".join(str(c + 1) for c in columns)
    return Traced(grid, "lookup", [table], f"columns {label} of {table.label}")


def concat(a: Traced, b: Traced) -> Traced:
    """`a` on top of `b`."""
    if a.shape[1] != b.shape[1]:
        raise CourseError(f"{a!r} does not fit on top of {b!r}", "as many columns")
    grid = [
        [m.at(i, j) for j in range(m.shape[1])]
        for m in (a, b)
        for i in range(m.shape[0])
    ]
    return Traced(grid, "concat", [a, b], f"[{a.label}; {b.label}]")


def patches(a: Traced, size: int) -> Traced:
    """Cut into size × size squares, in reading order: one column a patch."""
    rows, columns = a.shape
    if rows % size or columns % size:
        raise CourseError(f"{a!r} cannot be cut into {size}×{size} patches", "sizes")
    places = [
        [(r + i, c + j) for i in range(size) for j in range(size)]
        for r in range(0, rows, size)
        for c in range(0, columns, size)
    ]
    grid = [[a.at(*patch[k]) for patch in places] for k in range(size * size)]
    return Traced(grid, "patches", [a], f"patches of {a.label}")


def unpatches(a: Traced, size: int, columns: int) -> Traced:
    """Put patches back: the inverse of `patches` for a grid this many columns wide."""
    across = columns // size
    if a.shape[0] != size * size or columns % size or a.shape[1] % across:
        raise CourseError(f"{a!r} does not hold {size}×{size} patches", "sizes")
    rows = a.shape[1] // across * size

    def cell(i: int, j: int) -> Cell:
        patch = (i // size) * across + j // size
        return a.at((i % size) * size + j % size, patch)

    return _grid(rows, columns, cell, "unpatches", [a], f"{a.label} put back")
