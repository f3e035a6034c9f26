"""Small damage in a notebook's file costs no marks; names are no formulas."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.cli import main
from autograder.grading import results
from autograder.grading.mend import BOM, mended
from autograder.tests.odd_class import answer

Raw = dict[str, Any]


def handed_in(root: Path) -> Raw:
    """A right submission, as JSON."""
    notebook = nbformat.read(root / "exercises/attention/attention.ipynb", 4)
    answer(notebook)
    return json.loads(nbformat.writes(notebook))


def softmax(raw: Raw) -> Raw:
    """The cell with the answer."""
    return next(cell for cell in raw["cells"] if cell["id"] == "softmax")


DAMAGE: dict[str, Callable[[Raw], object]] = {
    "no metadata": lambda raw: raw.pop("metadata"),
    "an odd kernel": lambda raw: raw["metadata"].update(kernelspec="x"),
    "a bare cell": lambda raw: raw["cells"].append({"cell_type": "code"}),
    "an odd cell": lambda raw: raw["cells"].append({"cell_type": "x", "source": ""}),
    "a number for text": lambda raw: raw["cells"].append(
        {"cell_type": "markdown", "metadata": {}, "source": 3}
    ),
    "a text for metadata": lambda raw: softmax(raw)["metadata"].update(nbgrader="x"),
    "a list for an id": lambda raw: softmax(raw)["metadata"].update(
        nbgrader={"grade_id": ["a"]}
    ),
    "another schema": lambda raw: softmax(raw)["metadata"]["nbgrader"].update(
        schema_version=1
    ),
    "a surrogate": lambda raw: raw["cells"].append(
        {"cell_type": "markdown", "metadata": {}, "source": "\ud800"}
    ),
}


@pytest.mark.filterwarnings("ignore:Cell is missing an id")
@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_mended_once(name: str, tiny_course: Path, tmp_path: Path) -> None:
    raw = handed_in(tiny_course)
    DAMAGE[name](raw)
    path = tmp_path / "attention.ipynb"
    path.write_text(json.dumps(raw))
    text, words = mended(path)
    assert text is not None and len(words) >= 1
    nbformat.validate(nbformat.reads(text.decode(), 4))
    path.write_bytes(text)
    assert mended(path) == (None, [])


def test_what_is_whole_is_left_alone(tiny_course: Path) -> None:
    path = tiny_course / "exercises/attention/attention.ipynb"
    assert mended(path) == (None, [])


@pytest.mark.slow
def test_damaged_files_keep_their_marks(tiny_course: Path) -> None:
    raw = handed_in(tiny_course)
    files = {"=1+1": BOM + json.dumps(raw).encode()}
    for cell in raw["cells"]:
        cell["metadata"].clear()
    files["no-metadata"] = json.dumps(raw).encode()
    for cell in raw["cells"]:
        del cell["id"]
    files["no-ids"] = json.dumps(raw | {"nbformat_minor": 4}).encode()
    for student, content in files.items():
        folder = tiny_course / "class/submitted" / student / "attention"
        folder.mkdir(parents=True)
        (folder / "attention.ipynb").write_bytes(content)
    assert main(["grade", "attention"]) == 0
    graded = results.read_all(tiny_course / "class/results", "attention")
    assert [(r.student, r.score) for r in graded] == [
        ("=1+1", 5.0), ("no-ids", 5.0), ("no-metadata", 5.0),
    ]  # fmt: skip
    assert "the metadata of cell 'softmax'" in " ".join(graded[-1].warnings)
    with (tiny_course / "class/grades.csv").open() as file:
        names = [row["student"] for row in csv.DictReader(file)]
    assert names == ["'=1+1", "no-ids", "no-metadata"]
