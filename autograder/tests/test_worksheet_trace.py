"""The trace computes what numpy computes, and every sum it writes out is true."""

from __future__ import annotations

import ast
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from autograder.errors import CourseError
from autograder.paths import load_module, load_worksheet
from autograder.worksheet import (
    Traced,
    Worksheet,
    argmax,
    concat,
    divided,
    exp,
    floor,
    given,
    lookup,
    mask,
    mean,
    norm,
    normalise,
    patches,
    power,
    relu,
    root_divided,
    sigmoid,
    tanh,
    threshold,
    total,
    unpatches,
)
from autograder.worksheet.data import as_data, chapter_sheet, draw, step_of

small = st.integers(-3, 3)
sizes = st.integers(1, 4)


def grids(rows: int, columns: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(
        st.lists(small, min_size=columns, max_size=columns),
        min_size=rows,
        max_size=rows,
    )


def named(values: list[list[Any]], name: str = "A") -> Traced:
    return Worksheet("t", title="t").given(name, values)


def arr(grid: Traced) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in grid.values])


def evaluate(text: str) -> float:
    """The number that a written-out sum says, read by Python itself."""
    text = (
        text.replace("−", "-").replace("·", "*").replace("^", "**").replace("²", "**2")
    )
    text = re.sub(r"⌊(.*?)⌋", r"floor(\1)", text)
    text = re.sub(r"√(\d+)", r"sqrt(\1)", text).replace("√(", "sqrt(")
    text = re.sub(r"\|(.*?)\|", r"abs(\1)", text).replace("σ(", "sigma(")
    text = re.sub(r"\be\*\*", "E**", text)
    names = {
        "floor": math.floor, "sqrt": math.sqrt, "abs": abs, "max": max,
        "tanh": math.tanh, "E": math.e, "sigma": lambda x: 1 / (1 + math.exp(-x)),
    }  # fmt: skip
    return float(eval(compile(ast.parse(text, mode="eval"), "<sum>", "eval"), names))


def true_sums(grid: Traced, tolerance: float = 1e-9) -> None:
    """Every cell's arithmetic, read as Python, gives the cell's value."""
    for row in grid.cells:
        for cell in row:
            assert evaluate(cell.text) == pytest.approx(
                float(cell.value), rel=tolerance, abs=tolerance
            ), cell.text


@settings(max_examples=60, deadline=None)
@drawn(st.data(), sizes, sizes, sizes)
def test_products_sums_and_bias(data: Any, n: int, k: int, m: int) -> None:
    a, b = data.draw(grids(n, k)), data.draw(grids(k, m))
    bias = data.draw(grids(n, 1))
    ws = Worksheet("t", title="t")
    A, B, c = ws.given("A", a), ws.given("B", b), ws.given("c", bias)
    made = A @ B + c
    assert np.array_equal(arr(made), np.array(a) @ np.array(b) + np.array(bias))
    true_sums(made)
    assert np.array_equal(arr((A @ B).T), (np.array(a) @ np.array(b)).T)
    assert np.array_equal(arr(A.T), np.array(a).T)


@settings(max_examples=60, deadline=None)
@drawn(st.data(), sizes, sizes)
def test_entry_by_entry(data: Any, n: int, m: int) -> None:
    a, b = np.array(data.draw(grids(n, m))), np.array(data.draw(grids(n, m)))
    ws = Worksheet("t", title="t")
    A, B = ws.given("A", a.tolist()), ws.given("B", b.tolist())
    truths = [
        (A + B, a + b), (A - B, a - b), (A * B, a * b), (A * 3, a * 3), (A / 2, a / 2),
        (relu(A), np.maximum(a, 0)), (floor(A / 2), np.floor(a / 2)),
        (power(3, A), 3.0**a), (exp(A), np.exp(a)), (tanh(A), np.tanh(a)),
        (sigmoid(A), 1 / (1 + np.exp(-a))), (root_divided(A, 3), a / math.sqrt(3)),
        (divided(A, 4), a / 4),
    ]  # fmt: skip
    for grid, truth in truths:
        assert np.allclose(arr(grid), truth, rtol=1e-12)
        true_sums(grid, 1e-9)
    assert np.array_equal(arr(threshold(A, 1)), a > 1)
    assert np.array_equal(arr(mask(A, threshold(B, 0), -9)), np.where(b > 0, a, -9))
    assert np.array_equal(arr(concat(A, B)), np.vstack([a, b]))


@settings(max_examples=60, deadline=None)
@drawn(st.data(), sizes, sizes, st.sampled_from(["columns", "rows"]))
def test_along_an_axis(data: Any, n: int, m: int, axis: str) -> None:
    a = np.array(data.draw(grids(n, m)))
    A = named(a.tolist())
    d = 0 if axis == "columns" else 1
    for grid, truth in [
        (total(A, axis), a.sum(d, keepdims=True)),
        (mean(A, axis), a.mean(d, keepdims=True)),
        (norm(A, axis, 1), np.abs(a).sum(d, keepdims=True)),
        (norm(A, axis, 2), np.sqrt((a * a).sum(d, keepdims=True))),
    ]:
        assert np.allclose(arr(grid), truth)
        true_sums(grid)
    assert np.array_equal(arr(argmax(A, axis)), a.argmax(d, keepdims=True) + 1)
    P = power(3, A)
    shares = normalise(P, axis)
    assert np.allclose(arr(shares), 3.0**a / (3.0**a).sum(d, keepdims=True))
    assert all(isinstance(x, (int, Fraction)) for row in shares.values for x in row)
    true_sums(shares)


def test_tables_and_patches_there_and_back() -> None:
    table = named([[1, 2, 3], [4, 5, 6]])
    assert lookup(table, [2, 0, 2]).values == [[3, 1, 3], [6, 4, 6]]
    a = np.arange(24).reshape(4, 6)
    cut = patches(named(a.tolist()), 2)
    assert cut.shape == (4, 6)
    assert [row[1] for row in cut.values] == [2, 3, 8, 9]
    assert unpatches(cut, 2, 6).values == a.tolist()


def test_cells_remember_the_named_cells_they_use() -> None:
    ws = Worksheet("t", title="t")
    A, B = ws.given("A", [[1, 2]]), ws.given("B", [[3], [4]])
    C = ws.step("C", A @ B)
    cell = C.cells[0][0]
    assert cell.text == "1·3 + 2·4" and cell.value == 11
    assert cell.sources == (("A", 0, 0), ("B", 0, 0), ("A", 0, 1), ("B", 1, 0))
    D = ws.step("D", relu(C * -1))
    assert D.cells[0][0].sources == (("C", 0, 0),)


def test_rounding_belongs_to_the_step_and_keeps_the_exact_value() -> None:
    ws = Worksheet("t", title="t")
    A = ws.given("A", [[1, -1, 0]])
    ws.step("F", sigmoid(A), rounded=1)
    assert ws.value("F") == [[0.7, 0.3, 0.5]]
    exact = ws["F"].exact
    assert exact is not None and exact[0][0] == pytest.approx(0.731, abs=1e-3)
    data = step_of({"name": "t", "variants": [{"steps": as_steps(ws)}]}, "F")
    assert data["cells"][0][0]["e"].startswith("0.731")


def as_steps(ws: Worksheet) -> list[dict[str, Any]]:
    from autograder.worksheet.data import step_data

    return [step_data(s) for s in ws.steps]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda ws, A: ws.step("B", A @ A), "a product does not fit"),
        (lambda ws, A: ws.step("", A.T), "without a name"),
        (lambda ws, A: ws.step("A", A.T), "is there twice"),
        (lambda ws, A: ws.step("B", given([[1]])), "numbers without a name"),
        (lambda ws, A: ws.step("B", named([[1]], "Z").T), "uses 'Z'"),
        (lambda ws, A: ws.step("B", [[1]]), "not a traced matrix"),
        (lambda ws, A: ws.step("B", A.T, role="wieght"), "unknown role 'wieght'"),
        (lambda ws, A: ws.step("B", A.T, cols=["one"] * 3), "3 labels"),
        (lambda ws, A: ws.given("B", [[1], [1, 2]]), "rows of equal length"),
        (lambda ws, A: ws.given("B", [[1]], vary="some"), "vary='some'"),
        (lambda ws, A: ws.step("B", normalise(A * 0, "rows")), "sum to 0"),
        (lambda ws, A: ws["B"], "no step 'B'"),
        (lambda ws, A: ws.step("B", lookup(A, [5])), "no column 5"),
        (lambda ws, A: ws.step("B", patches(A, 2)), "cannot be cut"),
    ],
)
def test_the_authors_mistakes_are_named(wrong: Any, words: str) -> None:
    ws = Worksheet("t", title="t")
    A = ws.given("A", [[1, 2, 3]])
    with pytest.raises(CourseError, match=re.escape(words)) as caught:
        wrong(ws, A)
    assert caught.value.mend
    at_the_step = not words.startswith(("a product", "sum", "no column", "cannot"))
    assert (Path(__file__).name in caught.value.message) == at_the_step


SHEET = """\
import math

from autograder.worksheet import Worksheet, mask, normalise, relu, threshold


def sheet(variant=0):
    ws = Worksheet("mine", title="Mine", variant=variant)
    X = ws.given("X", [[1, 2], [3, 4], [5, 6]])
    STEP
    return ws
"""


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ('ws.step("H", X @ X)', "a product does not fit: <X 3×2> and <X 3×2>"),
        ('ws.step("H", X + X.T)', "a sum does not fit"),
        ('ws.step("H", X @ [[1], [2]])', "a product needs matrices of this sheet"),
        ('ws.step("H", X + 1)', "a sum needs matrices of this sheet, and got 1"),
        ('ws.step("H", X * [1])', "entry by entry (·) needs matrices"),
        ('ws.step("H", X / 0)', "<X 3×2> cannot be divided by 0"),
        ('ws.step("H", X / X)', "cannot be divided by <X 3×2>"),
        ('ws.step("H", normalise(X, "cols"))', "unknown axis 'cols'"),
        ('ws.step("", X.T)', "a step without a name"),
        ('ws.step(X.T)', "missing 1 required positional argument"),
        ('ws.step("H", Q @ X)', "name 'Q' is not defined"),
        ('ws.given("Z", [["a"]])', "'Z' holds what is no number"),
        ('ws.step("M", mask(X, threshold(X, 2), -math.inf))', "an infinite number"),
    ],
)  # fmt: skip
def test_the_authors_mistakes_are_named_with_the_line(
    step: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "worksheet.py"
    path.write_text(SHEET.replace("STEP", step), encoding="utf-8")
    for variant in (0, 3):
        with pytest.raises(CourseError) as caught:
            draw(load_module(path).sheet, variant)
        assert caught.value.message.startswith("worksheet.py:9: ")
        assert words in caught.value.message and caught.value.mend


@pytest.mark.parametrize("step", ["pass", "return None"])
def test_a_sheet_without_steps_is_named(step: str, tmp_path: Path) -> None:
    path = tmp_path / "worksheet.py"
    path.write_text(SHEET.replace("STEP", step), encoding="utf-8")
    with pytest.raises(CourseError, match="gives no worksheet with steps"):
        as_data(load_module(path).sheet)


def test_numbers_are_written_with_a_true_minus() -> None:
    X = named([[1, -2]])
    assert threshold(X, -1).cells[0][0].text == "[1 > −1]"
    assert mask(X, threshold(X, 0), -9).cells[0][1].text == "−9, masked"
    assert (2 * X).cells[0][1].text == "2·(−2)" and (2 * X).values == [[2, -4]]


def test_the_attention_sheet_has_the_articles_numbers() -> None:
    import json

    from autograder.paths import source_file

    stated = json.loads(source_file("attention").with_name("stated.json").read_text())
    text = json.dumps(stated)
    ws = chapter_sheet("attention")
    for name in ("Q", "K", "V", "S"):
        assert json.dumps(ws.value(name)) in text, name
    assert [row[0] for row in ws.value("A")] == [
        Fraction(9, 46), Fraction(27, 46), Fraction(1, 46), Fraction(9, 46)
    ]  # fmt: skip


def test_500_variants_are_small_and_interesting() -> None:
    make = load_worksheet("attention").sheet
    first = make(0)
    for variant in range(1, 501):
        ws = draw(make, variant)
        assert [s.name for s in ws.steps] == [s.name for s in first.steps]
        assert [s.shape for s in ws.steps] == [s.shape for s in first.steps]
        scores = [x for row in ws.value("S") for x in row]
        assert min(scores) < 0 < max(scores) and max(map(abs, scores)) < 20
        for column in zip(*ws.value("A"), strict=True):
            assert sum(column) == 1
    again = draw(make, 7)
    assert again.value("Z") == draw(make, 7).value("Z") != first.value("Z")


def test_dull_numbers_are_drawn_again_and_hopeless_sheets_are_named() -> None:
    def make(variant: int) -> Worksheet:
        ws = Worksheet("t", title="t", variant=variant)
        A = ws.given("A", [[-1, -2, 3, -4]], vary="all")
        B = ws.given("B", [[1, 1, 0, 0]], vary="all")
        ws.step("R", relu(A * B))
        return ws

    for variant in range(1, 60):
        numbers = draw(make, variant).value("R")[0]
        assert any(numbers), "no all-zero activation"

    def hopeless(variant: int) -> Worksheet:
        ws = Worksheet("t", title="t", variant=variant)
        ws.step("R", relu(ws.given("A", [[-1, -2]])))
        return ws

    assert draw(hopeless, 0).value("R") == [[0, 0]], "the author's numbers stand"
    with pytest.raises(CourseError, match="no interesting numbers"):
        draw(hopeless, 1)


def test_ties_do_not_decide_an_argmax() -> None:
    def make(variant: int) -> Worksheet:
        ws = Worksheet("t", title="t", variant=variant)
        A = ws.given("A", [[1, 2, 2], [2, 1, 0]], vary="all")
        ws.step("M", argmax(A, "columns"))
        return ws

    for variant in range(1, 100):
        ws = draw(make, variant)
        for column in zip(*ws.value("A"), strict=True):
            assert column[0] != column[1]


def test_data_is_the_same_every_time() -> None:
    make = load_worksheet("attention").sheet
    assert as_data(make, 2) == as_data(make, 2)
