"""Small matrices that remember how each of their cells came to be.

A `Traced` is a grid of cells. Every cell has its value (an int, an exact fraction
or a float), the arithmetic that gave it, written out as on paper, and the named
cells it was computed from. Operations make new grids; a grid that has been given
a name stands for itself in what follows, one that has not is written out in full.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import CourseError

Number = int | Fraction | float
Place = tuple[str, int, int]

#: how tightly an expression binds: a sum, a product, a power, a single number
SUM, PRODUCT, POWER, ATOM = range(4)


@dataclass(frozen=True)
class Cell:
    """One number, its arithmetic, and where that came from.

    value   : int, Fraction or float
    text    : the arithmetic without the result, such as "1·2 + 1·0"
    binds   : how tightly `text` binds (SUM, PRODUCT, POWER, ATOM)
    sources : (name, row, column) of every named cell it uses, in reading order
    """

    value: Number
    text: str
    binds: int = ATOM
    sources: tuple[Place, ...] = ()

    def inside(self, binds: int) -> str:
        """The text as a part of something that binds this tightly."""
        negative = self.text.startswith("−")
        loose = self.binds < binds or (negative and binds > SUM)
        return f"({self.text})" if loose else self.text


def exact(x: Any) -> Number:
    """The simplest type that holds a number exactly."""
    if isinstance(x, bool):
        return int(x)
    if isinstance(x, Fraction):
        return int(x) if x.denominator == 1 else x
    return x  # type: ignore[no-any-return]


def written(x: Number, digits: int = 3) -> str:
    """A number as on paper: 2, −1, 9/46, 0.258."""
    x = exact(x)
    if isinstance(x, float):
        if not math.isfinite(x):
            return str(x).replace("-", "−").replace("inf", "∞")
        if x == int(x) and abs(x) < 1e15:
            x = int(x)
        else:
            text = f"{x:.{digits}f}"
            if float(text) == 0:
                text = text.lstrip("-")
            return text.replace("-", "−")
    return str(x).replace("-", "−")


class Traced:
    """A grid of cells, with operations; see the module's text.

    Shapes are (rows, columns). Every operation raises CourseError, in words, when
    the shapes do not fit.
    """

    def __init__(
        self,
        cells: Sequence[Sequence[Cell]],
        op: str = "given",
        operands: Sequence[Traced] = (),
        label: str = "",
        note: str = "",
    ) -> None:
        self.cells = [list(row) for row in cells]
        self.op, self.operands = op, tuple(operands)
        self.label, self.note = label, note
        self.name = ""
        self.digits = 3

    # ------------------------------------------------------------ looking at it

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.cells), len(self.cells[0]) if self.cells else 0

    @property
    def values(self) -> list[list[Number]]:
        """The numbers alone."""
        return [[c.value for c in row] for row in self.cells]

    def at(self, i: int, j: int) -> Cell:
        """A cell as an operand: the number itself once the grid has a name."""
        cell = self.cells[i][j]
        if not self.name:
            return cell
        text = written(cell.value, self.digits)
        binds = PRODUCT if "/" in text else ATOM
        return Cell(cell.value, text, binds, ((self.name, i, j),))

    def __repr__(self) -> str:
        return f"<{self.name or self.label or self.op} {self.shape[0]}×{self.shape[1]}>"

    # ---------------------------------------------------------------- operators

    def __matmul__(self, other: Traced) -> Traced:
        return product(self, other)

    def __add__(self, other: Traced) -> Traced:
        return add(self, other)

    def __sub__(self, other: Traced) -> Traced:
        return pairwise(self, other, "−", lambda a, b: a - b, SUM)

    def __mul__(self, other: Traced | Number) -> Traced:
        if isinstance(other, (int, float, Fraction)):
            return scaled(self, other, written(other))
        return pairwise(self, other, "·", lambda a, b: a * b, PRODUCT)

    def __rmul__(self, factor: Number) -> Traced:
        return self * factor

    def __truediv__(self, other: Number) -> Traced:
        return divided(self, other)

    @property
    def T(self) -> Traced:  # noqa: N802
        """Rows become columns."""
        rows, columns = self.shape
        grid = [[self.at(i, j) for i in range(rows)] for j in range(columns)]
        return Traced(grid, "transpose", [self], f"{self.label}ᵀ")


def given(values: Sequence[Sequence[Number]]) -> Traced:
    """A grid of plain numbers."""
    rows = [list(row) for row in values]
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise CourseError("a matrix needs rows of equal length", f"got {values!r}")
    return Traced([[Cell(exact(x), written(exact(x))) for x in row] for row in rows])


def _matrices(what: str, *operands: Any) -> None:
    """Raise CourseError when an operand is a plain number or list."""
    for x in operands:
        if not isinstance(x, Traced):
            raise CourseError(
                f"{what} needs matrices of this sheet, and got {x!r}",
                "give the numbers a name first: ws.given(name, numbers)",
            )


def _fit(ok: bool, what: str, a: Traced, b: Traced) -> None:
    if not ok:
        raise CourseError(
            f"{what} does not fit: {a!r} and {b!r}",
            "look at the shapes: rows × columns",
        )


def product(a: Traced, b: Traced) -> Traced:
    """The matrix product: row of `a` times column of `b`, added up."""
    _matrices("a product", a, b)
    _fit(a.shape[1] == b.shape[0], "a product", a, b)

    def cell(i: int, j: int) -> Cell:
        pairs = [(a.at(i, k), b.at(k, j)) for k in range(a.shape[1])]
        text = " + ".join(f"{x.inside(POWER)}·{y.inside(POWER)}" for x, y in pairs)
        value = exact(sum(x.value * y.value for x, y in pairs))
        binds = SUM if len(pairs) > 1 else PRODUCT
        return Cell(
            value, text, binds, tuple(s for p in pairs for c in p for s in c.sources)
        )

    return _grid(
        a.shape[0], b.shape[1], cell, "product", [a, b], f"{a.label} {b.label}"
    )


def add(a: Traced, b: Traced) -> Traced:
    """The sum; a bias (one column) is added to every column of `a`."""
    _matrices("a sum", a, b)
    bias = b.shape == (a.shape[0], 1) and a.shape[1] != 1
    _fit(bias or a.shape == b.shape, "a sum", a, b)
    op = "bias" if bias else "sum"
    result = pairwise(a, b, "+", lambda x, y: x + y, SUM, op, spread=bias)
    if bias:
        result.note = f"{b.label} is added to every column"
    return result


def pairwise(
    a: Traced,
    b: Traced,
    sign: str,
    fn: Callable[[Any, Any], Number],
    binds: int,
    op: str = "",
    spread: bool = False,
) -> Traced:
    """Entry by entry; with `spread`, `b` is one column that serves every column."""
    _matrices(f"entry by entry ({sign})", a, b)
    _fit(spread or a.shape == b.shape, f"entry by entry ({sign})", a, b)

    def cell(i: int, j: int) -> Cell:
        x, y = a.at(i, j), b.at(i, 0 if spread else j)
        right = binds if sign in "+·" else binds + 1
        space = " " if binds == SUM else ""
        text = f"{x.inside(binds)}{space}{sign}{space}{y.inside(right)}"
        if sign == "+" and y.text.startswith("−"):
            text = f"{x.inside(binds)} + ({y.text})"
        return Cell(exact(fn(x.value, y.value)), text, binds, x.sources + y.sources)

    return _grid(
        *a.shape, cell, op or "pairwise", [a, b], f"{a.label} {sign} {b.label}"
    )


def scaled(a: Traced, factor: Number, word: str) -> Traced:
    """Every entry times a number; `word` is how the number is written."""
    return entrywise(
        a, lambda x: x * factor, lambda c: (f"{word}·{c.inside(POWER)}", PRODUCT),
        "scale", f"{word}·{a.label}",
    )  # fmt: skip


def divided(a: Traced, divisor: Number, word: str | None = None) -> Traced:
    """Every entry divided by a number; fractions stay exact."""
    if not isinstance(divisor, (int, float, Fraction)) or not divisor:
        raise CourseError(
            f"{a!r} cannot be divided by {divisor!r}", "divide by a number, not 0"
        )
    word = word or written(divisor)

    def divide(x: Number) -> Number:
        if isinstance(x, (int, Fraction)) and isinstance(divisor, (int, Fraction)):
            return Fraction(x) / divisor
        return x / divisor

    return entrywise(
        a, divide, lambda c: (f"{c.inside(POWER)}/{word}", PRODUCT),
        "scale", f"{a.label}/{word}",
    )  # fmt: skip


def root_divided(a: Traced, n: int) -> Traced:
    """Every entry divided by √n (the scale of attention)."""
    return divided(a, math.sqrt(n), f"√{n}")


def entrywise(
    a: Traced,
    fn: Callable[[Any], Number],
    text: Callable[[Cell], tuple[str, int]],
    op: str,
    label: str,
) -> Traced:
    """One function on every entry."""

    def cell(i: int, j: int) -> Cell:
        x = a.at(i, j)
        words, binds = text(x)
        return Cell(exact(fn(x.value)), words, binds, x.sources)

    return _grid(*a.shape, cell, op, [a], label)


def _grid(
    rows: int,
    columns: int,
    cell: Callable[[int, int], Cell],
    op: str,
    operands: Sequence[Traced],
    label: str,
) -> Traced:
    grid = [[cell(i, j) for j in range(columns)] for i in range(rows)]
    return Traced(grid, op, operands, label)
