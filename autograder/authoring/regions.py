"""The regions of a cell that students don't get: their markers, and their rules."""

from __future__ import annotations

import re
from pathlib import Path

from .cells import Cell, complain

_REGION = re.compile(r"^\s*### (BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*$")
#: what is meant as a marker, however it is written
_NEARLY = re.compile(
    r"^\s*(?:#+|=+)\s*(?:BEGIN|END)\s+(?:SOLUTION|HIDDEN|MARK\s*SCHEME)", re.IGNORECASE
)
_SCHEME_LINE = "=== {} MARK SCHEME ==="
_SCHEME = re.compile(r"^=== (BEGIN|END) MARK SCHEME ===$")


def check_regions(cell: Cell, path: Path) -> None:
    """Complain about markers that are misspelt, misplaced, nested or not closed."""
    opened: tuple[str, int] | None = None
    for offset, text in enumerate(cell.text.splitlines(), 1):
        found = _REGION.match(text)
        scheme = _SCHEME.match(text) if found is None else None
        if found is None and scheme is None:
            if _NEARLY.match(text):
                raise complain(
                    path,
                    cell.line + offset,
                    f"not a marker: {text.strip()!r}",
                    "write exactly `### BEGIN SOLUTION`, `### BEGIN HIDDEN TESTS` or "
                    f"`{_SCHEME_LINE.format('BEGIN')}`, and END in the same way",
                )
            continue
        word = (found or scheme)[1]  # type: ignore[index]
        what = found[2] if found else "MARK SCHEME"
        line = cell.line + offset
        owner = {"SOLUTION": "answer", "HIDDEN TESTS": "check"}.get(what, "written")
        if cell.role != owner:
            raise complain(
                path, line, f"{what} marker in a cell of role {cell.role}",
                f"{what} regions belong in cells of role {owner}",
            )  # fmt: skip
        if word == "BEGIN":
            if opened is not None:
                raise complain(
                    path, line, f"{what} region inside another one",
                    f"close the one of line {opened[1]} first",
                )  # fmt: skip
            opened = (what, line)
        elif opened is None or opened[0] != what:
            raise complain(
                path, line, f"END {what} without a BEGIN", f"add {_written(what)}"
            )
        else:
            opened = None
    if opened is not None:
        raise complain(
            path, opened[1], f"unclosed {opened[0]} region",
            f"add {_written(opened[0], 'END')} where it ends",
        )  # fmt: skip
    if cell.role == "answer" and "### BEGIN SOLUTION" not in cell.text:
        raise complain(
            path, cell.line, f"answer {cell.id} has no SOLUTION region",
            "put the reference between ### BEGIN SOLUTION and ### END SOLUTION",
        )  # fmt: skip


def _written(what: str, word: str = "BEGIN") -> str:
    marks = ("=== ", " ===") if what == "MARK SCHEME" else ("### ", "")
    return f"`{marks[0]}{word} {what}{marks[1]}`"


def without_hidden(text: str) -> str:
    """A check cell's text without its hidden region."""
    return re.sub(
        r"(?ms)^\s*### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS[^\n]*\n?", "", text
    ).rstrip("\n")
