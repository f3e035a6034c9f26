"""Which names a cell binds and which it mentions, read from its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

#: lines that only a notebook understands
_MAGIC = re.compile(r"(?m)^[ \t]*[%!?].*$|^.*\?[ \t]*$")
_SIMPLE = re.compile(
    r"(?m)^(?:(?:async\s+)?def\s+|class\s+)?([^\W\d]\w*)\s*(?:[(:]|=[^=])"
)


@lru_cache(4096)
def tree(text: str) -> ast.Module | None:
    """The syntax tree of a cell without its notebook commands; None if it has none."""
    for attempt in (text, _MAGIC.sub("", text)):
        try:
            return ast.parse(attempt)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


@lru_cache(4096)
def bound(text: str) -> frozenset[str]:
    """The names that a cell binds at its top level.

    Of a text that is no Python (half an answer), what looks like a definition.
    """
    parsed = tree(text)
    if parsed is None:
        return frozenset(_SIMPLE.findall(text))
    return frozenset(_bound(parsed.body))


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0]
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, ast.ExceptHandler) and inner.name:
                yield inner.name
        for field in ("body", "orelse", "finalbody"):
            yield from _bound(getattr(node, field, []))
        for handler in getattr(node, "handlers", []):
            yield from _bound(handler.body)


@lru_cache(4096)
def mentioned(text: str) -> frozenset[str]:
    """Every name that a cell mentions; none when it is no Python."""
    parsed = tree(text)
    if parsed is None:
        return frozenset()
    return frozenset(n.id for n in ast.walk(parsed) if isinstance(n, ast.Name))


@lru_cache(4096)
def free(text: str) -> frozenset[str]:
    """The names that a cell reads and does not bind anywhere in it."""
    parsed = tree(text)
    if parsed is None:
        return frozenset()
    own = {node.arg for node in ast.walk(parsed) if isinstance(node, ast.arg)}
    for node in ast.walk(parsed):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            own.add(node.id)
    return mentioned(text) - own


def imports(text: str) -> list[str]:
    """The import statements at the top level of a cell, as text."""
    parsed = tree(text)
    kinds = (ast.Import, ast.ImportFrom)
    body = parsed.body if parsed else []
    return [ast.unparse(node) for node in body if isinstance(node, kinds)]
