"""Wrong answers with the hint a student needs, and right answers of another kind.

A chapter's `misconceptions.py` holds plain functions under two decorators. Their
source text is what counts: it is executed in the notebook's own namespace, just
as if a student had typed it into the answer cell.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..checking.values import is_tensor
from ..errors import CourseError
from ..paths import load_module, source_file
from ..worksheet.data import draw
from .source import Assignment, Cell, complain, defines_itself

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Answer:
    """A known answer to one exercise, as source text.

    name   : what it is called in misconceptions.py
    answer : id of the exercise
    right  : True for another right answer, False for a wrong one
    hint   : what the student needs to hear (wrong answers only)
    source : the text of the function, without its decorator
    line   : where it stands in misconceptions.py
    home   : the chapter's folder
    """

    name: str
    answer: str
    right: bool
    hint: str
    source: str
    line: int
    home: Path = Path()


def wrong(answer: str, *, hint: str) -> Callable[[F], F]:
    """Mark a function as a wrong answer to `answer`, with the student's hint."""
    return _marked


def right(answer: str) -> Callable[[F], F]:
    """Mark a function as another right answer to `answer`."""
    return _marked


def _marked(fn: F) -> F:
    return fn


def path_of(chapter: str, root: Path | None = None) -> Path:
    """Where a chapter keeps its wrong and right answers."""
    return source_file(chapter, root).with_name("misconceptions.py")


def load(chapter: str, root: Path | None = None) -> list[Answer]:
    """Read `misconceptions.py` in file order.

    Raises CourseError, with file and line, for a decorated thing that is not a
    plain function or class, a name used twice, or a wrong answer without a hint.
    """
    path = path_of(chapter, root)
    load_module(path)  # syntax errors and bad imports show here, in their own words
    text = path.read_text(encoding="utf-8")
    answers: list[Answer] = []
    for node in ast.parse(text).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        for call in node.decorator_list:
            kind, answer, hint = _read_decorator(call)
            if kind is None:
                continue
            if kind == "wrong" and not hint:
                raise complain(
                    path, node.lineno, f"{node.name} has no hint", 'add hint="..."'
                )
            if node.name in (a.name for a in answers):
                raise complain(
                    path, node.lineno, f"{node.name} is there twice", "rename one"
                )
            source = ast.get_source_segment(text, node) or ""
            is_right, line = kind == "right", node.lineno
            answers.append(
                Answer(node.name, answer, is_right, hint, source, line, path.parent)
            )
    return answers


def _read_decorator(call: ast.expr) -> tuple[str | None, str, str]:
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None, "", ""
    if call.func.id not in ("wrong", "right") or not call.args:
        return None, "", ""
    hint = next((k.value for k in call.keywords if k.arg == "hint"), None)
    return (
        call.func.id,
        str(ast.literal_eval(call.args[0])),
        str(ast.literal_eval(hint)) if hint is not None else "",
    )


def check_answers(assignment: Assignment, answers: list[Answer]) -> None:
    """Raise CourseError when an answer names an exercise that does not exist."""
    names = {c.id for c in assignment.by_role("answer")}
    for a in answers:
        if a.answer not in names:
            raise CourseError(
                f"misconceptions.py:{a.line}: {a.name} answers {a.answer!r}, "
                "which is no exercise",
                f"exercises: {', '.join(sorted(map(str, names)))}",
            )


def renamed(answer: Answer) -> str:
    """The answer's source with the exercise's own name, as a student types it."""
    first, _, rest = answer.source.partition(answer.name)
    return textwrap.dedent(first + answer.answer + rest)


def execute(text: str, name: str, namespace: dict[str, Any]) -> None:
    """Run a cell's text in a namespace, with lines that tracebacks can show."""
    filename = f"<cell {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), namespace)


def apply(answer: Answer, cell: Cell, namespace: dict[str, Any]) -> list[str]:
    """Put an answer into the namespace in place of the reference.

    Returns the names it bound.
    """
    if defines_itself(cell):
        execute(renamed(answer), answer.name, namespace)
        return [answer.answer]
    execute(answer.source, answer.name, namespace)
    bound = _filled(answer, namespace.pop(answer.name))
    namespace.update(bound)
    return list(bound)


def _filled(answer: Answer, fn: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    """A table answer: {name: value}. A parameter gets the chapter's worksheet."""
    if not inspect.signature(fn).parameters:
        return fn()
    return fn(draw(load_module(answer.home / "worksheet.py").sheet, 0))


def as_cell(answer: Answer, cell: Cell, namespace: dict[str, Any] | None = None) -> str:
    """The text of the answer cell as a student with this answer would hand it in.

    cell      : the reference answer cell
    namespace : the notebook's given names, needed where the answer is a table
    """
    if defines_itself(cell):
        return renamed(answer)
    scope = dict(namespace or {})
    execute(answer.source, answer.name, scope)
    bound = _filled(answer, scope[answer.name])
    return "\n".join(f"{k} = {_literal(v)}" for k, v in bound.items())


def _literal(value: Any) -> str:
    if is_tensor(value) or hasattr(value, "tolist"):
        value = value.tolist()
    if type(value) is list and value and type(value[0]) is list:
        rows = ",\n".join(f"    [{', '.join(map(_literal, row))}]" for row in value)
        return f"[\n{rows},\n]"
    if type(value) is list:
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)
