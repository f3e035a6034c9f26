"""A worksheet: named steps over small matrices, written as the article does them.

    ws = Worksheet("attention", title="Self-attention by hand")
    X = ws.given("X", numbers["X"], role="input", cols="tokens")
    W_Q = ws.given("W_Q", numbers["W_Q"], role="weight")
    Q = ws.step("Q", W_Q @ X, role="query", note="one query per column")

Figures, the interactive sheet, the printed page and the graded questions are all
made from it. A variant number other than 0 draws other small numbers of the same
kind; see `given`.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from pathlib import Path

from ..errors import CourseError
from .trace import Cell, Number, Traced, given

ROLES = (
    "input", "weight", "bias", "activation", "output", "query", "key", "value", "score",
    "share",
)  # fmt: skip
#: how often a variant is drawn again before its author is told that none is good
TRIES = 500


class DullNumbersError(Exception):
    """A variant whose numbers are not interesting: draw again."""


@dataclass
class Step:
    """One named matrix of the sheet.

    grid    : the cells, with values, arithmetic and sources
    asked   : True for a step to fill in, False for given numbers
    digits  : decimals shown; a typed answer counts within half of the last one
    exact   : what the cells were before `rounded`, or None
    cols, rows : what a column and a row stand for ("tokens"), or labels of each
    part    : heading of the group of steps it belongs to, or ""
    """

    name: str
    grid: Traced
    role: str
    asked: bool
    note: str = ""
    formula: str = ""
    digits: int = 3
    exact: list[list[Number]] | None = None
    rows: str | Sequence[str] = ""
    cols: str | Sequence[str] = ""
    part: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.grid.shape

    @property
    def values(self) -> list[list[Number]]:
        """The numbers."""
        return self.grid.values

    @property
    def tolerance(self) -> float:
        """How far a typed answer may be off: 0 for whole numbers."""
        whole = all(isinstance(x, int) for row in self.values for x in row)
        return 0.0 if whole else 0.5 * 10.0**-self.digits


class Worksheet:
    """The steps of one by-hand example, in order."""

    def __init__(
        self, name: str, *, title: str, variant: int = 0, text: str = ""
    ) -> None:
        self.name, self.title, self.variant, self.text = name, title, variant, text
        self.steps: list[Step] = []
        self._part = ""
        self._random = random.Random(f"{name}/{variant}")

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        names = ", ".join(s.name for s in self.steps)
        raise self._error(f"there is no step {name!r}", f"steps so far: {names}")

    def part(self, title: str) -> None:
        """Begin a group of steps under a heading of its own."""
        self._part = title

    def value(self, name: str) -> list[list[Number]]:
        """The numbers of a step."""
        return self[name].values

    def given(
        self,
        name: str,
        values: Sequence[Sequence[Number]],
        *,
        role: str = "input",
        note: str = "",
        rows: str | Sequence[str] = "",
        cols: str | Sequence[str] = "",
        vary: str = "rows",
    ) -> Traced:
        """Numbers that the reader gets.

        vary : what another variant does with them: "rows" shuffles each row,
               "all" shuffles all entries, "keep" leaves them
        """
        if vary not in ("rows", "all", "keep"):
            raise self._error(f"vary={vary!r}", 'say "rows", "all" or "keep"')
        try:
            grid = given(self._varied(values, vary))
        except CourseError as error:
            raise self._error(error.message, error.mend or "") from None
        return self._add(Step(name, grid, role, False, note, rows=rows, cols=cols))

    def step(
        self,
        name: str,
        grid: Traced,
        *,
        role: str = "activation",
        note: str = "",
        formula: str = "",
        digits: int = 3,
        rounded: int | None = None,
        rows: str | Sequence[str] = "",
        cols: str | Sequence[str] = "",
        zeros: bool = False,
    ) -> Traced:
        """A matrix for the reader to compute.

        digits  : decimals shown, and how exact a typed decimal must be
        rounded : round the values to so many decimals for the steps that follow
                  too (as an article does); the exact ones are kept beside them
        zeros   : all of it may be 0 in a variant (a gate that is shut)
        """
        if not isinstance(grid, Traced):
            raise self._error(
                f"step {name!r} is not a traced matrix but a {type(grid).__name__}",
                "compute it from ws.given(...) and ws.step(...) results",
            )
        for part in _leaves(grid):
            if part.name and all(part is not s.grid for s in self.steps):
                raise self._error(
                    f"step {name!r} uses {part.name!r}, which is not of this sheet",
                    "make that step first, in this worksheet",
                )
            if not part.name and part.op == "given":
                raise self._error(
                    f"step {name!r} uses numbers without a name",
                    "give them a name first: ws.given(name, numbers)",
                )
        exact_values = None
        formula = formula or grid.label
        if rounded is not None:
            exact_values = grid.values
            grid = _rounded(grid, rounded)
            digits = rounded
        fresh = Traced(grid.cells, grid.op, grid.operands, grid.label, grid.note)
        note = note or grid.note
        made = Step(
            name, fresh, role, True, note, formula, digits, exact_values, rows, cols
        )
        if self.variant and not zeros:
            _not_all_zero(made)
        return self._add(made)

    def require(self, good: bool) -> None:
        """What a variant must satisfy beyond the general rules; else it is drawn
        again. The numbers of variant 0 are the author's own and always stand."""
        if self.variant and not good:
            raise DullNumbersError

    def _add(self, step: Step) -> Traced:
        if not step.name:
            raise self._error("a step without a name", "name every step")
        if any(s.name == step.name for s in self.steps):
            raise self._error(f"{step.name!r} is there twice", "rename one of the two")
        if step.role not in ROLES:
            raise self._error(f"unknown role {step.role!r}", f"use: {', '.join(ROLES)}")
        for labels, n, what in ((step.rows, step.shape[0], "rows"),
                                (step.cols, step.shape[1], "cols")):  # fmt: skip
            if not isinstance(labels, str) and len(labels) != n:
                raise self._error(
                    f"{step.name!r} has {n} {what}, and {len(labels)} labels for them",
                    "one label each",
                )
        cells = [x for row in step.values for x in row]
        if not all(isinstance(x, Real) for x in cells):
            raise self._error(f"{step.name!r} holds what is no number", "numbers only")
        if not all(map(math.isfinite, cells)):
            raise self._error(
                f"{step.name!r} holds an infinite number, which nobody can type",
                "mask with 0 after the powers, or with a number such as −99 before",
            )
        step.part = self._part
        step.grid.name = step.grid.label = step.name
        step.grid.digits = step.digits
        if self.variant:
            _interesting(step)
        self.steps.append(step)
        return step.grid

    def _varied(
        self, values: Sequence[Sequence[Number]], vary: str
    ) -> list[list[Number]]:
        rows = [list(row) for row in values]
        if not self.variant or vary == "keep":
            return rows
        if vary == "rows":
            for row in rows:
                self._random.shuffle(row)
            return rows
        flat = [x for row in rows for x in row]
        self._random.shuffle(flat)
        width = len(rows[0])
        return [flat[i : i + width] for i in range(0, len(flat), width)]

    def _error(self, message: str, mend: str) -> CourseError:
        """The author's error, with the line of the author's file."""
        here = Path(__file__).parent
        frame = sys._getframe(1)
        while (
            frame.f_back is not None and Path(frame.f_code.co_filename).parent == here
        ):
            frame = frame.f_back
        place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        return CourseError(f"{place}: worksheet {self.name!r}: {message}", mend)


def _leaves(grid: Traced) -> list[Traced]:
    """The named or given matrices that an expression is made of."""
    if grid.name or not grid.operands:
        return [grid]
    return [leaf for part in grid.operands for leaf in _leaves(part)]


def _rounded(grid: Traced, digits: int) -> Traced:
    def cell(c: Cell) -> Cell:
        nearest = Fraction(c.value).limit_denominator(10**12)
        scaled = nearest * 10**digits
        whole = (
            int(scaled + Fraction(1, 2))
            if scaled >= 0
            else -int(-scaled + Fraction(1, 2))
        )
        value = whole if digits == 0 else whole / 10**digits
        return Cell(value, c.text, c.binds, c.sources)

    cells = [[cell(c) for c in row] for row in grid.cells]
    return Traced(cells, grid.op, grid.operands, grid.label, grid.note)


def _interesting(step: Step) -> None:
    """Raise DullNumbersError for numbers that teach nothing."""
    numbers = [x for row in step.values for x in row]
    if step.grid.op == "relu":
        before = [x for row in step.grid.operands[0].values for x in row]
        if all(x == 0 for x in numbers) or all(x >= 0 for x in before):
            raise DullNumbersError
    if step.grid.op == "argmax":
        grid = step.grid.operands[0]
        lines = zip(*grid.values, strict=True) if step.shape[0] == 1 else grid.values
        for line in lines:
            if sorted(line)[-1] == sorted(line)[-2:][0] and len(list(line)) > 1:
                raise DullNumbersError


def _not_all_zero(step: Step) -> None:
    numbers = [x for row in step.values for x in row]
    if len(numbers) > 1 and all(x == 0 for x in numbers):
        raise DullNumbersError


__all__ = ["DullNumbersError", "Step", "Worksheet"]
