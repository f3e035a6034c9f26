"""Run an assignment with its reference answers, in this process, case by case.

The build takes the expected values from here, `verify` the values of wrong,
right and blank answers, the simulation the names a notebook defines.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..checking.record import Record, Recorder
from ..checking.salt import FRESH, set_salt, with_fresh
from ..checking.values import encode
from ..errors import CourseError
from ..paths import line_of
from .misconceptions import Answer, apply, execute
from .source import Assignment, Cell, complain

Setter = Callable[[dict[str, Any]], object]


def walk(
    assignment: Assignment, seed: int | None = None
) -> Iterator[tuple[Cell, Cell, Runner]]:
    """Run given cells and reference answers in order; stop at every check.

    seed : draw the inputs of hidden cases from it; None for the committed ones

    Yields (check cell, its answer cell, a runner for the check's cases).
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in assignment.cells:
        if cell.kind != "code" or cell.role == "explore":
            continue
        if cell.role == "check":
            answer = assignment.answer(str(cell.id).removesuffix("-check"))
            yield cell, answer, Runner(cell, answer, namespace, assignment.path, seed)
            continue
        try:
            execute(cell.text, str(cell.id or f"line {cell.line}"), namespace)
        except (Exception, SystemExit) as error:
            at = line_of(error, f"<cell {cell.id or f'line {cell.line}'}>")
            raise complain(
                assignment.path, cell.line + (at or 0),
                f"this cell raises {type(error).__name__}: {error}",
                "the reference must run from top to bottom",
            ) from error  # fmt: skip


def unfit(data: Any) -> str | None:
    """What in an encoded value is no data and can't be compared, or None."""
    if isinstance(data, dict):
        if data.get("kind") == "opaque":
            return f"a {data['type']}"
        data = list(data.values())
    parts = (unfit(v) for v in data) if isinstance(data, list) else ()
    return next((odd for odd in parts if odd), None)


def given_names(assignment: Assignment) -> dict[str, Any]:
    """The namespace of the notebook after every given cell and reference answer."""
    namespace: dict[str, Any] = {}
    for _, _, runner in walk(assignment):
        namespace = runner.namespace
    return namespace


def cleared(answer: Cell) -> str:
    """An answer cell's text as released: the solution regions taken out."""
    from nbformat.v4 import new_code_cell  # nbgrader takes a second to load

    from ..grading.preprocessors import NamedStubs

    cell = new_code_cell(answer.text)
    cell.metadata["nbgrader"] = {"grade_id": answer.id, "solution": True}
    NamedStubs()._replace_solution_region(cell, "python")
    return str(cell.source)


class Runner:
    """Runs one check cell, with the reference or with another answer in its place."""

    def __init__(
        self,
        check: Cell,
        answer: Cell,
        namespace: dict[str, Any],
        path: Path,
        seed: int | None = None,
    ) -> None:
        self.check, self.answer = check, answer
        self.text = check.text if seed is None else with_fresh(check.text, seed)
        self.namespace, self.path = namespace, path
        self.options: dict[str, dict[str, Any]] = {}

    def record(self, put: Setter | None = None) -> list[Record]:
        """The records of all cases, visible and hidden.

        put : changes the namespace first; it is restored afterwards
        """
        before = dict(self.namespace)
        recorder = Recorder(str(self.answer.id))
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                if put is not None:
                    put(self.namespace)
                self.namespace |= {"check": recorder, FRESH: set_salt}
                execute(self.text, str(self.check.id), self.namespace)
            finally:
                set_salt(None)
                self.namespace.clear()
                self.namespace.update(before)
        self.options = recorder.options
        return recorder.records

    def reference(self) -> list[Record]:
        """The reference's records; raises CourseError when a case gives no value."""
        try:
            records = self.record()
        except CourseError:
            raise
        except (Exception, SystemExit) as error:
            at = line_of(error, f"<cell {self.check.id}>")
            raise complain(
                self.path, self.check.line + (at or 0),
                f"check cell {self.check.id} raises {type(error).__name__}: {error}",
                "a check cell must run with the reference answer",
            ) from error  # fmt: skip
        for r in records:
            if r.status != "value" or r.mutated:
                what = "changed its arguments" if r.mutated else (r.reason or r.status)
                raise complain(
                    self.path, self.answer.line,
                    f"the reference gives no value for case {r.label!r}: {what}",
                    "mend the reference answer, or the case",
                )  # fmt: skip
            if odd := unfit(encode(r.value)):
                raise complain(
                    self.path, self.answer.line,
                    f"the reference gives {odd} in case {r.label!r}",
                    "only data can be compared: numbers, texts, arrays, containers",
                )  # fmt: skip
            if self.options[r.label]["dtype"] and not hasattr(r.value, "dtype"):
                raise complain(
                    self.path, self.check.line,
                    f"case {r.label!r} asks for a dtype, and the reference has none",
                    "take dtype=True away",
                )  # fmt: skip
        if not records:
            raise complain(
                self.path, self.check.line, f"{self.check.id} checks nothing",
                "add check(label, fn, *args)",
            )  # fmt: skip
        return records

    def other(self, answer: Answer) -> list[Record]:
        """The records when this known answer stands in place of the reference."""
        try:
            return self.record(lambda names: apply(answer, self.answer, names))
        except (Exception, SystemExit) as error:
            raise CourseError(
                f"misconceptions.py:{answer.line}: {answer.name} cannot run in the "
                f"notebook: {type(error).__name__}: {error}",
                "use only names that the notebook's given cells define",
            ) from error

    def blank(self) -> list[Record]:
        """The records of the cell as it is released, with nothing filled in."""
        text = cleared(self.answer)

        def put(names: dict[str, Any]) -> None:
            for name in list(names):
                if name == self.answer.id:
                    del names[name]
            execute(text, f"{self.answer.id} blank", names)

        return self.record(put)
