"""A class for tests of grading: honest, careless, damaged and hostile submissions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

SOFTMAX = """\
def softmax(scores):
    exp = (scores - scores.max(dim=0, keepdim=True).values).exp()
    return exp / exp.sum(dim=0, keepdim=True)"""

ROWS = """\
def softmax(scores):
    return torch.exp(scores) / torch.exp(scores).sum(1, keepdim=True)"""

CHECK = """\
class Check:
    start = __call__ = lambda self, *a, **k: None
    score = lambda self: 1000.0
check = Check()"""


def cell(notebook: NotebookNode, name: str) -> NotebookNode:
    """The cell with this nbgrader id."""
    return next(c for c in notebook.cells if _id(c) == name)


def _id(c: NotebookNode) -> str | None:
    return c.metadata.get("nbgrader", {}).get("grade_id")


def answer(notebook: NotebookNode, softmax: str = SOFTMAX) -> None:
    """Fill in right answers (or another softmax)."""
    cell(notebook, "softmax").source = softmax
    cell(notebook, "twice").source = "D = [[2, 4], [6, -8]]"
    cell(notebook, "why").source = "Each is divided by its column's sum."


def good(notebook: NotebookNode) -> None:
    """All right, with helpers, imports and noise on stderr that cost nothing."""
    noisy = SOFTMAX.replace("    return", "    warnings.warn('x')\n    return")
    answer(notebook, noisy)
    place = notebook.cells.index(cell(notebook, "softmax"))
    notebook.cells.insert(place, new_code_cell("import sys, warnings"))
    noise = "print('note', file=sys.stderr)\n"
    cell(notebook, "twice").source = noise + cell(notebook, "twice").source


def blank(notebook: NotebookNode) -> None:
    """Handed in as it came."""


def wrong(notebook: NotebookNode) -> None:
    """A known mistake."""
    answer(notebook, ROWS)


def half(notebook: NotebookNode) -> None:
    """Half of the table, and a function that can't be compiled."""
    answer(notebook, "def softmax(scores)\n    return scores")
    cell(notebook, "twice").source = "D = [[2, 4], [..., ...]]"


def damaged(notebook: NotebookNode) -> None:
    """Checks deleted, doubled, edited; a foreign cell; the set-up cell deleted."""
    answer(notebook)
    cells = notebook.cells
    for name in ("softmax-check", "setup"):
        cells.remove(cell(notebook, name))
    check = cell(notebook, "twice-check")
    check.source = "check.score()"
    check.metadata.nbgrader["points"] = 1000
    doubled = copy.deepcopy(check)
    doubled.id = "doubled"
    cells.append(doubled)
    foreign = copy.deepcopy(check)
    foreign.id = "foreign"
    foreign.metadata.nbgrader["grade_id"] = "another-course"
    cells.append(foreign)


def replaced_check(notebook: NotebookNode) -> None:
    """Puts something else in the place of `check`, under a wrong answer."""
    answer(notebook, f"{ROWS}\n\n{CHECK}")


def killer(notebook: NotebookNode) -> None:
    """Ends the kernel."""
    answer(notebook, "import os\nos._exit(0)")


NOTEBOOKS: dict[str, Callable[[NotebookNode], None]] = {
    "good": good,
    "blank": blank,
    "wrong": wrong,
    "half": half,
    "damaged": damaged,
    "replaced-check": replaced_check,
    "killer": killer,
}

#: what is no notebook at all: name -> bytes of the file
BROKEN: dict[str, bytes] = {
    "empty": b"",
    "list": b"[]",
    "no-json": b"{",
    "latin-1": '{"cells": "\xe9"}'.encode("latin-1"),
    "old-format": b'{"worksheets": [], "nbformat": 3}',
    "cells-are-text": b'{"cells": ["a"], "nbformat": 4, "nbformat_minor": 5}',
    "deep": b"[" * 100_000,
}


#: everyone whose submission can't be read
UNREADABLE = [*BROKEN, "missing", "absent", "link", "large"]


def odd_class(root: Path) -> None:
    """Write the submissions of everyone above, and four that nobody can read."""
    released = root / "exercises" / "attention" / "attention.ipynb"
    for name, change in NOTEBOOKS.items():
        notebook = nbformat.read(released, as_version=4)
        change(notebook)
        nbformat.write(notebook, _place(root, name))
    for name, content in BROKEN.items():
        _place(root, name).write_bytes(content)
    _place(root, "missing").with_name("other.ipynb").write_text("{}")
    _place(root, "link").symlink_to(released)
    _place(root, "large").write_bytes(b" " * (11 * 2**20))
    _place(root, "absent")


def _place(root: Path, student: str) -> Path:
    path = root / "class" / "submitted" / student / "attention" / "attention.ipynb"
    path.parent.mkdir(parents=True)
    return path
