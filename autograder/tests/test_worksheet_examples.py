"""The example sheets: right against numpy, short, and interesting in every variant."""

from __future__ import annotations

import importlib
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from autograder.worksheet import Worksheet
from autograder.worksheet.data import as_data, draw

NAMES = ("perceptron", "gate", "pooling")


def module(name: str) -> ModuleType:
    return importlib.import_module(f"autograder.worksheet.examples.{name}")


def arr(sheet: Worksheet, name: str) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in sheet.value(name)])


@pytest.mark.parametrize("variant", range(8))
def test_the_perceptrons(variant: int) -> None:
    s = draw(module("perceptron").sheet, variant)
    X, W, b = (arr(s, n) for n in ("X", "W", "b"))
    np.testing.assert_array_equal(arr(s, "H"), W @ X + b)
    np.testing.assert_array_equal(arr(s, "A"), np.maximum(W @ X + b, 0))


@pytest.mark.parametrize("variant", range(8))
def test_the_lstm(variant: int) -> None:
    s = draw(module("gate").sheet, variant)
    z = np.concatenate([arr(s, "x"), arr(s, "h")])
    gates = {n: 1 / (1 + np.exp(-arr(s, f"W_{n}") @ z)) for n in "fio"}
    for n, gate in gates.items():
        np.testing.assert_allclose(arr(s, n), gate, atol=0.00501)
    np.testing.assert_allclose(arr(s, "g"), np.tanh(arr(s, "W_g") @ z), atol=0.00501)
    # the steps after a rounded one go on with what was written down
    f, i, o, g = (arr(s, n) for n in "fiog")
    np.testing.assert_allclose(arr(s, "c'"), f * arr(s, "c") + i * g, atol=0.00501)
    np.testing.assert_allclose(arr(s, "h'"), o * np.tanh(arr(s, "c'")), atol=0.00501)


@pytest.mark.parametrize("variant", range(8))
def test_the_pooling(variant: int) -> None:
    s = draw(module("pooling").sheet, variant)
    E, D = arr(s, "E"), arr(s, "D")
    np.testing.assert_array_equal(arr(s, "X"), E[:, :3])
    mean = E[:, :3].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(arr(s, "m"), mean)
    np.testing.assert_allclose(arr(s, "s"), D @ mean)
    assert s.value("best") == [[int(np.argmax(D @ mean)) + 1]]


def test_means_stay_fractions() -> None:
    assert module("pooling").sheet().value("m")[0] == [Fraction(2, 3)]


@pytest.mark.parametrize("name", NAMES)
def test_they_are_short_and_five_hundred_variants_are_good(name: str) -> None:
    text = Path(str(module(name).__file__)).read_text(encoding="utf-8")
    code = [line for line in text.splitlines() if line.strip()]
    assert 20 <= len(code) <= 50
    shapes = [st.shape for st in draw(module(name).sheet, 0).steps]
    seen = set()
    for variant in range(1, 501):
        sheet = draw(module(name).sheet, variant)
        assert [st.shape for st in sheet.steps] == shapes
        seen.add(str([st.values for st in sheet.steps]))
        if name == "perceptron":
            assert {0} < {x for row in sheet.value("A") for x in row}
        if name == "pooling":
            top = sorted(float(x) for (x,) in sheet.value("s"))
            assert top[-1] > top[-2]
    assert len(seen) > 400


@pytest.mark.parametrize("name", NAMES)
def test_they_become_data(name: str) -> None:
    data = as_data(module(name).sheet)
    assert data["name"] == name and len(data["variants"]) == 6
    assert any(step["asked"] for step in data["variants"][0]["steps"])
