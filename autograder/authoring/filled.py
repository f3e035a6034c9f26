"""Cells that the build writes from the chapter's worksheet."""

from __future__ import annotations

from pathlib import Path

from ..paths import load_worksheet
from ..worksheet.data import chapter_sheet


def included(chapter: str, name: str, root: Path | None = None) -> str:
    """The text of a given cell that holds the worksheet's numbers.

    name : a dict in the chapter's worksheet.py, variable name -> rows of numbers;
           its module may have NOTES, variable name -> comment
    """
    sheet = load_worksheet(chapter, root)
    notes = getattr(sheet, "NOTES", {})
    blocks = []
    for variable, table in getattr(sheet, name).items():
        comment = f"  # {notes[variable]}" if variable in notes else ""
        opening = f"{variable} = torch.tensor(["
        width = max(len(str(x)) for row in table for x in row)
        rows = [", ".join(str(x).rjust(width) for x in row) for row in table]
        body = "".join(f"    [{row}],\n" for row in rows)
        blocks.append(f"{opening}{comment}\n{body}])")
    return "\n".join(blocks)


def by_hand(chapter: str, names: list[str], root: Path | None = None) -> list[str]:
    """A table answer to fill in, and its solution as the worksheet computes it.

    names : steps of the chapter's worksheet; "A_floor=A" calls step A another name
    """
    sheet = chapter_sheet(chapter, root=root)
    blank, solved = [], []
    for name in names:
        variable, _, step_name = name.partition("=")
        step = sheet[step_name or variable]
        empty = [["..." for _ in row] for row in step.values]
        numbers = [[repr(x) for x in row] for row in step.values]
        blank += _table(variable, empty)
        table = _table(variable, numbers)
        solved += [f"{table[0]}    # {step.formula}", *table[1:]]
    return [*blank, "### BEGIN SOLUTION", *solved, "### END SOLUTION"]


def _table(variable: str, cells: list[list[str]]) -> list[str]:
    wide = max(len(x) for row in cells for x in row)
    rows = [", ".join(x.rjust(wide) for x in row) for row in cells]
    indent = " " * len(f"{variable} = [")
    lines = [f"{indent}[{row}]," for row in rows]
    lines[0] = f"{variable} = [[{rows[0]}],"
    lines[-1] = f"{lines[-1][:-1]}]"
    return lines
