"""Things that go wrong in a worker, for tests: functions that a new process imports."""

from __future__ import annotations

import os
from typing import Any

from autograder.engine import pool
from autograder.engine.graded import Graded, Handed

real = pool._work
real_grade = pool.grade


def ends(number: int, handed: Handed) -> Graded:
    """The worker ends whenever it has ada-lin's submission in hand."""
    if handed.student == "ada-lin":
        pool._hands.work[pool._slot] = number  # type: ignore[union-attr]
        os._exit(1)
    return real(number, handed)


def fails(number: int, handed: Handed) -> Graded:
    """The grader itself has a fault that shows with ada-lin."""
    pool.grade = broken  # type: ignore[assignment]
    return real(number, handed)


def broken(master: Any, handed: Handed, *more: Any) -> Graded:
    """As `grade`, with the fault."""
    if handed.student == "ada-lin":
        raise ZeroDivisionError("a fault of the grader")
    return real_grade(master, handed, *more)


def no_start(*args: Any) -> None:
    """No worker ever starts."""
    os._exit(1)
