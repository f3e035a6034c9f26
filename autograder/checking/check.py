"""`check`: what a student calls to see whether an answer is right.

    check("the worked example", softmax, SCORES)

records one case. The first and last line of a check cell, written by the build,
open the cell's record and show its verdict; the last one gives the score, which
stock nbgrader reads as the cell's partial credit. A check that can't decide
raises or scores 0: it never gives marks by default.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import CourseError
from . import judge as judging
from .forbid import forbidden_call
from .judge import Expected, Verdict
from .record import Record, run_case
from .show import as_html, as_text, headline

MIME = "application/vnd.by-hand.check+json"


class Score(float):
    """A score that prints as a number; a notebook shows nothing more of it."""

    def __repr__(self) -> str:
        return float.__repr__(self)

    def _repr_html_(self) -> str:
        """Nothing: the verdict above says it; nbgrader reads the plain text."""
        return "<span hidden></span>"


class Check:
    """The cases of the check cell that is running, and how to show them."""

    def __init__(self) -> None:
        self._assignment: str | None = None
        self._id = ""
        self._answer = ""
        self._records: list[Record] = []
        self._known: Expected | None = None
        self._refused: str | None = None
        self._loaded: dict[tuple[Path, Path | None, float], Expected] = {}
        self.verdict: Verdict | None = None

    def start(self, assignment: str, answer: str) -> None:
        """Open the record of one check cell (the build writes this line)."""
        self._assignment, self._answer = assignment, answer
        self._id = f"{answer}-check"
        self._records = []
        expected = self._known = self._expected()
        forbidden = expected.checks[self._id].get("forbid", [])
        names = sys._getframe(1).f_globals
        self._refused = None
        if forbidden and answer in names:
            self._refused = forbidden_call(names[answer], answer, forbidden, names)

    def __call__(
        self,
        label: str,
        fn: Callable[..., Any],
        *args: Any,
        weight: float = 1,
        tol: float | None = None,
        dtype: bool = False,
    ) -> None:
        """Record what `fn(*args)` gives, under a label.

        label  : the case's name, unique in its cell
        fn     : your function, or a `lambda:` that gives the value
        weight : how much the case counts among the cases of its cell
        tol    : absolute tolerance, for values rounded by hand
        dtype  : True when the dtype must be the expected one too

        One case that fails or raises does not stop the next.
        """
        if self._assignment is None:
            raise CourseError(
                "check(...) was called outside a check cell",
                "run the whole check cell, with its first line check.start(...)",
            )
        self._records.append(run_case(label, fn, args, self._answer))

    def score(self) -> Score:
        """Show the verdict of the cell and return its score in points."""
        expected = self._known
        if self._assignment is None or expected is None:
            raise CourseError("no check cell was opened", "run the whole check cell")
        if self._refused:
            verdict = judging.refuse(self._id, self._refused, expected)
        else:
            verdict = judging.judge(self._id, self._records, expected)
        self._assignment = None
        self.verdict = verdict
        _display(verdict)
        return Score(verdict.score)

    def _expected(self) -> Expected:
        assert self._assignment is not None
        visible, hidden = find_expected(self._assignment)
        stamp = visible.stat().st_mtime
        key = (visible, hidden, stamp)
        if key not in self._loaded:
            self._loaded[key] = Expected.read(visible, hidden)
        known = self._loaded[key]
        if self._id not in known.checks:
            raise CourseError(
                f"{visible.name} knows no check {self._id!r}",
                "the notebook and its .expected.json belong to different releases: "
                "download both again",
            )
        return known


def find_expected(assignment: str) -> tuple[Path, Path | None]:
    """The sidecar files of an assignment: visible, and hidden where allowed.

    Raises CourseError when the visible one is not beside the notebook.
    """
    name = f"{assignment}.expected.json"
    here = Path.cwd()
    places = [here, *(p / "exercises" / assignment for p in (here, *here.parents))]
    places.append(Path(__file__).parents[2] / "exercises" / assignment)
    visible = next((p / name for p in places if (p / name).is_file()), None)
    if visible is None:
        raise CourseError(
            f"{name} was not found beside the notebook",
            f"put it into {here} (it comes with the notebook), then run the cell again",
        )
    hidden = here / f"{assignment}.hidden.json"
    if not hidden.is_file() and "AUTOGRADER_SOLUTIONS" in os.environ:
        folder = Path(os.environ["AUTOGRADER_SOLUTIONS"])
        hidden = folder / assignment / f"{assignment}.hidden.json"
    return visible, hidden if hidden.is_file() else None


def _display(verdict: Verdict) -> None:
    timed = "NBGRADER_EXECUTION" in os.environ
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        print(as_text(verdict))
        return
    if get_ipython() is None:
        print(as_text(verdict))
        return
    bundle = {
        "text/plain": as_text(verdict),
        "text/html": as_html(verdict),
        MIME: verdict.as_dict(seconds=timed),
    }
    display(bundle, raw=True)


check = Check()

__all__ = ["Check", "Score", "check", "find_expected", "headline"]
