"""Run one case of a check and write down what came back. Nothing is judged here.

This is the half that runs beside the student's code: it never needs an expected
value. Each case gets its own copies of the arguments and the same random state,
so that no case can spoil the next.
"""

from __future__ import annotations

import contextlib
import copy
import re
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .values import Opaque, encode, is_blank, is_module, is_tensor, oddity

#: file names under which notebooks compile the source of their cells
_CELL = re.compile(r"ipykernel_\d+|^<ipython-input|^<cell ")


@dataclass
class Record:
    """What one case gave.

    status  : "value", "blank" (not done yet) or "raised"
    value   : the value when status is "value"
    error   : name of the exception's class when status is "raised"
    reason  : one sentence for the student, when there is something to say
    mutated : True when the call changed one of its arguments
    seconds : wall time of the call
    """

    label: str
    status: str
    value: Any = None
    error: str | None = None
    reason: str | None = None
    mutated: bool = False
    seconds: float = 0.0


def run_case(label: str, fn: Any, args: tuple[Any, ...], answer: str) -> Record:
    """Call `fn(*args)` on copies and record the outcome.

    label  : the name of the case
    fn     : the function to call; anything not callable is itself the value
    args   : its arguments, never handed over themselves
    answer : id of the answer; `NotImplementedError(answer)` means "not done yet"
    """
    if not callable(fn):
        return _valued(label, fn)
    theirs = tuple(_copy(a) for a in args)
    _same_randomness()
    start = time.perf_counter()
    try:
        # a warning on stderr must not cost marks: nbgrader reads it as a failure
        with contextlib.redirect_stderr(sys.stdout):
            value = fn(*theirs)
    except NotImplementedError as error:
        if str(error) in ("", answer):
            return Record(label, "blank", seconds=time.perf_counter() - start)
        record = _raised(label, error)
    except KeyboardInterrupt:
        raise  # somebody pressed stop, or the time is up
    except BaseException as error:
        record = _raised(label, error)
    else:
        record = _valued(label, value)
        record.mutated = any(_changed(a, b) for a, b in zip(args, theirs, strict=True))
    record.seconds = time.perf_counter() - start
    return record


def _valued(label: str, value: Any) -> Record:
    if odd := oddity(value):
        return Record(label, "value", Opaque(odd))
    if is_blank(value):
        return Record(label, "blank", value)
    return Record(label, "value", value)


def _raised(label: str, error: BaseException) -> Record:
    kind = type(error).__name__
    try:
        message = printable(str(error).strip().split("\n")[0][:200])
    except Exception:  # their own class, whose __str__ fails as well
        message = ""
    reason = f"your code raised {kind}" + (f": {message}" if message else "")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _CELL.search(frame.filename) and frame.line:
            reason += f" (line {frame.lineno} of your cell: `{frame.line.strip()}`)"
            break
    return Record(label, "raised", error=kind, reason=reason)


def printable(text: str) -> str:
    """The text without what no file and no page can hold."""
    text = text.encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() else " " for c in text)


def _copy(value: Any) -> Any:
    if is_tensor(value):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if callable(value) and not is_module(value):
        return value
    return copy.deepcopy(value)


def _changed(before: Any, after: Any) -> bool:
    if callable(before) and not is_module(before):
        return False
    if oddity(after):  # an argument that was fit to be compared, and is no more
        return not oddity(before)
    return bool(
        encode(before, _bytes) != encode(after, _bytes)
        and encode(before, _exactly) != encode(after, _exactly)
    )


def _bytes(array: np.ndarray, kind: str, dtype: str) -> Any:
    """An array as its bytes: cheap to compare."""
    if array.dtype.kind not in "fiubc":
        return {"kind": "opaque", "type": f"{kind} of {array.dtype}"}
    return kind, dtype, array.shape, array.tobytes()


def _exactly(array: np.ndarray, kind: str, dtype: str) -> Any:
    """The same where zeros have no sign, and one NaN is like another."""
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), np.nan, array + 0)
    return _bytes(array, kind, dtype)


def _same_randomness() -> None:
    np.random.seed(0)
    torch = sys.modules.get("torch")
    if torch is None:
        return
    if torch.cuda.is_initialized() or torch.backends.mps.is_available():
        torch.manual_seed(0)
    else:  # the same on the CPU; the other one also notes each call's stack for later
        torch.default_generator.manual_seed(0)


class Recorder:
    """Stands in for `check` where values are only recorded, never judged."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.records: list[Record] = []
        self.options: dict[str, dict[str, Any]] = {}

    def __call__(
        self,
        label: str,
        fn: Callable[..., Any],
        *args: Any,
        weight: float = 1,
        tol: float | None = None,
        dtype: bool = False,
    ) -> None:
        """Record one case; same signature as `autograder.checking.check`."""
        if label in self.options:
            raise ValueError(f"the label {label!r} is used twice in one check")
        for name, value in (("weight", weight), ("tol", tol)):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is not None and not (number and 0 < value < 1e9):
                raise ValueError(f"{name}={value!r} of {label!r} is no positive number")
        if type(dtype) is not bool:
            raise ValueError(f"dtype={dtype!r} of {label!r}: write dtype=True")
        self.options[label] = {"weight": weight, "tol": tol, "dtype": dtype}
        self.records.append(run_case(label, fn, args, self.answer))
