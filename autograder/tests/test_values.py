"""Values survive the way to a file and back; comparison says how they differ."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder import randn
from autograder.checking.compare import compare
from autograder.checking.values import Raised, decode, encode, is_blank

numbers = st.integers(-(2**40), 2**40) | st.floats(allow_nan=True, width=64)
data = st.recursive(
    numbers | st.booleans() | st.text() | st.fractions(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


def trip(value: object) -> object:
    return decode(json.loads(json.dumps(encode(value))))


@given(data)
def test_every_value_equals_itself_after_the_trip(value: object) -> None:
    assert compare(value, trip(value)) is None


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.int64, torch.bool]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (2, 3, 4)])
def test_tensors_keep_dtype_shape_and_values(
    dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    value = (10 * randn(*shape, seed=1)).to(dtype)
    back = trip(value)
    assert isinstance(back, np.ndarray) and back.shape == shape
    assert str(back.dtype) == str(dtype).removeprefix("torch.")
    assert compare(value, back) is None


def test_bfloat16_nan_and_infinities_survive() -> None:
    value = torch.tensor([float("nan"), float("inf"), -float("inf"), 1.5])
    assert compare(value, trip(value)) is None
    assert compare(value.bfloat16(), trip(value.bfloat16())) is None
    assert compare(value, trip(-value)) is not None


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ([[1, 2], [3, 4]], torch.tensor([[1, 2], [3, 4]])),
        (np.array([1.0, 2.0]), [1, 2]),
        ((1, 2), [1, 2]),
        ([9 / 46, 27 / 46], [Fraction(9, 46), Fraction(27, 46)]),
        (-0.0, 0),
        (True, 1),
        (174_604_259_328, 174_604_259_328.0),
        ({1, 2}, {2, 1}),
        ([[1], [2, 3]], [[1], [2, 3]]),
        (torch.nn.Parameter(torch.ones(2)), [1.0, 1.0]),
    ],
)
def test_the_same_in_another_dress(got: object, expected: object) -> None:
    assert compare(got, trip(expected)) is None


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (torch.ones(4, 3), torch.ones(3, 4), "did you transpose"),
        (torch.ones(3), torch.ones(3, 1), "axis of length 1 is missing"),
        (torch.ones(6), torch.ones(2, 3), "arranged differently"),
        (torch.ones(1, 4), torch.ones(3, 4), "axis 0"),
        (torch.tensor([1.0, 9.0]), torch.ones(2), "1 of 2 entries"),
        (torch.tensor([1.0, math.nan]), torch.ones(2), "NaN"),
        ("a", torch.ones(2), "the str 'a'"),
        ({"a": 1}, {"a": 2}, "'a': your value is 1, expected 2"),
        ({"a": 1, "b": 2}, {"a": 1}, "'b' was not asked for"),
        ([1, [2]], [1, [3]], "part 2 of 2"),
        (0.2, Fraction(9, 46), "expected 0.1957"),
    ],
)
def test_the_reason_names_what_happened(
    got: object, expected: object, words: str
) -> None:
    difference = compare(got, trip(expected))
    assert difference is not None and words in difference.reason


def test_an_object_that_equals_everything_equals_nothing() -> None:
    class Yes:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    class Numbers(list):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    for expected in (1, [1, 2], "a", {"a": 1}, torch.ones(2)):
        assert compare(Yes(), trip(expected)) is not None
        assert compare(Numbers([9, 9]), trip(expected)) is not None


def test_tolerance_is_absolute_when_given_and_dtype_counts_when_asked() -> None:
    assert compare(0.2, 9 / 46) is not None
    assert compare(0.2, 9 / 46, tol=0.05) is None
    assert compare(torch.ones(2), np.ones(2), dtype="float64") is not None
    assert compare(torch.ones(2).double(), np.ones(2), dtype="float64") is None


def test_modules_compare_by_their_state() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(2, 3)
    assert compare(layer, trip(layer)) is None
    assert compare(torch.nn.Linear(2, 3), trip(layer)) is not None


def test_what_is_not_data_becomes_a_marker() -> None:
    assert compare(lambda: 1, trip(lambda: 1)) is not None
    assert compare(Raised("ValueError"), trip(Raised("ValueError"))) is None
    assert compare(Raised("KeyError"), trip(Raised("ValueError"))) is not None


def test_blank_is_none_or_a_dot_dot_dot_anywhere() -> None:
    assert is_blank(None) and is_blank(...) and is_blank([[1, 2], [3, ...]])
    assert not is_blank([[1, 2]]) and not is_blank(0) and not is_blank("")


def test_randn_is_the_frozen_stream() -> None:
    assert torch.equal(
        randn(2, 2, seed=7),
        torch.tensor(np.random.RandomState(7).randn(2, 2), dtype=torch.float32),
    )
    assert randn(3, seed=1, dtype=torch.float64).dtype == torch.float64
