"""By-hand questions take their answers, and what goes wrong, from the worksheet."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.authoring import misconceptions, source
from autograder.authoring.confidential import confidential, squeeze
from autograder.cli import main
from autograder.errors import CourseError
from autograder.paths import load_worksheet
from autograder.tests.conftest import ROOT
from autograder.tests.small_course import SOURCE, WORKSHEET
from autograder.worksheet.data import chapter_sheet

STEPS = (
    WORKSHEET
    + """
from autograder.worksheet import Worksheet


def sheet(variant=0):
    ws = Worksheet("attention", title="Twice by hand", variant=variant)
    X = ws.given("X", GIVEN["X"], cols="tokens")
    ws.step("T", X + X, note="twice")
    ws.step("M", X / 3)
    return ws
"""
)
BLANK = "D = [[..., ...],\n     [..., ...]]\n"
OLD = BLANK + "### BEGIN SOLUTION\nD = (2 * X).tolist()\n### END SOLUTION\n"
FILLED = SOURCE.replace(
    f'# %% id="twice" role="answer"\n{OLD}',
    '# %% id="twice" role="answer" fill=["D=T"]\n',
)


def write(root: Path, text: str = FILLED, steps: str = STEPS) -> Path:
    assert text != SOURCE
    folder = root / "solutions" / "attention"
    (folder / "attention.py").write_text(text, encoding="utf-8")
    (folder / "worksheet.py").write_text(steps, encoding="utf-8")
    return folder


def test_the_form_and_the_solution_are_written_by_the_build(tiny_course: Path) -> None:
    write(tiny_course)
    cell = source.read("attention", tiny_course).answer("twice")
    assert cell.text == (
        f"{BLANK}### BEGIN SOLUTION\n"
        "D = [[ 2,  4],    # X + X\n     [ 6, -8]]\n### END SOLUTION"
    )


def test_fractions_stay_exact(tiny_course: Path) -> None:
    write(tiny_course)
    text = source.by_hand("attention", ["M"], tiny_course)
    assert "M = [[ Fraction(1, 3),  Fraction(2, 3)],    # X/3" in text
    assert "     [              1, Fraction(-4, 3)]]" in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('fill=["D=T"]\n', 'fill=["D=T"]\nD = 1\n'), "fill belongs on an empty cell"),
        (('id="picture" role="explore"', 'id="picture" fill=["T"]'), "fill belongs"),
        (('fill=["D=T"]', 'fill=["D=Q"]'), "there is no step 'Q'"),
    ],
)
def test_the_authors_mistakes_are_named(
    change: tuple[str, str], said: str, tiny_course: Path
) -> None:
    write(tiny_course, FILLED.replace(*change))
    with pytest.raises(CourseError, match=said):
        source.read("attention", tiny_course)


def test_a_chapter_without_steps_has_none_to_fill_in(tiny_course: Path) -> None:
    write(tiny_course, steps=WORKSHEET)
    with pytest.raises(CourseError, match="no function sheet"):
        source.read("attention", tiny_course)


def test_the_answer_is_a_secret_of_the_release(tiny_course: Path) -> None:
    write(tiny_course)
    secrets = confidential("attention", tiny_course)
    assert secrets.texts[squeeze("D = [[2, 4],    # X + X")] == "the answer 'twice'"


def test_a_wrong_answer_computed_from_the_sheet(tiny_course: Path) -> None:
    folder = write(tiny_course)
    path = folder / "misconceptions.py"
    path.write_text(
        "from autograder.authoring import wrong\n\n\n"
        '@wrong("twice", hint="Lying down.")\n'
        "def turned(sheet):\n"
        '    return {"D": sheet["T"].grid.T.values}\n',
        encoding="utf-8",
    )
    assignment = source.read("attention", tiny_course)
    known = misconceptions.load("attention", tiny_course)[0]
    names: dict = {}
    assert misconceptions.apply(known, assignment.answer("twice"), names) == ["D"]
    assert names["D"] == [[2, 6], [4, -8]]
    text = misconceptions.as_cell(known, assignment.answer("twice"))
    assert text == "D = [\n    [2, 6],\n    [4, -8],\n]"


@pytest.mark.slow
def test_built_and_released_by_nbgrader_the_same(tiny_course: Path) -> None:
    write(tiny_course)
    assert main(["build"]) == 0
    release = tiny_course / "exercises" / "attention"
    ours = {p.name: p.read_bytes() for p in release.iterdir()}
    assert set(ours) == {
        "attention.ipynb", "attention.expected.json", "attention.worksheet.json",
    }  # fmt: skip
    assert json.loads(ours["attention.worksheet.json"])["title"] == "Twice by hand"
    assert main(["build", "--check"]) == 0
    assert main(["leaks"]) == 0
    form = nbformat.reads(ours["attention.ipynb"].decode(), as_version=4)
    twice = next(c for c in form.cells if c.id == "twice")
    assert twice.source.strip() == BLANK.strip()
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", "attention",
         "--force"], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert {p.name: p.read_bytes() for p in release.iterdir()} == ours


def test_a_changed_worksheet_makes_the_release_stale(
    tiny_course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tiny_course)
    assert main(["build"]) == 0
    write(tiny_course, steps=STEPS.replace("Twice by hand", "Doubled"))
    assert main(["build", "--check"]) == 1
    assert "attention.worksheet.json" in capsys.readouterr().out
    assert folder.is_dir()


# ------------------------------------------------------------------ the chapter


def test_the_chapters_tables_are_those_of_its_sheet() -> None:
    sheet = chapter_sheet("attention", root=ROOT)
    assignment = source.read("attention", ROOT)
    for answer, steps in {
        "queries_keys_values": {"Q": "Q", "K": "K", "V": "V"},
        "scores": {"S": "S"},
        "floor_weights": {"H": "H", "A_floor": "A"},
    }.items():
        names: dict = {}
        text = f"from fractions import Fraction\n{assignment.answer(answer).text}"
        exec(text, names)
        for variable, step in steps.items():
            assert names[variable] == sheet.value(step)


def test_the_mistakes_of_the_sheet_are_among_the_known_ones() -> None:
    """The transposed product, the row-wise softmax, the score without its floor."""
    known = {a.name: a for a in misconceptions.load("attention", ROOT)}
    sheet = chapter_sheet("attention", root=ROOT)
    assignment = source.read("attention", ROOT)

    def given_by(name: str) -> dict:
        names: dict = {}
        cell = assignment.answer(known[name].answer)
        bound = misconceptions.apply(known[name], cell, names)
        return {n: names[n] for n in bound}

    turned = [list(row) for row in zip(*sheet.value("S"), strict=True)]
    assert given_by("queries_in_rows")["S"] == turned != sheet.value("S")
    rows = given_by("rows_add_up_to_one")["A_floor"]
    assert all(sum(row) == 1 for row in rows)
    halves = given_by("forgets_the_floor")["H"]
    assert halves == [[x / 2 for x in row] for row in sheet.value("S")]


def test_what_is_released_is_what_the_sources_say() -> None:
    data = json.loads(
        (ROOT / "exercises/attention/attention.worksheet.json").read_text("utf-8")
    )
    sheet = load_worksheet("attention", ROOT).sheet(0)
    for step, made in zip(sheet.steps, data["variants"][0]["steps"], strict=True):
        assert [[c["x"] for c in row] for row in made["cells"]] == [
            [pytest.approx(float(x)) for x in row] for row in step.values
        ]
