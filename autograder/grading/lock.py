"""One grader at a time: two would take each other's notebooks away."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import CourseError


@contextlib.contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file while the block runs; it opens by itself when we die.

    Raises CourseError when another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not _taken(file.fileno()):
            raise CourseError(
                f"{what} is running already, in another process",
                "wait until it is done, or stop it, then run this again",
            )
        yield


def _taken(handle: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
