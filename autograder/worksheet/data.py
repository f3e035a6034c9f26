"""A worksheet as data: what the page, the notebook and the printed sheet share.

    {"name": "attention", "title": ..., "text": ..., "variants": [
        {"variant": 0, "steps": [
            {"name": "Q", "role": "query", "asked": true, "part": "", "note": ...,
             "formula": "W_Q X", "op": "product", "operands": ["W_Q", "X"],
             "digits": 3, "tolerance": 0, "rows": "" or [...], "cols": "tokens",
             "cells": [[{"v": "2", "x": 2, "t": "1·2 + 1·0 + ...",
                         "s": [["W_Q", 0, 0], ["X", 0, 0], ...]}, ...], ...]}, ...]}]}

`v` is the value as written on paper (a fraction stays one), `x` the same as a
number, `t` the arithmetic without the result, `s` the cells it uses, counted from
0. A step that rounds for the steps after it also has `e`, the exact value. An
operand is the name of a step, or {"of": name, "op": "transpose"} for a step turned
on its side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import CourseError
from ..paths import line_of, load_worksheet
from .sheet import TRIES, DullNumbersError, Step, Worksheet
from .trace import Traced, written

#: how many sets of numbers a page carries: the article's own, and these
VARIANTS = 5


def draw(make: Callable[[int], Worksheet], variant: int) -> Worksheet:
    """The sheet with the numbers of a variant; dull numbers are drawn again.

    make    : the chapter's `sheet(variant)`
    variant : 0 for the author's own numbers, or any other whole number
    """
    if variant == 0:
        return _made(make, 0)
    for attempt in range(TRIES):
        try:
            return _made(make, variant + attempt * 1_000_003)
        except DullNumbersError:
            continue
    raise CourseError(
        f"no interesting numbers in {TRIES} tries for variant {variant}",
        "let more of the given numbers vary, or require less",
    )


def _made(make: Callable[[int], Worksheet], variant: int) -> Worksheet:
    """The sheet; what goes wrong in the author's file is said with its line."""
    path = make.__code__.co_filename if hasattr(make, "__code__") else ""
    try:
        sheet = make(variant)
    except DullNumbersError:
        raise
    except CourseError as error:
        if re.match(r"[^ ]*\.py:\d+: ", error.message):
            raise
        place = _place(path, error)
        raise CourseError(f"{place}{error.message}", error.mend or "") from None
    except Exception as error:
        place = _place(path, error)
        raise CourseError(
            f"{place}{type(error).__name__}: {error}", "see `Add a chapter` in the book"
        ) from error
    if not isinstance(sheet, Worksheet) or not any(s.asked for s in sheet.steps):
        raise CourseError(
            f"{Path(path).name}: sheet({variant}) gives no worksheet with steps",
            "make steps with ws.step(...), and end with `return ws`",
        )
    return sheet


def _place(path: str, error: BaseException) -> str:
    line = line_of(error, path)
    return f"{Path(path).name}:{line}: " if line else ""


def chapter_sheet(
    chapter: str, variant: int = 0, root: Path | None = None
) -> Worksheet:
    """A chapter's worksheet from its sources.

    Raises CourseError when its worksheet.py has no `sheet(variant)`.
    """
    module = load_worksheet(chapter, root)
    if not hasattr(module, "sheet"):
        raise CourseError(
            f"solutions/{chapter}/worksheet.py has no function sheet(variant)",
            "see `Add a chapter` in the book",
        )
    return draw(module.sheet, variant)


def as_data(
    make: Callable[[int], Worksheet], variants: int = VARIANTS
) -> dict[str, Any]:
    """The sheet with the author's numbers and `variants` other sets of numbers."""
    sheets = [draw(make, v) for v in range(variants + 1)]
    return {
        "name": sheets[0].name,
        "title": sheets[0].title,
        "text": sheets[0].text,
        "variants": [
            {"variant": n, "steps": [step_data(s) for s in sheet.steps]}
            for n, sheet in enumerate(sheets)
        ],
    }


def step_data(step: Step) -> dict[str, Any]:
    """One step as plain data."""
    cells: list[list[dict[str, Any]]] = []
    for i, row in enumerate(step.grid.cells):
        cells.append([])
        for j, cell in enumerate(row):
            entry: dict[str, Any] = {
                "v": written(cell.value, step.digits),
                "x": round(float(cell.value), 9),
            }
            if step.asked:
                entry["t"] = cell.text
                entry["s"] = [list(s) for s in dict.fromkeys(cell.sources)]
            if step.exact is not None:
                entry["e"] = written(step.exact[i][j], 6)
            cells[-1].append(entry)
    return {
        "name": step.name,
        "role": step.role,
        "asked": step.asked,
        "part": step.part,
        "note": step.note,
        "formula": step.formula,
        "op": step.grid.op,
        "operands": [_operand(o) for o in step.grid.operands],
        "digits": step.digits,
        "tolerance": step.tolerance,
        "rows": step.rows if isinstance(step.rows, str) else list(step.rows),
        "cols": step.cols if isinstance(step.cols, str) else list(step.cols),
        "cells": cells,
    }


def _operand(grid: Traced) -> Any:
    if grid.name:
        return grid.name
    if grid.op == "transpose" and grid.operands[0].name:
        return {"of": grid.operands[0].name, "op": "transpose"}
    return {"op": grid.op, "operands": [_operand(o) for o in grid.operands]}


def dumps(data: dict[str, Any]) -> str:
    """The data as compact text, the same every time."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def step_of(data: dict[str, Any], name: str, variant: int = 0) -> dict[str, Any]:
    """A step's data by name; raises CourseError naming those there are."""
    steps = data["variants"][variant]["steps"]
    for step in steps:
        if step["name"] == name:
            return dict(step)
    names = ", ".join(s["name"] for s in steps)
    raise CourseError(
        f"worksheet {data['name']!r} has no step {name!r}", f"steps: {names}"
    )
