"""The assignment as the grader holds it: what a submission is rebuilt from.

Everything that judges is here: checks with their hidden cases, points, given cells,
expected values, limits. Made once a run from the built notebooks; it never enters a
jail as a whole.
"""

from __future__ import annotations

import builtins
import json
import re
import textwrap
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..checking.judge import Expected
from ..errors import CourseError
from . import names
from .limits import Limits, limits_of

_HIDDEN = re.compile(
    r"(?ms)^[ \t]*### BEGIN HIDDEN TESTS[^\n]*\n(.*?)^[ \t]*### END HIDDEN TESTS[^\n]*$"
)
#: lines that the build puts around a check; here there is nothing to open or to show
_FRAME = re.compile(r"(?m)^(from autograder import check|check\.(start|score)\(.*\))$")


@dataclass(frozen=True)
class MasterCell:
    """A cell of the assignment.

    kind     : "code" or "markdown"
    role     : "prose", "given" (locked), "open" (given, and the student's to change),
               "answer", "check" or "written"
    name     : the id under which it is graded, "" for prose and open cells
    id       : the notebook's own id of the cell
    text     : as students get it
    full     : as it is graded: a check with its hidden region
    metadata : as released
    """

    kind: str
    role: str
    name: str
    id: str
    text: str
    full: str
    points: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """The answer that a check judges."""
        return self.name.removesuffix("-check")

    @cached_property
    def visible_lines(self) -> str:
        """A check's lines that students see, without the build's own."""
        return _FRAME.sub("", self.text).strip("\n")

    @cached_property
    def hidden_lines(self) -> str:
        """A check's hidden lines."""
        return "\n".join(textwrap.dedent(part) for part in _HIDDEN.findall(self.full))


@dataclass(frozen=True)
class Master:
    """An assignment to grade against.

    expected : what the reference gives, and known wrong answers with their hints
    digest   : fingerprint of everything that decides a score
    seed     : what hidden cases draw their inputs from; None: as they were built
    files    : what lies beside the notebook
    """

    assignment: str
    cells: tuple[MasterCell, ...]
    expected: Expected
    limits: Limits
    digest: str = ""
    seed: int | None = None
    files: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, MasterCell]:
        """The graded and given cells by name."""
        return {cell.name: cell for cell in self.cells if cell.name}

    @cached_property
    def checks(self) -> list[MasterCell]:
        """The checks in order."""
        return [cell for cell in self.cells if cell.role == "check"]

    @cached_property
    def given(self) -> dict[str, MasterCell]:
        """The names that given cells bind, and no answer: name -> the cell."""
        found: dict[str, MasterCell] = {}
        for cell in self.cells:
            if cell.role == "given":
                found |= dict.fromkeys(names.bound(cell.text), cell)
        for cell in self.cells:
            if cell.role == "answer":
                for name in self.names_of(cell):
                    found.pop(name, None)
        return found

    def names_of(self, answer: MasterCell) -> frozenset[str]:
        """The names that an answer is to bind: the function, or its tables."""
        return names.bound(answer.text) | names.bound(answer.full)

    def needed(self, text: str) -> list[str]:
        """The given names that some lines need, directly or through given helpers."""
        wanted: set[str] = set()
        row = set(names.mentioned(text)) & set(self.given)
        while row:
            wanted |= row
            more = {n for name in row for n in names.mentioned(self.given[name].text)}
            row = (more & set(self.given)) - wanted
        return sorted(wanted)

    def plain(self, text: str) -> list[str]:
        """The names of Python's own that some lines mean: bound by no cell of ours."""
        return sorted((names.mentioned(text) & set(dir(builtins))) - self._bound)

    @cached_property
    def _bound(self) -> frozenset[str]:
        return frozenset[str]().union(*(names.bound(cell.full) for cell in self.cells))

    def limits_for(self, check: MasterCell) -> Limits:
        """The limits of one check and its answer."""
        return self.limits.but(self.expected.checks[check.name].get("limits", {}))

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The imports of the given cells, without the course's own."""
        lines = [
            line
            for cell in self.cells
            if cell.role == "given" and cell.kind == "code" and cell.id != "checker"
            for line in names.imports(cell.text)
        ]
        return tuple(line for line in lines if "autograder" not in line)


def load(
    assignment: str,
    root: Path,
    *,
    hidden: bool = True,
    seed: int | None = None,
    digest: str = "",
) -> Master:
    """The master of an assignment, from its built notebooks and expected values.

    hidden : False for the visible cases only, as a student has them
    seed   : draw the hidden cases' inputs from this, instead of as built
    digest : fingerprint of everything that decides a score

    Raises CourseError when something is not built.
    """
    released = root / "exercises" / assignment
    source = root / "solutions" / assignment if hidden else released
    cells = []
    full = _notebook(source / f"{assignment}.ipynb")
    shown = _notebook(released / f"{assignment}.ipynb")
    if len(full) != len(shown):
        raise CourseError(
            f"the released {assignment} has other cells than its source",
            f"run: python -m autograder build {assignment}",
        )
    for whole, open_ in zip(full, shown, strict=True):
        cells.append(_cell(whole, open_))
    if seed is not None:
        from .fresh import expected as drawn

        expected = drawn(assignment, root, seed)
    else:
        expected = Expected.read(
            released / f"{assignment}.expected.json",
            source / f"{assignment}.hidden.json" if hidden else None,
        )
    limits = limits_of(assignment, root)
    return Master(assignment, tuple(cells), expected, limits, digest, seed)


def _notebook(path: Path) -> list[dict[str, Any]]:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(
            f"{path} can't be read ({type(error).__name__})",
            "run: python -m autograder build",
        ) from None
    for cell in cells:
        cell["source"] = "".join(cell["source"])
    return list(cells)


def _cell(whole: dict[str, Any], shown: dict[str, Any]) -> MasterCell:
    info = whole["metadata"].get("nbgrader", {})
    code = whole["cell_type"] == "code"
    if info.get("grade"):
        role = "written" if info.get("solution") else "check"
    elif info.get("solution"):
        role = "answer"
    elif info.get("locked"):
        role = "given"
    else:
        role = "open" if code else "prose"
    return MasterCell(
        whole["cell_type"],
        role,
        str(info.get("grade_id", "")),
        str(whole.get("id", "")),
        shown["source"],
        whole["source"],
        float(info.get("points", 0.0)),
        shown["metadata"],
    )
