"""Where everything of a printed worksheet goes: matrices and words, in millimetres.

A product is laid out as on paper: the left factor on the left, the right factor
above, the product where row and column meet; the next product with the same right
factor hangs below it. A step that works entry by entry stands to the right of what
it is made from. `pdf` puts the blocks on pages and draws them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from .sheet import Step, Worksheet
from .trace import Number, Traced, exact
from .typeset import lines, width

#: room between matrices: across, down, and for an arrow or a sign
ACROSS, DOWN, ARROW, SIGN = 2.0, 5.4, 9.0, 5.0
#: words beside a product, and the size of their letters in points
BESIDE, LETTERS = 44.0, 7.0
LINE = 3.3


@dataclass
class Matrix:
    """A matrix on paper.

    kind : "given" (numbers there), "asked" (empty boxes), "copy" (dotted boxes for
           what an earlier step has found), "sums" (dotted boxes for sums on the way)
    x, y : the upper left corner of its boxes
    cell : width and height of a box
    """

    name: str
    values: Sequence[Sequence[Number]]
    kind: str
    role: str
    x: float
    y: float
    cell: tuple[float, float]
    digits: int = 3
    cols: str | Sequence[str] = ""
    rows: str | Sequence[str] = ""

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.values), len(self.values[0])

    @property
    def right(self) -> float:
        """Where its boxes end."""
        return self.x + self.shape[1] * self.cell[0]

    @property
    def bottom(self) -> float:
        """Where its boxes end."""
        return self.y + self.shape[0] * self.cell[1]


@dataclass
class Words:
    """A line of text.

    y     : its baseline
    size  : in points
    shift : 0 begins at x, 0.5 is centred there, 1 ends there
    """

    text: str
    x: float
    y: float
    size: float = LETTERS
    style: str = "plain"
    shift: float = 0.0


@dataclass
class Block:
    """What is kept together on a page."""

    part: str
    matrices: list[Matrix] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    arrows: list[tuple[float, float]] = field(default_factory=list)
    #: below which a product may hang; the last one in a row, and where that ends
    tops: list[Matrix] = field(default_factory=list)
    tail: Matrix | None = None
    reach: float = 0.0

    def top(self, name: str) -> Matrix | None:
        """The matrix of this name, if nothing but its own products is below it."""
        for m in self.tops:
            under = [
                o
                for o in self.matrices
                if o.y >= m.bottom and o.x < m.right and o.right > m.x
            ]
            if m.name == name and (m is self.tops[0] or not under):
                return m
        return None

    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        x = [m.x for m in self.matrices] + [w.x for w in self.words if not w.shift]
        right = [m.right for m in self.matrices] + [_end(w) for w in self.words]
        y = [m.y for m in self.matrices] + [w.y - 3 for w in self.words]
        below = [m.bottom for m in self.matrices] + [w.y + 1 for w in self.words]
        return min(x), min(y), max(right), max(below)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        left, top, right, bottom = self.box()
        return right - left, bottom - top


def _end(words: Words) -> float:
    return words.x + (1 - words.shift) * width(words.text, words.size, words.style)


def blocks(
    ws: Worksheet, cell: tuple[float, float], across: float, solved: bool
) -> list[Block]:
    """The blocks of a sheet, for boxes of this size and a page this wide."""
    return Layout(ws, cell, across, solved).blocks


class Layout:
    """Puts step after step into blocks."""

    def __init__(
        self, ws: Worksheet, cell: tuple[float, float], across: float, solved: bool
    ) -> None:
        self.ws, self.boxes, self.across, self.solved = ws, cell, across, solved
        self.cell = cell
        self.blocks: list[Block] = []
        self.taught = False
        for step in ws.steps:
            if step.asked:
                self.cell = self._cell(step.part)
                self._step(step)

    def _cell(self, part: str) -> tuple[float, float]:
        """The size of a box: higher where a part has fractions."""
        steps = [s for s in self.ws.steps if s.part == part]
        broken = any(
            isinstance(x, Fraction) for s in steps for row in s.values for x in row
        )
        wide, tall = self.boxes
        return wide, max(tall, min(tall * 1.45, 10.6)) if broken else tall

    def _step(self, step: Step) -> None:
        product, bias = _product(step.grid)
        named = list(dict.fromkeys(g.name for g in _leaves(step.grid)))
        if product is not None:
            left, right = product.operands
            self._product(step, left, right, bias)
        elif len(named) == 1:
            self._chained(step, next(_leaves(step.grid)))
        elif step.grid.op == "concat" and all(p.name for p in step.grid.operands):
            self._stacked(step)
        else:
            self._inline(step)

    # ------------------------------------------------------------------ products

    def _product(
        self, step: Step, left: Traced, right: Traced, bias: Traced | None
    ) -> None:
        block = self._last(step)
        top = block.top(right.name) if block is not None and right.name else None
        fresh = block is None or top is None
        if block is None or top is None:
            block = self._new(step)
            top = self._operand(right, 0, 0)
            block.matrices.append(top)
            block.tops = [top]
            self._above(block, top)
        y = max(m.bottom for m in block.matrices) + DOWN
        factor = self._operand(left, 0, y)
        x = top.x - ACROSS
        if bias is not None:
            added = self._operand(bias, 0, y)
            added.x = x - added.shape[1] * added.cell[0]
            block.words.append(
                Words("+", added.x - SIGN / 2, _middle(added), 11, shift=0.5)
            )
            self._above(block, added)
            block.matrices.append(added)
            x = added.x - SIGN
        factor.x = x - factor.shape[1] * factor.cell[0]
        self._above(block, factor)
        result = self._result(step, top.x, y)
        block.matrices += [factor, result]
        block.tops.append(result)
        self._beside(block, step, result, factor)
        if fresh and not self.taught and {top.kind, factor.kind} == {"given"}:
            self.taught = True
            self._worked(block, step, factor, top)

    def _worked(self, block: Block, step: Step, left: Matrix, top: Matrix) -> None:
        """The first box of the sheet, written out in the empty corner."""
        text = step.grid.cells[0][0].text.replace(" + ", "  +  ")
        room = top.x - ACROSS - left.x - 3
        text += f"  =  {step.values[0][0] if self.solved else '?'}"
        said = [f"The first box of {step.name}: row times column.",
                *lines(text, 8.5, room)]  # fmt: skip
        tall = left.y - DOWN - top.y
        for n, line in enumerate(said[: max(0, int(tall / 4.6))]):
            block.words.append(
                Words(line, left.x, top.y + 3 + 4.6 * n, LETTERS if n == 0 else 8.5)
            )

    # ---------------------------------------------------------------- in a row

    def _chained(self, step: Step, source: Traced) -> None:
        """One matrix becomes the next: to the right, or below for column results."""
        block = self._last(step)
        below = step.shape[0] == 1 and source.shape[0] > 1
        wide = step.shape[1] * self.cell[0] + ARROW
        tail = block.tail if block is not None else None
        if (
            block is None
            or tail is None
            or not source.name
            or tail.name != source.name
            or (not below and block.reach + wide - block.box()[0] > self.across)
        ):
            block = self._new(step)
            tail = self._operand(source, 0, 0)
            block.matrices.append(tail)
            self._above(block, tail)
            block.tops = [tail]
            block.reach = tail.right
        if step.grid.op == "normalise":
            self._sums(block, step, tail)
        if below:
            y = max(m.bottom for m in block.matrices) + ACROSS
            result = self._result(step, tail.x, y)
            block.matrices.append(result)
            self._beside(block, step, result, result)
        else:
            result = self._result(step, block.reach + ARROW, tail.y)
            middle = tail.y + min(tail.bottom - tail.y, result.bottom - tail.y) / 2
            block.arrows.append((block.reach + ARROW / 2, middle))
            block.matrices.append(result)
            self._titled(block, step, result)
        block.tops.append(result)

    def _sums(self, block: Block, step: Step, tail: Matrix) -> None:
        """Boxes for the sums that shares are divided by."""
        columns = list(zip(*step.values, strict=True))
        down = all(abs(float(sum(c)) - 1) < 1e-6 for c in columns)
        wide, tall = self.cell
        if down:
            sums: list[list[Number]] = [
                [exact(sum(c)) for c in zip(*tail.values, strict=True)]
            ]
            x, y = tail.x, tail.bottom + 1
        else:
            sums = [[exact(sum(row))] for row in tail.values]
            x, y = tail.right + 1, tail.y
        made = Matrix("", sums, "sums", "", x, y, (wide, tall), tail.digits)
        block.matrices.append(made)
        word = Words("sums", x - 1, _middle(made), 6.5, "plain", 1.0)
        if not down:
            word = Words("sums", x + wide / 2, made.bottom + 2.8, 6.5, "plain", 0.5)
        block.words.append(word)
        block.reach = max(block.reach, made.right)

    def _stacked(self, step: Step) -> None:
        """One matrix on top of the other becomes a taller one."""
        block = self._new(step)
        y = 0.0
        for part in step.grid.operands:
            made = self._operand(part, 0, y)
            block.matrices.append(made)
            self._above(block, made)
            y = made.bottom + DOWN
        block.arrows.append((made.right + ARROW / 2, (y - DOWN) / 2))
        result = self._result(step, made.right + ARROW, 0)
        block.matrices.append(result)
        block.tops = [result]
        self._beside(block, step, result, result)

    def _inline(self, step: Step) -> None:
        """Several matrices entry by entry, with their signs: f · c + i · g."""
        block = self._new(step)
        x, middle = 0.0, step.shape[0] * self.cell[1] / 2 + 1.3
        for item in [*_row(step.grid, step.formula), "="]:
            if isinstance(item, str):
                room = max(SIGN, width(item, 11, "plain") + 2)
                block.words.append(Words(item, x + room / 2, middle, 11, shift=0.5))
                x += room
            else:
                made = self._operand(item, x, 0)
                block.matrices.append(made)
                self._above(block, made)
                x = made.right
        result = self._result(step, x, 0)
        block.matrices.append(result)
        block.tops = [result]
        self._beside(block, step, result, result)

    # ------------------------------------------------------------------- parts

    def _last(self, step: Step) -> Block | None:
        here = self.blocks[-1] if self.blocks else None
        return here if here is not None and here.part == step.part else None

    def _new(self, step: Step) -> Block:
        self.blocks.append(Block(step.part))
        return self.blocks[-1]

    def _operand(self, grid: Traced, x: float, y: float) -> Matrix:
        """What a step is made from: given numbers, or a copy of an earlier step."""
        turned = grid.op == "transpose" and not grid.name
        origin = grid.operands[0] if turned else grid
        step = next((s for s in self.ws.steps if s.name == origin.name), None)
        kind = "copy" if step is None or step.asked else "given"
        made = Matrix(
            grid.name or grid.label, grid.values, kind, step.role if step else "",
            x, y, self.cell, step.digits if step else grid.digits,
        )  # fmt: skip
        if step is not None:
            made.cols, made.rows = (
                (step.rows, step.cols) if turned else (step.cols, step.rows)
            )
        return made

    def _result(self, step: Step, x: float, y: float) -> Matrix:
        return Matrix(
            step.name, step.values, "asked", step.role, x, y, self.cell, step.digits,
            step.cols, step.rows,
        )  # fmt: skip

    def _above(self, block: Block, m: Matrix) -> None:
        """Name and shape of an operand, above it, and what its columns stand for."""
        y = m.y - 1.3
        if m.cols and not isinstance(m.cols, str):
            y -= 3.2
        shape = f"{m.shape[0]}×{m.shape[1]}"
        block.words.append(Words(m.name, m.x, y, 10, "name"))
        after = m.x + width(m.name, 10, "name") + 1.6
        copied = {"copy": ", copy"}.get(m.kind, "")
        wide = m.right - after
        for text in (f"{shape}{copied}", shape, ""):
            if width(text, 6.5) <= wide + 1.5:
                break
        block.words.append(Words(text, after, y, 6.5, "faint"))
        if isinstance(m.cols, str) and m.cols:
            room = wide - width(text, 6.5) - 2
            if width(m.cols, 6.5) <= room:
                block.words.append(Words(m.cols, m.right, y, 6.5, "faint", 1.0))

    def _beside(self, block: Block, step: Step, m: Matrix, factor: Matrix) -> None:
        """What a result is: to its right, or left of its factor where none is left."""
        told = self._told(step, BESIDE)
        room = max(width(text, size, style) for text, size, style in told)
        x, y = m.right + 2.5, m.y + 3.6
        block.tail, block.reach = m, x + room
        if x + room - block.box()[0] > self.across:
            x = factor.x - 3 - room
            block.reach = m.right
        for text, size, style in told:
            block.words.append(Words(text, x, y, size, style))
            y += 4.2 if size > 8 else LINE

    def _titled(self, block: Block, step: Step, m: Matrix) -> None:
        """What a result is, above it."""
        told = self._told(step, max(m.right - m.x + ARROW / 2, 30))
        y = m.y - 1.3
        if m.cols and not isinstance(m.cols, str):
            y -= 3.2
        for text, size, style in reversed(told):
            block.words.append(Words(text, m.x, y, size, style))
            y -= LINE
        room = max(width(text, size, style) for text, size, style in told)
        block.tail, block.reach = m, max(m.right, m.x + room - ARROW + 2.5)

    def _told(self, step: Step, room: float) -> list[tuple[str, float, str]]:
        shape = f"{step.shape[0]}×{step.shape[1]}"
        head = f"{step.name} = {step.formula}"
        told = [(head, 10.0, "name")]
        if width(head, 10, "name") > room:
            told = [(step.name, 10.0, "name")]
            told += [(f"= {t}", 8.0, "name") for t in lines(step.formula, 8, room)]
        notes = [step.note] if step.note else []
        if step.exact is not None:
            notes.append(f"rounded to {_decimals(step.digits)}")
        elif any(isinstance(x, float) for row in step.values for x in row):
            notes.append(_decimals(step.digits))
        for text in lines("; ".join([shape, *notes]), LETTERS, room):
            told.append((text, LETTERS, "plain"))
        return told


def _decimals(digits: int) -> str:
    return {0: "whole numbers", 1: "one decimal", 2: "two decimals"}.get(
        digits, f"{digits} decimals"
    )


def _middle(m: Matrix) -> float:
    return (m.y + m.bottom) / 2 + 1.2


def _leaves(grid: Traced) -> Iterator[Traced]:
    """The matrices that an expression is made of, from left to right."""
    for part in grid.operands:
        if part.name or part.op == "transpose":
            yield part
        else:
            yield from _leaves(part)


def _product(grid: Traced) -> tuple[Traced | None, Traced | None]:
    """The product within f(W x + b), and b, where a step is just that."""
    if grid.op == "product":
        simple = all(p.name or p.op == "transpose" for p in grid.operands)
        return (grid if simple else None), None
    unnamed = [p for p in grid.operands if not p.name]
    if not unnamed:
        return None, None
    if len(grid.operands) == 1:
        return _product(unnamed[0])
    first, second = grid.operands[0], grid.operands[1]
    if grid.op in ("bias", "sum") and second.name and not first.name:
        product, bias = _product(first)
        return (product, second) if bias is None else (None, None)
    return None, None


def _row(grid: Traced, label: str) -> list[Traced | str]:
    """An expression as matrices and the signs between them.

    label : the expression in words; a named grid has lost its own
    """
    items: list[Traced | str] = []
    for n, part in enumerate(grid.operands):
        if n:
            items.append(_sign(grid, label))
        whole = part.name or part.op == "transpose"
        items += [part] if whole else _row(part, part.label)
    if len(grid.operands) == 1:
        before, _, after = label.partition(grid.operands[0].label)
        items = [before.strip(), *items, after.strip()]
    merged: list[Traced | str] = []
    for item in (i for i in items if i != ""):
        if merged and isinstance(item, str) and isinstance(merged[-1], str):
            merged[-1] = f"{merged[-1]} {item}".replace("( ", "(").replace(" )", ")")
        else:
            merged.append(item)
    return merged


def _sign(grid: Traced, label: str) -> str:
    if grid.op in ("sum", "bias"):
        return "+"
    first, second = (p.label for p in grid.operands[:2])
    between = label.removeprefix(first).removesuffix(second).strip()
    known = {"product": "times", "concat": "on top of", "mask": "where"}
    return known.get(grid.op, between if between in ("·", "−") else "·")


__all__ = ["Block", "Matrix", "Words", "blocks"]
