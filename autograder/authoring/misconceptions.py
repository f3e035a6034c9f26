"""Wrong answers with the hint a student needs, and right answers of another kind.

A chapter's `misconceptions.py` holds plain functions under two decorators. Their
source text is what counts: it is executed in the notebook's own namespace, just
as if a student had typed it into the answer cell.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
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
_MARK = "known_answer"


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
    if not isinstance(hint, str):
        raise TypeError("a hint is a text")
    return _marked("wrong", answer, hint)


def right(answer: str) -> Callable[[F], F]:
    """Mark a function as another right answer to `answer`."""
    return _marked("right", answer, "")


def _marked(kind: str, answer: str, hint: str) -> Callable[[F], F]:
    if not isinstance(answer, str):
        raise TypeError(f'name the exercise: @{kind}("softmax")')

    def mark(fn: F) -> F:
        if hasattr(fn, _MARK):
            raise TypeError(f"{fn.__name__} has two decorators: copy it")
        setattr(fn, _MARK, (kind, answer, hint))
        return fn

    return mark


def path_of(chapter: str, root: Path | None = None) -> Path:
    """Where a chapter keeps its wrong and right answers."""
    return source_file(chapter, root).with_name("misconceptions.py")


def load(chapter: str, root: Path | None = None) -> list[Answer]:
    """Read `misconceptions.py` in file order.

    Raises CourseError, with file and line, for a decorated thing that is not a
    plain function or class, a name used twice, or a wrong answer without a hint.
    """
    path = path_of(chapter, root)
    module = load_module(path)  # syntax errors and bad imports show here
    text = path.read_text(encoding="utf-8-sig")
    lines = text.split("\n")  # once: ast.get_source_segment does it for every answer
    answers: list[Answer] = []
    seen: set[str] = set()
    for node in ast.parse(text).body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        mark = getattr(getattr(module, node.name, None), _MARK, None)
        if mark is None or not node.decorator_list:
            continue
        kind, answer, hint = mark
        if node.name in seen:
            raise complain(
                path, node.lineno, f"{node.name} is there twice", "rename one"
            )
        seen.add(node.name)
        if isinstance(node, ast.AsyncFunctionDef):
            raise complain(
                path, node.lineno, f"{node.name} is async", "use a plain def"
            )
        if kind == "wrong" and not hint.strip():
            raise complain(
                path, node.lineno, f"{node.name} has no hint", 'add hint="..."'
            )
        assert node.end_lineno is not None
        source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        is_right, line = kind == "right", node.lineno
        answers.append(
            Answer(node.name, answer, is_right, hint, source, line, path.parent)
        )
    for name, thing in vars(module).items():
        if getattr(thing, _MARK, None) is not None and name not in seen:
            raise CourseError(
                f"{path}: {name} is marked, but is no function or class of this file",
                "write a def under the decorator, at the left margin",
            )
    return answers


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
    opening = re.compile(rf"^(\s*(?:def|class)\s+){re.escape(answer.name)}\b")
    return textwrap.dedent(
        opening.sub(rf"\g<1>{answer.answer}", answer.source, count=1)
    )


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
