"""Which names a cell binds and which it mentions, read from its text."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..checking.statements import tree

_SIMPLE = re.compile(
    r"(?m)^(?:(?:async\s+)?def\s+|class\s+)?([^\W\d]\w*)\s*(?:[(:]|=[^=])"
)


@dataclass(frozen=True)
class Names:
    """The names in a cell.

    bound     : those that it binds at its top level; of a text that is no Python (half
                an answer), what looks like a definition
    mentioned : all; none when it is no Python
    free      : those that it reads and does not bind anywhere
    """

    bound: frozenset[str]
    mentioned: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()


#: what was read before, by the digest of the text (a text may be large)
_known: dict[bytes, Names] = {}


def read(text: str) -> Names:
    """The names in a cell."""
    key = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    if key not in _known:
        if len(_known) > 5000:
            _known.clear()
        _known[key] = _read(text)
    return _known[key]


def _read(text: str) -> Names:
    parsed = tree(text)
    if parsed is None:
        return Names(frozenset(_SIMPLE.findall(text)))
    mentioned, own = set(), set()
    for node in ast.walk(parsed):
        if isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name):
            mentioned.add(node.id)
            if not isinstance(node.ctx, ast.Load):
                own.add(node.id)
    bound = frozenset(_bound(parsed.body))
    return Names(bound, frozenset(mentioned), frozenset(mentioned - own))


def bound(text: str) -> frozenset[str]:
    """The names that a cell binds at its top level."""
    return read(text).bound


def mentioned(text: str) -> frozenset[str]:
    """Every name that a cell mentions."""
    return read(text).mentioned


def free(text: str) -> frozenset[str]:
    """The names that a cell reads and does not bind anywhere in it."""
    return read(text).free


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


def imports(text: str) -> list[str]:
    """The import statements at the top level of a cell, as text."""
    parsed = tree(text)
    kinds = (ast.Import, ast.ImportFrom)
    body = parsed.body if parsed else []
    return [ast.unparse(node) for node in body if isinstance(node, kinds)]
