"""The simulated class: every answer is what it claims to be."""

from __future__ import annotations

import contextlib
import io
import json
import os
import warnings
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.misconceptions import execute
from autograder.checking.check import check
from autograder.cli import main
from autograder.grading.simulate import NAMES
from autograder.tests.conftest import ROOT, environment

KINDS = {"reference", "alternative", "wrong", "blank", "half", "broken"}


def simulate(*more: str) -> dict[str, dict]:
    """Simulate and return what the students of the class did, by name."""
    assert main(["simulate", "attention", *more]) == 0
    where = Path(more[more.index("--to") + 1]) if "--to" in more else Path("class")
    record = json.loads((where / "simulated.json").read_text())
    return {s["student"]: s for s in record["attention"]["students"]}


def scores(notebook: Path) -> dict[str, float]:
    """The share that each check gives when the notebook's cells run here, the
    hidden cases put back."""
    found = {}
    source = Path(os.environ["AUTOGRADER_SOLUTIONS"], "attention", "attention.ipynb")
    master = {c.id: c.source for c in nbformat.read(source, 4).cells}
    names: dict = {"__name__": "__main__"}
    for cell in nbformat.read(notebook, 4).cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        explores = name is None and not cell.id.startswith(("cell-", "own-"))
        if cell.cell_type != "code" or explores:
            continue
        check.verdict = None
        is_check = str(name).endswith("-check")
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(Exception),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            text = master[cell.id] if is_check else cell.source
            execute(text, str(name), names)
        if is_check:
            verdict = check.verdict
            share = verdict.score / verdict.max_score if verdict else 0.0
            found[name.removesuffix("-check")] = share
    return found


def hold(record: dict[str, dict], folder: Path) -> dict[str, int]:
    """Hold the scores of a class against what was meant; count the kinds."""
    counted = dict.fromkeys(KINDS, 0)
    for name, student in record.items():
        got = scores(folder / name / "attention" / "attention.ipynb")
        for answer, what in student["answers"].items():
            share = got[answer]
            right = {"full": share == 1, "less": share < 1, "zero": share == 0}
            assert right[what["expect"]], f"{name}, {answer}: {what} gave {share}"
            counted[what["kind"]] += 1
    return counted


def test_names_are_many_and_usable_as_folders():
    assert len(set(NAMES)) == len(NAMES) >= 60
    assert all(name.replace("-", "").isalpha() for name in NAMES)
    assert all(name.isascii() and name.islower() for name in NAMES)


def test_every_answer_is_what_it_claims(tiny_course, monkeypatch):
    monkeypatch.setenv("AUTOGRADER_SOLUTIONS", str(tiny_course / "solutions"))
    record = simulate("--students", "90")
    assert len(record) == 90
    assert "student-090" in record
    counted = hold(record, tiny_course / "class" / "submitted")
    assert all(counted.values()), counted
    levels = {level for s in record.values() for level in s["written"].values()}
    assert levels == {"good", "poor", "blank"}
    assert sum(bool(s["extras"]) for s in record.values()) > 9


@pytest.mark.slow
def test_every_answer_is_what_it_claims_in_the_real_chapter(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRADER_COURSE", str(ROOT))
    monkeypatch.setenv("AUTOGRADER_SOLUTIONS", str(ROOT / "solutions"))
    record = simulate("--students", "6", "--to", str(tmp_path))
    monkeypatch.chdir(ROOT / "exercises" / "attention")
    hold(record, tmp_path)


def test_the_same_seed_gives_the_same_class_of_any_size(tiny_course):
    few = simulate("--students", "5", "--to", "few")
    many = simulate("--students", "9", "--to", "many")
    other = simulate("--students", "5", "--seed", "1", "--to", "other")
    assert list(many.items())[:5] == list(few.items())
    assert [s["sha256"] for s in few.values()] != [s["sha256"] for s in other.values()]
    for name in few:
        stamp = Path("few", name, "attention", "timestamp.txt").read_text()
        assert stamp == Path("many", name, "attention", "timestamp.txt").read_text()


def test_a_second_simulation_replaces_the_first(tiny_course):
    simulate("--students", "6")
    simulate("--students", "2")
    assert len(list(Path("class/submitted").iterdir())) == 2


def contents() -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in Path("class").rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", ["ada-lin", "a-real-person"])
def test_real_work_is_never_touched(tiny_course, name, capsys):
    simulate("--students", "2")
    place = Path("class/submitted", name, "attention")
    place.mkdir(parents=True, exist_ok=True)
    (place / "attention.ipynb").write_text("my own work")
    before = contents()
    assert main(["simulate", "attention", "--students", "2"]) == 1
    assert "was not made by this command" in capsys.readouterr().err
    assert before == {
        p: p.read_bytes() for p in Path("class").rglob("*") if p.is_file()
    }


def test_unusable_arguments(tiny_course, capsys):
    assert main(["simulate", "attention", "--students", "0"]) == 2
    assert main(["simulate", "nothing"]) == 2
    Path("exercises/attention/attention.ipynb").unlink()
    assert main(["simulate", "attention"]) == 1
    assert "autograder build attention" in capsys.readouterr().err


def test_timestamps_are_nbgraders(tiny_course):
    from nbgrader.utils import parse_utc

    simulate("--students", "3")
    for stamp in Path("class/submitted").glob("*/attention/timestamp.txt"):
        assert parse_utc(stamp.read_text().strip()).year == 2026


def test_the_course_is_found_from_a_folder_below(tiny_course, monkeypatch):
    environment(monkeypatch, tiny_course)
    monkeypatch.delenv("AUTOGRADER_COURSE")
    monkeypatch.chdir(tiny_course / "solutions" / "attention")
    assert main(["simulate", "attention", "--students", "1"]) == 0
    assert (tiny_course / "class" / "simulated.json").is_file()
