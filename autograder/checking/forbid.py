"""Whether an answer uses what its exercise asks to write by oneself.

Read from the text, as a person would read it: from the answer on to the helpers and
other names of the notebook that it uses, and to what those use. What else stands in
the notebook may use anything. It is a rule of the exercise and no wall: whoever goes
to great lengths to hide a call can; whoever looks for help in a helper is told.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from .statements import ANY, Statement, statements, tree

#: ways around a forbidden name; an exercise that forbids one forbids these too
DETOURS = {
    *("eval", "exec", "compile", "getattr", "globals", "vars", "getmembers"),
    *("__import__", "import_module", "importlib", "builtins", "__builtins__"),
    *("attrgetter", "methodcaller", "getattr_static", "loads", "pickle"),
    *("CompilationUnit", "get_ipython"),
}
#: what a notebook gives without a line that binds it
_GIVEN = {"display", "In", "Out", "exit", "quit", "__name__", "__file__", "__doc__"}
#: those of them that are one as an attribute too (`re.compile` is not), and more
_ATTRIBUTES = DETOURS - {"eval", "exec", "compile"} | {"__dict__", "__getattribute__"}


def forbidden_in(
    others: Iterable[str],
    text: str | list[str],
    answer: str,
    forbidden: list[str],
) -> str | None:
    """Why an answer may not count: it uses a name that its exercise forbids.

    others    : the notebook's other cells that may have run before, in order
    text      : the answer's cell, or all the cells that bind it, in order
    answer    : the name of the function or class
    forbidden : names that it must not use

    A variable of the student's own may be called like a forbidden function:
    `jacobian = torch.diag(p) - ...` is no call of the library's, and `vars = ...` in
    a function no way around. None as well for a
    text that is no Python: that shows where it runs.
    """
    texts = [t for t in ([text] if isinstance(text, str) else text) if tree(t)]
    if text and not texts:
        return None
    mine = [s for part in texts for s in statements(part)]
    rest = [s for other in others for s in statements(other)]
    start = _last(mine, answer)
    if not start:
        return unreadable(answer)
    start += [s for s in [*rest, *mine] if s.binds_later(answer)]
    return _Reader(answer, forbidden, [*rest, *mine]).read(start)


def unreadable(answer: str) -> str:
    """What is said of an answer whose text is not to be found."""
    return (
        f"the source of {answer} could not be read: "
        "define it with def (or class) in its own answer cell"
    )


def _last(mine: Iterable[Statement], answer: str) -> list[Statement]:
    """The statements that make the answer what it is: the last definition, and
    earlier ones as far as it builds on them."""
    found = []
    for statement in reversed([s for s in mine if answer in s.binds]):
        found.append(statement)
        if statement.defines(answer):
            break
    return found


class _Reader:
    """Reads on from an answer to everything of the notebook that it uses."""

    def __init__(
        self, answer: str, forbidden: list[str], known: list[Statement]
    ) -> None:
        self.answer, self.forbidden = answer, frozenset(forbidden)
        self.binding: dict[str, list[Statement]] = {}
        self.altering: dict[str, list[Statement]] = {}
        for statement in known:
            for name in statement.binds:
                self.binding.setdefault(name, []).append(statement)
            for name in statement.alters:
                self.altering.setdefault(name, []).append(statement)

    def read(self, start: list[Statement]) -> str | None:
        """The sentence for the first forbidden name, or None."""
        row: list[tuple[Statement, str]] = [(s, "") for s in start]
        row += [(s, "") for s in self._changes(self.answer)]
        row += [(s, name) for name in self.binding if name.startswith(".__")
                for s in self.binding[name]]  # fmt: skip
        seen = {id(statement) for statement, _ in row}
        for statement, through in row:  # it grows
            names = set(statement.reads) - {self.answer}
            name = _named(statement.node, self.forbidden) or next(
                iter(sorted(n for n in names if self._not_allowed(n))), None
            )
            if name:
                by = f" ({through.lstrip('.')} uses it)" if through else ""
                return (
                    f"this exercise asks you to write it yourself, without {name}{by}"
                )
            for used in sorted(names | {f".{a}" for a in statement.attributes}):
                for found in self._makers(used):
                    if id(found) not in seen:
                        seen.add(id(found))
                        row.append((found, used))
        return None

    def _not_allowed(self, name: str) -> bool:
        """Whether a name may not be read; a function's own variable is no such name."""
        return name in DETOURS or (name in self.forbidden and not self._own(name))

    def _own(self, name: str) -> bool:
        """Whether a name is the student's own, and no library's."""
        return any(not s.imports for s in self.binding.get(name, ()))

    def _makers(self, name: str) -> Iterator[Statement]:
        """What makes a name of the notebook what it is."""
        yield from self.binding.get(name, ())
        if not name.startswith("."):
            yield from self._changes(name)
            known = name in self.binding or name in _GIVEN
            if not known and not hasattr(builtins, name):
                yield from self.binding.get(ANY, ())

    def _changes(self, name: str) -> Iterator[Statement]:
        if self._own(name):
            yield from self.altering.get(name, ())


def _named(node: ast.AST, forbidden: frozenset[str]) -> str | None:
    """The first forbidden attribute or import in a piece of code."""
    own = _methods(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load):
            mine = isinstance(inner.value, ast.Name) and inner.value.id == "self"
            if inner.attr in forbidden and not (mine and inner.attr in own):
                return inner.attr
            if inner.attr in _ATTRIBUTES:
                return inner.attr
        elif isinstance(inner, (ast.Import, ast.ImportFrom)):
            # a whole module may be there for something else: its use would show
            module = inner is node and isinstance(inner, ast.Import)
            if name := _imported(inner, frozenset() if module else forbidden):
                return name
    return None


def _imported(
    node: ast.Import | ast.ImportFrom, forbidden: frozenset[str]
) -> str | None:
    """What an import takes that it must not."""
    words = [alias.name.rpartition(".")[2] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        words += set((node.module or "").split(".")) & DETOURS
    return next((w for w in words if w in forbidden or w in DETOURS), None)


def _methods(node: ast.AST) -> set[str]:
    """The methods of a class."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    return {part.name for part in body if isinstance(part, ast.FunctionDef)}


# ------------------------------------------------------------------ in a notebook


def forbidden_call(
    fn: Any, answer: str, forbidden: list[str], names: dict[str, Any]
) -> str | None:
    """The same for a live answer, with the helpers that it finds now.

    names : the notebook's names

    One whose source can't be read does not count either: an exercise that forbids a
    call asks for a `def` in the answer cell.
    """
    described = list(_described(answer, fn, names))
    text = "\n".join(described)
    if not described or tree(text) is None:
        return unreadable(answer)
    row, seen = [text], {answer}
    for part in row:  # it grows
        for name in sorted({n for s in statements(part) for n in s.reads} - seen):
            seen.add(name)
            if name in names:
                row += _described(name, names[name], names)
    return forbidden_in(row[1:], text, answer, forbidden)


def _described(name: str, value: Any, names: dict[str, Any]) -> Iterator[str]:
    """Code that binds a name to what it is: a helper's source, or a library's name."""
    if isinstance(value, (list, tuple, set, dict)):
        items = value.values() if isinstance(value, dict) else value
        for item in list(items)[:50]:
            yield from _described(name, item, names)
    elif isinstance(value, functools.partial):
        yield from _described(name, value.func, names)
    elif text := _source(value, names):
        yield text
        if value.__name__ == "<lambda>":
            found = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Lambda)]
            yield f"{name} = [{', '.join(map(ast.unparse, found))}]"
        elif not any(name in s.binds for s in statements(text)):
            yield f"{name} = {value.__name__}"
    elif _source(type(value), names):
        yield from _described(name, type(value), names)
    elif callable(value):
        title = getattr(value, "__name__", type(value).__name__)
        if isinstance(title, str) and title.isidentifier():
            yield f"{name} = library.{title}"


def _source(thing: Any, names: dict[str, Any]) -> str | None:
    """The source of a function or class of the notebook itself, if it can be read."""
    if isinstance(thing, type):
        if thing.__module__ != names.get("__name__"):
            return None
    elif getattr(_unwrapped(thing), "__globals__", None) is not names:
        return None
    try:
        text = textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        text = _put_together(thing, names) if isinstance(thing, type) else ""
    return text if text and tree(text) else None


def _unwrapped(thing: Any) -> Any:
    return inspect.unwrap(thing) if inspect.isfunction(thing) else thing


def _put_together(thing: type, names: dict[str, Any]) -> str:
    """A class from its methods: of a class in a notebook, Python finds no source."""
    methods = [getattr(part, "__func__", part) for part in vars(thing).values()]
    parts = [_source(method, names) for method in methods]
    bases = ", ".join(f"library.{base.__name__}" for base in thing.__bases__)
    body = textwrap.indent("\n".join(filter(None, parts)) or "pass", "    ")
    return f"class {thing.__name__}({bases}):\n{body}"
