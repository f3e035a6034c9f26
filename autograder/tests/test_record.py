"""A case tells when a call changed its arguments, whatever they are and however big."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from autograder.checking.record import run_case

ODD = [math.nan, math.inf, -math.inf, -0.0, 1.5]

ARGUMENTS: dict[str, Callable[[], Any]] = {
    "floats": lambda: torch.tensor(ODD),
    "doubles": lambda: torch.tensor(ODD).double(),
    "bfloats": lambda: torch.tensor(ODD).bfloat16(),
    "complex": lambda: torch.complex(torch.tensor(ODD), torch.tensor(ODD)),
    "integers": lambda: torch.arange(6).reshape(2, 3),
    "truths": lambda: torch.arange(6) > 2,
    "a scalar": lambda: torch.tensor(2.5),
    "a big tensor": lambda: torch.zeros(1200, 1200),
    "an array": lambda: np.array(ODD),
    "halves": lambda: np.array(ODD, dtype=np.float16),
    "a turned view": lambda: torch.arange(6.0).reshape(2, 3).T,
    "a list": lambda: [torch.tensor(ODD), [1, 2.0]],
    "a dict": lambda: {"a": np.arange(3), "b": [Fraction(1, 3)]},
    "a layer": lambda: torch.nn.Linear(2, 3),
}


def first(value: Any) -> Any:
    """Somewhere in the value, a tensor or array."""
    if isinstance(value, torch.nn.Module):
        return value.weight.detach()
    while isinstance(value, (list, dict)):
        value = next(iter(value if isinstance(value, list) else value.values()))
    return value


def change_one_entry(value: Any) -> None:
    array = first(value)
    place = (-1,) * array.ndim
    array[place] = not array[place] if array.dtype == torch.bool else array[place] + 1


@pytest.mark.parametrize("make", ARGUMENTS.values(), ids=ARGUMENTS)
def test_one_changed_entry_is_seen(make: Callable[[], Any]) -> None:
    def changed(call: Callable[[Any], Any]) -> bool:
        return run_case("a case", lambda x: call(x) is None, (make(),), "").mutated

    assert changed(change_one_entry)
    assert not changed(lambda x: first(x) * 2)


@pytest.mark.parametrize(
    ("how", "seen"),
    [
        (lambda x: x.unsqueeze_(0), True),
        (lambda x: x.t_(), True),
        (lambda x: x.add_(0), False),
        (lambda x: x.neg_().neg_(), False),
        (lambda x: x.mul_(1 + 1e-6), True),
    ],
)
def test_shape_and_smallest_steps_count_and_no_change_is_none(
    how: Callable[[torch.Tensor], Any], seen: bool
) -> None:
    numbers = torch.tensor([[1.0, -0.0, math.nan], [0.0, math.inf, 3.0]])
    record = run_case("in place", lambda x: how(x) is None, (numbers,), "")
    assert record.mutated is seen


def test_what_is_no_data_is_left_alone() -> None:
    """Objects are copied: the copies' addresses differ, and mean nothing."""
    things = np.array([Fraction(1, 3), [1]], dtype=object)
    assert not run_case("looks", lambda x: len(x), (things,), "").mutated


def test_an_argument_made_unreadable_counts_as_changed() -> None:
    def spoil(row: list[Any]) -> int:
        row.append(row)
        return 1

    assert run_case("spoils", spoil, ([1],), "").mutated
