"""What the statements of a notebook's cells bind, change and read, from their text."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

#: lines that only a notebook understands, and values that such a line gives
_COMMAND = re.compile(r"(?m)^[ \t]*[%!?].*$|^.*\?[ \t]*$")
_GIVEN_BY_COMMAND = re.compile(r"(?m)(=[ \t]*)[%!].*$")
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_BINDERS = {"exec", "eval", "globals", "vars", "locals", "builtins", "__builtins__"}
_BINDERS |= {"get_ipython"}
#: the longest text that is read (its tree takes some hundred times as much memory), and
#: the longest whose statements are remembered
LONGEST, SHORT = 100_000, 5_000
#: stands for every name
ANY = "*"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at the top level of a cell (of an import, one name of it).

    binds  : the names that it defines; ".name" where it sets an attribute, ANY where
             it may define others that can't be seen (`exec`, `globals()`)
    alters : the names whose value it changes: `table["a"] = 1`, `table.append(1)`
    """

    node: ast.stmt
    binds: frozenset[str]
    alters: frozenset[str]

    @property
    def imports(self) -> bool:
        """Whether it is an import."""
        return isinstance(self.node, (ast.Import, ast.ImportFrom))

    def defines(self, name: str) -> bool:
        """Whether it binds a name for certain, whatever the name was before."""
        if isinstance(self.node, _SCOPES):
            return self.node.name == name and name not in self.now
        simple = isinstance(self.node, (ast.Assign, ast.AnnAssign)) or self.imports
        return simple and name in self.binds and name not in self.now

    def binds_later(self, name: str) -> bool:
        """Whether it binds a name when it is called, and not when it runs."""
        inner = isinstance(self.node, _SCOPES) and self.node.name != name
        return inner and name in self.binds

    @cached_property
    def _table(self) -> symtable.SymbolTable | None:
        try:
            return symtable.symtable(ast.unparse(self.node), "<cell>", "exec")
        except _UNREADABLE:
            return None

    @cached_property
    def now(self) -> frozenset[str]:
        """The names that it reads when it runs; all of its names if that is unknown."""
        if self._table is None:
            return frozenset(
                n.id for n in ast.walk(self.node) if isinstance(n, ast.Name)
            )
        symbols = self._table.get_symbols()
        return frozenset(s.get_name() for s in symbols if s.is_referenced())

    @cached_property
    def reads(self) -> frozenset[str]:
        """These, and what its functions read of the notebook's names when called."""
        return self.now | frozenset(_globals(self._table)) if self._table else self.now

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes that it mentions anywhere."""
        walked = ast.walk(self.node)
        return frozenset(n.attr for n in walked if isinstance(n, ast.Attribute))


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    for inner in table.get_children():
        for symbol in inner.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                yield symbol.get_name()
        yield from _globals(inner)


def tree(text: str) -> ast.Module | None:
    """The syntax tree of a cell without its notebook commands; None if it has none, or
    would have a giant one."""
    if len(text) > LONGEST:
        return None
    without = _GIVEN_BY_COMMAND.sub(r"\1None", _COMMAND.sub("", text))
    for attempt in (text, without):
        try:
            return ast.parse(attempt)
        except _UNREADABLE:
            continue
    return None


def statements(text: str) -> tuple[Statement, ...]:
    """The statements of a cell; none if it is no Python, or nested too deep."""
    return _remembered(text) if len(text) < SHORT else _made(text)


def _made(text: str) -> tuple[Statement, ...]:
    parsed = tree(text)
    try:
        return tuple(_statements(parsed)) if parsed else ()
    except RecursionError:
        return ()


_remembered = lru_cache(256)(_made)


def _statements(parsed: ast.Module) -> Iterator[Statement]:
    for node in parsed.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                if isinstance(node, ast.Import):
                    one: ast.stmt = ast.Import([alias])
                else:
                    one = ast.ImportFrom(node.module, [alias], node.level)
                yield Statement(one, frozenset({name}), frozenset())
            continue
        binds = {*_bound(node), *(ANY for _ in _unseen(node))}
        yield Statement(node, frozenset(binds), frozenset(_altered(node)))


def _unseen(node: ast.AST) -> Iterator[ast.Name]:
    """What in a statement may bind names that its text does not show."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in _BINDERS:
            yield inner


def _bound(node: ast.AST) -> Iterator[str]:
    """The names, and ".names" of attributes, that a statement binds."""
    if isinstance(node, _SCOPES):
        yield node.name
        for inner in ast.walk(node):
            if isinstance(inner, ast.Global):
                yield from inner.names
        return
    if isinstance(node, ast.Lambda) or (
        isinstance(node, ast.AnnAssign) and node.value is None
    ):
        return
    if isinstance(node, ast.comprehension):  # its own names are nobody else's
        for part in (node.iter, *node.ifs):
            yield from _bound(part)
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (a.asname or a.name.partition(".")[0] for a in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield f".{node.attr}"
    elif (
        isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name
    ):
        yield node.name
    elif isinstance(node, ast.Call):
        yield from _set_by_call(node)
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _set_by_call(call: ast.Call) -> Iterator[str]:
    """What `setattr(x, "name", ...)` binds."""
    if isinstance(call.func, ast.Name) and call.func.id == "setattr":
        for name in call.args[1:2]:
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield f".{name.value}"


def _altered(node: ast.AST) -> Iterator[str]:
    """The names whose value a statement changes in place."""
    if isinstance(node, (*_SCOPES, ast.Lambda)):
        return
    place: ast.AST | None = None
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        place = node if isinstance(node.ctx, ast.Store) else None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        place = node.func
    while isinstance(place, (ast.Attribute, ast.Subscript)):
        place = place.value
    if isinstance(place, ast.Name):
        yield place.id
    for child in ast.iter_child_nodes(node):
        yield from _altered(child)
