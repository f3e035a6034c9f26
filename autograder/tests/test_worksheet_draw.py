"""Steps as HTML: what stands where, what it is called, and that every sum is told."""

from __future__ import annotations

import importlib
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CourseError
from autograder.paths import load_worksheet
from autograder.worksheet import Worksheet, concat, exp, floor, normalise, relu
from autograder.worksheet.carried import carry, evaluate
from autograder.worksheet.data import as_data, step_of
from autograder.worksheet.draw import (
    Layout,
    Leaf,
    asked,
    draw_sheet,
    draw_step,
    equals,
    formula,
    layout,
    origin,
)

ROOT = Path(__file__).parents[2]
DATA = as_data(load_worksheet("attention").sheet, 2)


def tree(markup: str) -> ET.Element:
    return ET.fromstring(f"<div>{markup}</div>")


def words(node: ET.Element) -> str:
    return " ".join("".join(node.itertext()).split())


def tables(markup: str) -> dict[str, ET.Element]:
    return {t.get("data-of", ""): t for t in tree(markup).iter("table")}


def made(build: Any) -> dict[str, Any]:
    """The data of a small sheet: `build(ws)` adds its steps."""

    def make(variant: int) -> Worksheet:
        ws = Worksheet("t", title="t", variant=variant)
        build(ws)
        return ws

    return as_data(make, 0)


# --------------------------------------------------------------------- one figure


@pytest.mark.parametrize("name", asked(DATA))
@pytest.mark.parametrize("filled", [True, False])
def test_a_step_holds_its_matrices_with_name_shape_and_every_number(name, filled):
    step = step_of(DATA, name)
    shown = tables(draw_step(DATA, name, filled))
    for of, table in shown.items():
        cells = step_of(DATA, of)["cells"]
        turned = table.get("data-turned") is not None
        numbers = [[c["v"] for c in row] for row in cells]
        if turned:
            numbers = [list(column) for column in zip(*numbers, strict=True)]
        caption = words(table.find("caption"))
        assert caption.startswith(of.replace("_", "") + ("ᵀ" if turned else "") + " ")
        assert str(len(numbers)) in caption and str(len(numbers[0])) in caption
        texts = [[words(td) for td in tr.iter("td")] for tr in table.iter("tr")]
        blank = of == name and not filled
        assert texts == ([["blank"] * len(r) for r in numbers] if blank else numbers)
    used = {s[0] for row in step["cells"] for c in row for s in c["s"]}
    assert set(shown) == used | {name}


@pytest.mark.parametrize("name", asked(DATA))
def test_every_blank_says_where_it_comes_from_and_one_sum_is_written_out(name):
    step = step_of(DATA, name)
    markup = draw_step(DATA, name)
    own = tables(markup)[name]
    said = [[td.get("data-from") for td in tr.iter("td")] for tr in own.iter("tr")]
    assert said == [[origin(c["s"]) for c in row] for row in step["cells"]]
    line = next(p for p in tree(markup).iter("p") if p.get("class") == "bh-sum")
    place = re.match(r"row (\d+), column (\d+): (.*) [=≈] \?$", words(line))
    assert place
    cell = step["cells"][int(place[1]) - 1][int(place[2]) - 1]
    plain = re.sub(r"\^\(([^()]*)\)|\^", r"\1", cell["t"])
    assert place[3] == plain, "the arithmetic of that very cell"
    lit = [t for t in tree(markup).iter("td") if t.get("class") == "bh-hit"]
    assert len(lit) == len({tuple(s) for s in cell["s"]}) + 1


def test_a_cell_knows_its_row_and_column():
    assert origin(step_of(DATA, "Q")["cells"][1][2]["s"]) == "W_Q row 2 and X column 3"
    assert origin(step_of(DATA, "S")["cells"][0][3]["s"]) == "K column 1 and Q column 4"
    assert origin(step_of(DATA, "H")["cells"][0][3]["s"]) == "S row 1 column 4"
    assert origin(step_of(DATA, "A")["cells"][2][1]["s"]) == "P column 2"


def test_shares_are_tinted_once_they_are_filled_in():
    assert "--part:0.196" in draw_step(DATA, "A", filled=True)
    assert "--part" not in draw_step(DATA, "A")


def test_a_rounded_result_is_not_said_to_be_equal():
    assert equals({"v": "9/46", "x": 9 / 46}) == "="
    assert equals({"v": "−2", "x": -2.0}) == "="
    assert equals({"v": "0.26", "x": 0.2577}) == "≈"


def test_names_have_indices_and_are_escaped():
    assert formula("W_Q X") == "W<sub>Q</sub> X"
    assert formula("3^(−1)") == "3<sup>−1</sup>" and formula("e^R") == "e<sup>R</sup>"
    assert formula("[a > 1]") == "[a &gt; 1]"


# -------------------------------------------------------------- what stands where


def plan(build: Any, name: str) -> Layout:
    data = made(build)
    return layout(data, step_of(data, name))


def test_products_stand_as_on_paper():
    def build(ws):
        A, B = ws.given("A", [[1, 2]]), ws.given("B", [[3], [4]])
        c, x = ws.given("c", [[5]]), ws.given("x", [[6]])
        ws.step("P", A @ B)
        ws.step("R", relu(A @ B + c))
        ws.step("W", A @ concat(c, x))
        ws.step("T", B.T @ B)
        ws.step("F", floor(A / 2))
        ws.step("N", normalise(A, "rows"))

    assert plan(build, "P") == Layout((Leaf("A"),), (Leaf("B"),))
    assert plan(build, "R") == Layout((Leaf("A"),), (Leaf("B"),), (Leaf("c"),))
    assert plan(build, "W") == Layout((Leaf("A"),), (Leaf("c"), Leaf("x")))
    assert plan(build, "T") == Layout((Leaf("B", True),), (Leaf("B"),))
    assert plan(build, "F") == plan(build, "N") == Layout(beside=(Leaf("A"),))
    data = made(build)
    for name in asked(data):
        assert tables(draw_step(data, name))[name] is not None


def test_labels_head_the_rows_and_columns():
    def build(ws):
        X = ws.given("X", [[1, 2]], rows=["size"], cols=["the", "cat"])
        ws.step("Y", X * 2, cols="words")

    table = tables(draw_step(made(build), "Y"))["X"]
    heads = [(th.get("scope"), th.text) for th in table.iter("th")]
    assert heads == [("col", "the"), ("col", "cat"), ("row", "size")]
    assert "1 × 2 words" in draw_step(made(build), "Y")


# ---------------------------------------------------------------- the whole sheet


def test_the_sheet_can_stop_at_a_step_and_names_unknown_ones():
    assert asked(DATA, "S") == ["Q", "K", "V", "S"]
    markup = draw_sheet(DATA, ["Q", "K"], place="attention-sheet")
    ids = [f.get("id") for f in tree(markup).iter("figure")]
    assert ids == ["attention-sheet-Q", "attention-sheet-K"]
    for wrong in (lambda: asked(DATA, "X"), lambda: draw_sheet(DATA, ["Qq"])):
        with pytest.raises(CourseError) as caught:
            wrong()
        assert "steps: " in (caught.value.mend or "")


def test_cells_leave_room_for_every_set_of_numbers():
    one = draw_sheet(DATA, ["Z"])
    all_of_them = draw_sheet(DATA)

    def wide(markup: str) -> int:
        return max(
            map(int, re.findall(r'bh-own" data-of="Z" style="--c:(\d+)', markup))
        )

    longest = max(
        len(c["v"])
        for n in range(len(DATA["variants"]))
        for row in step_of(DATA, "Z", n)["cells"]
        for c in row
    )
    longest = max(
        longest,
        *(  # its columns stand below those of A
            len(c["v"])
            for n in range(len(DATA["variants"]))
            for row in step_of(DATA, "A", n)["cells"]
            for c in row
        ),
    )
    assert wide(one) == len("180/23") and wide(all_of_them) == longest


# ---------------------------------------------------------------- carried rounding


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1·2 + (−3)·4", -10),
        ("⌊(−1)/2⌋", -1),
        ("3^(−1)", 1 / 3),
        ("2/√4", 1),
        ("√(3² + 4²)", 5),
        ("|−2| + 1", 3),
        ("max(0, −3)", 0),
        ("σ(0)", 0.5),
        ("largest of 1, 2", None),
        ("5, kept", None),
        ("1/0", None),
        ("__import__('os')", None),
    ],
)
def test_written_out_arithmetic_is_read_and_nothing_else(text, value):
    assert evaluate(text) == (value if value is None else pytest.approx(value))


def test_numbers_rounded_on_the_page_may_be_carried_on():
    def build(ws):
        R = ws.step("R", ws.given("S", [[3, 1]]) / 1.7320508, digits=2)
        ws.step("E", exp(R), digits=2)

    cells = step_of(carry(made(build)), "E")["cells"][0]
    assert cells[0]["v"] == "5.65" and cells[0]["r"] == pytest.approx(5.6407, abs=1e-4)
    assert all("r" not in c for row in step_of(DATA, "Q")["cells"] for c in row)


# ------------------------------------------------------------ other sheets, the page


@pytest.mark.parametrize("name", ["perceptron", "gate", "pooling"])
def test_every_kind_of_step_can_be_drawn(name):
    example = importlib.import_module(f"autograder.worksheet.examples.{name}")
    data = carry(as_data(example.sheet, 1))
    for variant in (0, 1):
        for step in asked(data):
            cells = step_of(data, step, variant)["cells"]
            own = tables(draw_step(data, step, True, variant))[step]
            texts = [[words(td) for td in tr.iter("td")] for tr in own.iter("tr")]
            texts = [row for row in texts if row]
            assert texts == [[c["v"] for c in row] for row in cells]
            assert all(td.get("data-from") for td in own.iter("td"))


def test_a_page_carries_the_data_once_and_safely(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_ext"))
    ext = importlib.import_module("worksheet")
    odd = {**DATA, "title": "</script><b>"}
    text = ext.embedded(odd)
    assert "<" not in text
    read = json.loads(text)
    assert read["title"] == odd["title"]
    first, second = (v["steps"][-1]["cells"][0][0] for v in read["variants"][:2])
    assert "s" in first and "s" not in second and "t" in second
    assert "s" in odd["variants"][1]["steps"][-1]["cells"][0][0], "a copy was made"
