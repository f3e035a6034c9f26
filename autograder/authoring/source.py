"""Read the one source of an assignment: a jupytext percent file, and its rules.

Jupytext does the parsing. This file says what the cells mean (roles, ids,
points), and tells the author, with file and line, when they do not add up.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import jupytext

from ..checking.salt import with_fresh
from ..engine.limits import GIB, Limits
from ..errors import CourseError
from ..paths import source_file
from .cells import ROLES, Assignment, Cell, complain, defines_itself
from .filled import by_hand, included
from .regions import check_regions, without_hidden

#: limits that a cell may have of its own
_LIMITS = ("seconds", "memory")
_KNOWN_KEYS = {"id", "role", "points", "forbid", "include", "fill", *_LIMITS}
_MARKER = re.compile(r"^#\s*%%")
_ID = re.compile(r"^[A-Za-z][A-Za-z0-9_-]{0,49}$")
#: ids of cells that the build adds, or gives to cells that have none
_TAKEN = re.compile(r"^(colab|cell-\d+)$")


def read(chapter: str, root: Path | None = None) -> Assignment:
    """Read and check `solutions/<chapter>/<chapter>.py`.

    Raises CourseError naming file, line and mend for anything that is off.
    """
    path = source_file(chapter, root)
    try:
        text = path.read_text(encoding="utf-8-sig")
        notebook = jupytext.reads(text, fmt="py:percent")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise complain(path, line, "this is not UTF-8", "save it as UTF-8") from None
    except Exception as error:  # jupytext's, about a header that it can't read
        raise complain(
            path, 1, f"jupytext can't read this: {str(error).splitlines()[0]}",
            "take out the header (what stands before the first `# %%`)",
        ) from None  # fmt: skip
    lines = [i for i, s in enumerate(text.split("\n"), 1) if _MARKER.match(s)]
    if len(lines) != len(notebook.cells):
        lines = [1, *lines][: len(notebook.cells)]
    assignment = Assignment(chapter, path, [])
    for raw, line in zip(notebook.cells, lines, strict=True):
        assignment.cells.append(_cell(raw, line, path, chapter, root))
    _check_whole(assignment)
    return assignment


def _cell(raw: Any, line: int, path: Path, chapter: str, root: Path | None) -> Cell:
    meta = dict(raw.metadata)
    role = str(meta.get("role", "given"))
    if role not in ROLES:
        raise complain(
            path, line, f"unknown role {role!r}", f"use one of: {', '.join(ROLES[1:])}"
        )
    for key in meta:
        if key not in _KNOWN_KEYS and key not in ("lines_to_next_cell", "tags"):
            raise complain(
                path,
                line,
                f"unknown cell metadata {key!r}",
                f"known keys: {', '.join(sorted(_KNOWN_KEYS))}",
            )
    cell = Cell(raw.cell_type, role, raw.source, line, meta.get("id"))
    if cell.kind == "raw":
        raise complain(path, line, "a raw cell", "use `# %%` or `# %% [markdown]`")
    if role != "given" and cell.id is None:
        raise complain(path, line, f"a cell of role {role} has no id", 'add id="..."')
    if cell.id is not None and not _ID.match(str(cell.id)):
        raise complain(
            path, line, f"the id {cell.id!r} is not a name",
            "a letter, then at most 49 letters, digits, _ and -",
        )  # fmt: skip
    if cell.id is not None and _TAKEN.match(str(cell.id)):
        raise complain(path, line, f"the build needs the id {cell.id!r}", "rename it")
    wants = {
        "answer": "code",
        "check": "code",
        "explore": "code",
        "written": "markdown",
    }
    if wants.get(role, cell.kind) != cell.kind:
        raise complain(
            path,
            line,
            f"a cell of role {role} must be a {wants[role]} cell",
            "mark it with `# %% [markdown]`" if role == "written" else "use `# %%`",
        )
    if role in ("check", "written"):
        points: Any = meta.get("points")
        number = isinstance(points, (int, float)) and not isinstance(points, bool)
        if not number or not 0 < points < 1e6:
            raise complain(path, line, f"{cell.id} has no points", "add points=3")
        cell.points = float(points)
    elif "points" in meta:
        raise complain(
            path, line, f"points on a cell of role {role}", "points belong on the check"
        )
    cell.forbid = meta.get("forbid", [])
    names = isinstance(cell.forbid, list) and all(
        isinstance(name, str) for name in cell.forbid
    )
    if not names or (cell.forbid and role != "check"):
        raise complain(
            path, line, f"forbid={cell.forbid!r} on a cell of role {role}",
            'on the check, write forbid=["softmax", "exp"]',
        )  # fmt: skip
    cell.limits = _limits(meta, cell, path)
    if "include" in meta:
        if role != "given" or cell.kind != "code" or cell.text.strip():
            raise complain(
                path, line, "include belongs on a given code cell that is empty",
                "leave it empty: the build fills it",
            )  # fmt: skip
        try:
            cell.text = included(chapter, str(meta["include"]), root)
        except (AttributeError, TypeError, ValueError) as error:
            raise complain(
                path, line, f"include={meta['include']!r} can't be used: {error}",
                "worksheet.py needs such a dict: variable name -> rows of numbers",
            ) from None  # fmt: skip
    if "fill" in meta:
        if role != "answer" or cell.text.strip():
            raise complain(
                path, line, "fill belongs on an empty cell of role answer",
                "the build writes the blank form and the solution",
            )  # fmt: skip
        cell.text = "\n".join(by_hand(chapter, list(meta["fill"]), root))
    check_regions(cell, path)
    _check_code(cell, path)
    return cell


def _limits(meta: dict[str, Any], cell: Cell, path: Path) -> dict[str, Any]:
    """The limits that a cell has of its own."""
    limits = {key: meta[key] for key in _LIMITS if key in meta}
    if limits and cell.role not in ("check", "explore"):
        raise complain(
            path, cell.line, f"{' and '.join(limits)} on a cell of role {cell.role}",
            "limits belong on a check (they hold for its answer too) or on an "
            "explore cell",
        )  # fmt: skip
    try:
        Limits().but(limits)
    except CourseError as error:
        raise complain(path, cell.line, error.message, error.mend or "") from None
    memory = limits.get("memory", GIB)
    if type(memory) is not int or memory < GIB:
        raise complain(
            path, cell.line, f"memory={memory!r} is too little: torch alone takes half "
            "of a GiB",
            f"memory counts bytes; 6 GiB are memory={6 * GIB}",
        )  # fmt: skip
    return limits


def _check_code(cell: Cell, path: Path) -> None:
    """Complain about code that is no Python, an answer that defines something else,
    and labels that are no plain text."""
    if cell.kind != "code" or cell.role == "explore":
        return
    try:
        ast.parse(cell.text)
    except (SyntaxError, ValueError) as error:
        at = getattr(error, "lineno", None) or 0
        raise complain(
            path, cell.line + at, f"this is no Python: {error.args[0]}",
            "cells are plain Python, without notebook commands (% and !)",
        ) from None  # fmt: skip
    indented = re.search(r"^\s+### BEGIN SOLUTION", cell.text, re.MULTILINE)
    if cell.role == "answer" and indented and not defines_itself(cell):
        raise complain(
            path, cell.line, f"answer {cell.id!r} defines no {cell.id}",
            "name the function or class like the id (for a table: the region at the "
            "left margin)",
        )  # fmt: skip
    if cell.role != "check":
        return
    # a label in a hidden region may be put together; it is never released
    try:
        released = ast.parse(without_hidden(cell.text))
    except SyntaxError:
        raise complain(
            path, cell.line, f"{cell.id} is no Python without its hidden region",
            "students get what remains: hide whole statements",
        ) from None  # fmt: skip
    try:
        if re.search(r"^[ \t]+### \w+ HIDDEN TESTS", cell.text, re.MULTILINE):
            raise SyntaxError("indented")
        ast.parse(with_fresh(cell.text, 0))
    except SyntaxError as error:
        raise complain(
            path, cell.line + (error.lineno or 0),
            f"the markers of {cell.id}'s hidden region stand where no statement can",
            "put BEGIN and END at the left margin, between whole statements: what is "
            "between them runs by itself",
        ) from None  # fmt: skip
    for node in ast.walk(released):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "check"
        ):
            label = node.args[0] if node.args else None
            if not (
                isinstance(label, ast.Constant)
                and isinstance(label.value, str)
                and label.value.strip()
                and label.value.isprintable()
            ):
                raise complain(
                    path, cell.line, f"a case of {cell.id} has no plain label",
                    'its first argument is a text in quotes: check("the label", ...)',
                )  # fmt: skip


def _check_whole(assignment: Assignment) -> None:
    path, seen = assignment.path, {}  # type: ignore[var-annotated]
    for cell in assignment.cells:
        if cell.id is None:
            continue
        if cell.id in seen:
            raise complain(
                path, cell.line, f"duplicate id {cell.id!r}",
                f"rename one; the first is on line {seen[cell.id]}",
            )  # fmt: skip
        seen[cell.id] = cell.line
    checks = {c.id for c in assignment.by_role("check")}
    answers = {c.id for c in assignment.by_role("answer")}
    for cell in assignment.by_role("answer"):
        if f"{cell.id}-check" not in checks:
            raise complain(
                path, cell.line, f"answer {cell.id!r} has no check",
                f'add a cell id="{cell.id}-check" role="check" points=...',
            )  # fmt: skip
    for cell in assignment.by_role("check"):
        if str(cell.id).removesuffix("-check") not in answers:
            raise complain(
                path, cell.line, f"check {cell.id!r} belongs to no answer",
                "name it <answer id>-check",
            )  # fmt: skip
        answer = assignment.answer(str(cell.id).removesuffix("-check"))
        if cell.forbid and not defines_itself(answer):
            raise complain(
                path, cell.line, f"forbid has no effect: {answer.id!r} is a table",
                "forbid names in answers that are functions or classes",
            )  # fmt: skip
