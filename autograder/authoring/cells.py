"""What an assignment is made of: its cells, and how an author's error is said."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CourseError

ROLES = ("given", "answer", "check", "written", "explore")


@dataclass
class Cell:
    """One cell of the source.

    kind   : "code" or "markdown"
    role   : one of ROLES
    id     : None for prose and for given cells that nothing refers to
    line   : where the cell begins in the source file
    forbid : names that the answer of this check must not use
    limits : what it may use more than usual: "seconds", "memory" (bytes)
    """

    kind: str
    role: str
    text: str
    line: int
    id: str | None = None
    points: float = 0.0
    forbid: list[str] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)


@dataclass
class Assignment:
    """A chapter's assignment as its source states it."""

    chapter: str
    path: Path
    cells: list[Cell]

    def by_role(self, role: str) -> list[Cell]:
        """The cells of one role, in order."""
        return [c for c in self.cells if c.role == role]

    def answer(self, name: str) -> Cell:
        """The answer cell with this id."""
        return next(c for c in self.by_role("answer") if c.id == name)

    @property
    def points(self) -> float:
        """The points of the whole assignment."""
        return sum(c.points for c in self.cells)


def complain(path: Path, line: int, message: str, mend: str) -> CourseError:
    """The author's error: where it is, what it is, how to mend it."""
    return CourseError(f"{path}:{line}: {message}", mend)


def defines_itself(cell: Cell) -> bool:
    """True when the answer cell defines a function or class named like its id."""
    return any(
        isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == cell.id
        for node in ast.parse(cell.text).body
    )
