"""What a student types into an answer cell: whole, half-finished or broken.

Everything is text made from the reference cell; nothing is run here.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Mapping
from typing import Any

from ..authoring.misconceptions import _literal
from ..authoring.source import Cell, defines_itself
from ..checking.values import is_tensor

_MARKER = re.compile(r"^\s*### (BEGIN|END) SOLUTION\s*$")


def whole(cell: Cell) -> str:
    """The reference as a student would have it: without the markers, and for a
    table without the blank form above it."""
    if defines_itself(cell):
        lines = [line for line in cell.text.split("\n") if not _MARKER.match(line)]
        return "\n".join(lines)
    return solution(cell)


def solution(cell: Cell) -> str:
    """The lines between the markers."""
    kept, inside = [], False
    for line in cell.text.split("\n"):
        if _MARKER.match(line):
            inside = "BEGIN" in line
        elif inside:
            kept.append(line)
    return "\n".join(kept)


def half(cell: Cell, names: Mapping[str, Any], draw: random.Random) -> tuple[str, str]:
    """An answer that somebody stopped writing: (what is wrong with it, text).

    names : the notebook's names with the reference answer in them
    """
    if not defines_itself(cell):
        return "half of the table", half_table(cell, names)
    if draw.random() < 0.5 and not _is_class(cell):
        return "returns nothing", f"{opening(cell)}\n    return None"
    return "syntax error", f"{whole(cell)}\n    unfinished = ("


def half_table(cell: Cell, names: Mapping[str, Any]) -> str:
    """The first half of every table that the reference fills in."""
    lines = []
    for name in assigned(solution(cell)):
        value = names.get(name, ...)
        if is_tensor(value) or hasattr(value, "tolist"):
            value = value.tolist()
        text = _literal(_first_half(value)).replace("Ellipsis", "...")
        lines.append(f"{name} = {text}")
    return "\n".join(lines)


def _first_half(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        return ...
    if len(value) == 1:
        return [_first_half(value[0])]
    middle = len(value) // 2
    return value[:middle] + [_emptied(v) for v in value[middle:]]


def _emptied(value: Any) -> Any:
    return [_emptied(v) for v in value] if isinstance(value, list) else ...


def assigned(text: str) -> list[str]:
    """The names that a text assigns at its top level, in order."""
    names: list[str] = []
    for node in ast.parse(text).body:
        for target in node.targets if isinstance(node, ast.Assign) else []:
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and part.id not in names:
                    names.append(part.id)
    return names


def broken(cell: Cell) -> str:
    """An answer that raises as soon as it is used."""
    if not defines_itself(cell):
        names = assigned(solution(cell))
        return "\n".join(f"{name} = my_table[{name!r}]" for name in names)
    if _is_class(cell):
        init = "    def __init__(self, *args, **kwargs):\n        super().__init__()\n"
        return f"{opening(cell)}\n{init}        self.ready = my_setup(self)"
    return f"{opening(cell)}\n    result = my_helper({cell.id})\n    return result"


def opening(cell: Cell) -> str:
    """The text of a definition up to its docstring: what precedes the body."""
    node = _definition(cell)
    first = node.body[0]
    is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    end = (first.end_lineno or first.lineno) if is_doc else first.lineno - 1
    lines = [line for line in cell.text.split("\n")[:end] if not _MARKER.match(line)]
    return "\n".join(lines)


def _definition(cell: Cell) -> ast.FunctionDef | ast.ClassDef:
    for node in ast.parse(cell.text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == cell.id:
            return node
    raise ValueError(f"{cell.id} defines nothing")


def _is_class(cell: Cell) -> bool:
    return isinstance(_definition(cell), ast.ClassDef)
