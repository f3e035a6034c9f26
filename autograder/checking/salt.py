"""Fresh inputs for hidden cases: a salt that changes what `randn` draws.

While a salt is set, the same seed gives other numbers, and the same salt gives the
same ones again, everywhere. The grader sets one for the hidden part of each check
cell, so that nobody can have tuned an answer to the hidden inputs; without one,
every seed means what it always meant.
"""

from __future__ import annotations

import hashlib
import re
import threading

import numpy as np

#: the name under which a check cell made by `with_fresh` calls `set_salt`
FRESH = "__fresh__"

#: a seed or salt is a whole number from 0 to below this
SEEDS = 2**32

_MARKER = re.compile(r"^([ \t]*)### (BEGIN|END) HIDDEN TESTS[ \t]*$", re.MULTILINE)
_salt: int | None = None
_streams = threading.local()


def set_salt(salt: int | None) -> None:
    """Draw from here on with this salt, or as always (None)."""
    global _salt
    _salt = salt


def stream(seed: int) -> np.random.RandomState:
    """The numbers of a seed, under the salt that is set: a frozen stream of numpy.

    One generator for each thread, set to its beginning: a new one would first ask the
    system for numbers of its own, which takes ten times as long.
    """
    if not hasattr(_streams, "own"):
        _streams.own = np.random.RandomState(0)
    own: np.random.RandomState = _streams.own
    own.seed(seed if _salt is None else salted(_salt, seed))
    return own


def salted(salt: int, seed: int) -> int:
    """Another seed for each pair of a salt and a seed, from 0 to 2**32 - 1."""
    digest = hashlib.sha256(f"{salt}:{seed}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def with_fresh(source: str, salt: int) -> str:
    """A check cell's text with the salt set in its hidden region, line for line.

    The text calls `__fresh__`: whoever runs it puts `set_salt` under that name.
    """

    def call(found: re.Match[str]) -> str:
        return f"{found[1]}{FRESH}({salt if found[2] == 'BEGIN' else None})"

    return _MARKER.sub(call, source)
