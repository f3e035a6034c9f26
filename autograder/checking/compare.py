"""Compare an answer with what was expected, and say how they differ.

Shape comes before value, because a wrong shape has its own cause; nothing is
ever broadcast. Tensors, arrays and nested lists of numbers are taken for each
other; a shape, a NaN or an infinity must agree exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .values import (
    Opaque,
    Raised,
    Tensor,
    describe,
    is_module,
    is_tensor,
    tensor_to_array,
)

#: taken now: a notebook may put something else in its place
_isclose = np.isclose

RTOL, ATOL = 1e-4, 1e-5
_NUMBERS = (bool, int, float, Fraction)


@dataclass(frozen=True)
class Difference:
    """Why two values are not the same.

    reason : one sentence for the student
    mask   : True where the entries differ (same shape as both values), if known
    """

    reason: str
    mask: np.ndarray | None = None


def as_array(value: Any) -> np.ndarray | None:
    """The numbers of a tensor, array, number or rectangular list; else None."""
    if is_tensor(value):
        return None if value.is_complex() else tensor_to_array(value)
    if type(value) is Tensor:
        return value.array if value.array.dtype.kind in "fiub" else None
    if type(value) is np.ndarray or isinstance(value, np.generic):
        array = np.asarray(value)
        return array if array.dtype.kind in "fiub" else None
    if type(value) in _NUMBERS:
        small = type(value) is not int or abs(value) < 2**62
        try:
            return np.asarray(
                float(value) if type(value) is Fraction or not small else value
            )
        except OverflowError:
            return np.asarray(np.inf if value > 0 else -np.inf)
    if type(value) in (list, tuple) and value:
        parts = [as_array(v) for v in value]
        if any(p is None for p in parts) or len({p.shape for p in parts}) > 1:  # type: ignore[union-attr]
            return None
        return np.stack(parts)  # type: ignore[arg-type]
    return None


def shape_advice(got: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """What probably happened when `got` came instead of `expected`."""
    said = f"your shape is {got}, expected {expected}"
    if len(got) == len(expected) and sorted(got) == sorted(expected):
        return f"{said}: did you transpose, or mix up two axes?"
    squeezed = tuple(n for n in expected if n != 1)
    if tuple(n for n in got if n != 1) == squeezed:
        word = "missing" if len(got) < len(expected) else "too many"
        return f"{said}: an axis of length 1 is {word} (keepdim?)"
    if int(np.prod(got)) == int(np.prod(expected)):
        return f"{said}: the right number of entries, arranged differently"
    if len(got) != len(expected):
        return f"{said}: {len(got)} axes where {len(expected)} were asked for"
    return f"{said}: the sizes differ in axis " + ", ".join(
        str(i) for i, (a, b) in enumerate(zip(got, expected, strict=True)) if a != b
    )


def _value_difference(
    got: np.ndarray, expected: np.ndarray, tol: float | None
) -> Difference | None:
    whole = got.dtype.kind in "iub" and expected.dtype.kind in "iub"
    if whole and tol is None:
        mask = got != expected
    else:
        a, b = got.astype(float), expected.astype(float)
        rtol, atol = (RTOL, ATOL) if tol is None else (0.0, tol * (1 + 1e-9))
        mask = ~_isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if not mask.any():
        return None
    count = int(mask.sum())
    if got.size == 1:
        reason = (
            f"your value is {number(got.item())}, expected {number(expected.item())}"
        )
    else:
        reason = f"values differ in {count} of {got.size} entries"
    new_nan = mask & np.isnan(got.astype(float))
    if new_nan.any():
        reason += f"; {int(new_nan.sum())} of yours are NaN (did something overflow?)"
    return Difference(reason, mask)


def compare(
    got: Any, expected: Any, tol: float | None = None, dtype: str | None = None
) -> Difference | None:
    """None when `got` is right, else the difference.

    got      : the student's live or decoded value
    expected : a decoded value (arrays are numpy arrays)
    tol      : absolute tolerance; default 1e-4 relative plus 1e-5, whole
               numbers exact
    dtype    : name of the dtype the answer must have, or None for any
    """
    if isinstance(expected, (Raised, Opaque)) or isinstance(got, (Raised, Opaque)):
        same = type(got) is type(expected) and repr(got) == repr(expected)
        return None if same else _kind_difference(got, expected)
    if is_module(got):
        got = dict(got.state_dict().items())
    wanted = as_array(expected)
    if wanted is not None:
        return _compare_arrays(got, wanted, expected, tol, dtype)
    if type(expected) in (list, tuple):
        return _compare_sequences(got, expected, tol)
    if type(expected) is dict:
        return _compare_dicts(got, expected, tol)
    if type(expected) in (set, frozenset):
        if type(got) not in (set, frozenset):
            return _kind_difference(got, expected)
        if got == expected:
            return None
        missing, extra = len(expected - got), len(got - expected)
        return Difference(f"the set lacks {missing} and has {extra} too many")
    if type(got) is type(expected) and got == expected:
        return None
    if type(got) is str and type(expected) is str:
        return Difference(f"your text is {got!r}, expected {expected!r}")
    return _kind_difference(got, expected)


def _compare_arrays(
    got: Any, wanted: np.ndarray, expected: Any, tol: float | None, dtype: str | None
) -> Difference | None:
    array = as_array(got)
    if array is None:
        return _kind_difference(got, expected)
    if array.shape != wanted.shape:
        return Difference(shape_advice(array.shape, wanted.shape))
    difference = _value_difference(array, wanted, tol)
    if difference is None and dtype is not None:
        mine = (
            str(got.dtype).removeprefix("torch.") if hasattr(got, "dtype") else "list"
        )
        if mine != dtype:
            return Difference(
                f"right values, but your dtype is {mine}, expected {dtype}"
            )
    return difference


def _compare_sequences(got: Any, expected: Any, tol: float | None) -> Difference | None:
    if type(got) not in (list, tuple):
        return _kind_difference(got, expected)
    if len(got) != len(expected):
        return Difference(f"your answer has {len(got)} parts, expected {len(expected)}")
    for i, (a, b) in enumerate(zip(got, expected, strict=True)):
        difference = compare(a, b, tol)
        if difference is not None:
            return Difference(f"part {i + 1} of {len(expected)}: {difference.reason}")
    return None


def _compare_dicts(got: Any, expected: dict, tol: float | None) -> Difference | None:
    if type(got) is not dict:
        return _kind_difference(got, expected)
    missing = [k for k in expected if k not in got]
    if missing:
        return Difference(f"the key {missing[0]!r} is missing")
    extra = [k for k in got if k not in expected]
    if extra:
        return Difference(f"the key {extra[0]!r} was not asked for")
    for key, value in expected.items():
        difference = compare(got[key], value, tol)
        if difference is not None:
            return Difference(f"{key!r}: {difference.reason}")
    return None


def _kind_difference(got: Any, expected: Any) -> Difference:
    if isinstance(got, Raised):
        return Difference(f"your answer raised {got.error}")
    return Difference(f"your answer is {describe(got)}, expected {describe(expected)}")


def number(x: Any) -> str:
    """A number as a reader wants it: whole numbers whole, else 4 digits."""
    if type(x) is bool:
        return str(x)
    if type(x) is Fraction:
        return str(x)
    if type(x) is int:
        return str(x) if abs(x) < 10**60 else "a number of more than 60 digits"
    if float(x) == int(x) if np.isfinite(float(x)) else False:
        return str(int(x))
    return f"{float(x):.4g}"
