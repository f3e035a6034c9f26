"""Whether an answer calls what its exercise asks to write by oneself."""

from __future__ import annotations

from collections.abc import Iterable

from .check import forbidden_name


def forbidden_in(
    others: Iterable[str], text: str, answer: str, forbidden: list[str]
) -> str | None:
    """The sentence for the first forbidden name in an answer's text, or None."""
    try:
        return forbidden_name(text, answer, forbidden)
    except (SyntaxError, ValueError, RecursionError):
        return None
