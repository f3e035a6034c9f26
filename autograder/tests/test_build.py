"""One source, five files; stale ones are found, fresh ones left alone."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from autograder import cli
from autograder.authoring.build import build
from autograder.authoring.source import read
from autograder.errors import CourseError
from autograder.tests.small_course import SOURCE, small_course


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = small_course(tmp_path_factory.mktemp("course with spaces"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.delenv("AUTOGRADER_COURSE", raising=False)
        assert cli.main(["build"]) == 0
        assert cli.main(["build", "--check"]) == 0
    return root


def test_the_solution_notebook_is_executed_and_right(built: Path) -> None:
    nb = nbformat.read(built / "solutions/attention/attention.ipynb", 4)
    code = [c for c in nb.cells if c.cell_type == "code"]
    assert all(c.execution_count for c in code)
    check = next(c for c in nb.cells if c.id == "softmax-check")
    assert check.outputs[-1].data["text/plain"] == "3.0"
    assert "hidden case 1" in check.outputs[0].data["text/plain"]


def test_the_release_has_stubs_and_no_hidden_case(built: Path) -> None:
    path = built / "exercises/attention/attention.ipynb"
    nb = nbformat.read(path, 4)
    nbformat.validate(nb)
    text = path.read_text() + path.with_name("attention.expected.json").read_text()
    for secret in ("SOLUTION", "HIDDEN", "secret label", "MARK SCHEME", "tolist()\\n"):
        assert secret not in text
    answer = next(c for c in nb.cells if c.id == "softmax")
    assert answer.source.endswith('raise NotImplementedError("softmax")')
    table = next(c for c in nb.cells if c.id == "twice")
    assert table.source == "D = [[..., ...],\n     [..., ...]]"
    assert all(not c.get("outputs") for c in nb.cells)
    assert "https://example.org/course" in nb.cells[1].source


def test_hidden_values_stay_in_solutions(built: Path) -> None:
    hidden = json.loads(
        (built / "solutions/attention/attention.hidden.json").read_text()
    )
    assert [c["label"] for c in hidden["checks"]["softmax-check"]["cases"]] == [
        "a secret label"
    ]
    assert not (built / "exercises/attention/attention.hidden.json").exists()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("exercises/attention/attention.ipynb", "A small", "Another"),
        (
            "exercises/attention/attention.expected.json",
            '"points": 3.0',
            '"points": 9.0',
        ),
        ("solutions/attention/attention.hidden.json", "a secret", "no secret"),
        ("solutions/attention/attention.ipynb", "A small", "Another"),
        ("solutions/attention/attention.py", "A small", "A larger"),
        ("solutions/attention/worksheet.py", "-4", "-5"),
        ("solutions/attention/misconceptions.py", "not squared", "not the square"),
    ],
)
def test_anything_stale_is_named(
    built: Path,
    file: str,
    old: str,
    new: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(built)
    path = built / file
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    try:
        assert cli.main(["build", "--check"]) == 1
    finally:
        path.write_text(before)
    said = capsys.readouterr().out
    assert "stale: " in said and "python -m autograder build" in said
    if file.endswith(("ipynb", "json")):
        assert file in said
    assert cli.main(["build", "--check"]) == 0


def test_what_is_fresh_is_left_alone(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(built)
    files = {p: p.stat().st_mtime_ns for p in built.rglob("attention.*")}
    assert cli.main(["build"]) == 0
    assert "up to date" in capsys.readouterr().out
    assert files == {p: p.stat().st_mtime_ns for p in built.rglob("attention.*")}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("D = (2 * X).tolist()", "D = 1 / 0", "ZeroDivisionError"),
        ("return exp / exp", "return None", "gives no value"),
        ("exp = (scores - ", "scores -= 1; exp = (scores - ", "changed its arguments"),
        (
            '"the first row", lambda: D[0]',
            '"the second row", lambda: D[0]',
            "used twice",
        ),
    ],
)
def test_a_reference_that_fails_its_own_check_is_an_error(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    root = small_course(tmp_path, SOURCE.replace(old, new))
    with pytest.raises(CourseError, match=words):
        build(read("attention", root), root, write=False)


def test_an_unknown_chapter_is_a_usage_error(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(built)
    assert cli.main(["build", "attentoin"]) == 2
    assert "chapters here: attention" in capsys.readouterr().err


def _output(nb: dict) -> None:
    check = next(c for c in nb["cells"] if c["id"] == "softmax-check")
    check["outputs"] = [o for o in check["outputs"] if "text/plain" not in o["data"]]


SPOILT = {
    "no JSON": lambda path: path.write_text("{"),
    "a list": lambda path: path.write_text("[]"),
    "nothing": lambda path: path.write_text("null"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "gone": lambda path: path.unlink(),
}
SPOILT_NOTEBOOK = {
    "an old format": lambda nb: [c.pop("id") for c in nb["cells"]],
    "other metadata": lambda nb: nb["metadata"].pop("kernelspec"),
    "cells are texts": lambda nb: nb.update(cells=["a"]),
    "an error": lambda nb: nb["cells"][2]["outputs"].append(
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    ),
    "a check without its score": _output,
}


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize(
    "name",
    [
        "solutions/attention/attention.ipynb",
        "solutions/attention/attention.expected.json",
        "solutions/attention/attention.hidden.json",
        "exercises/attention/attention.ipynb",
        "exercises/attention/attention.expected.json",
    ],
)
def test_a_spoilt_file_is_stale(name, how, tiny_course, capsys) -> None:
    SPOILT[how](tiny_course / name)
    assert cli.main(["build", "--check"]) == 1
    assert f"stale: {name}" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:Cell is missing an id")
@pytest.mark.parametrize("how", SPOILT_NOTEBOOK)
def test_a_spoilt_solved_notebook_is_stale(how, tiny_course, capsys) -> None:
    path = tiny_course / "solutions/attention/attention.ipynb"
    nb = json.loads(path.read_text())
    SPOILT_NOTEBOOK[how](nb)
    path.write_text(json.dumps(nb))
    assert cli.main(["build", "--check"]) == 1
    assert "stale: solutions/attention/attention.ipynb" in capsys.readouterr().out


def test_a_folder_in_the_way_is_said(tiny_course, capsys) -> None:
    path = tiny_course / "exercises/attention/attention.ipynb"
    path.unlink()
    path.mkdir()
    assert cli.main(["build"]) == 1
    assert "attention.ipynb" in capsys.readouterr().err


def test_limits_of_a_cell_are_carried_and_nothing_else_changes(tmp_path: Path) -> None:
    written = []
    for name, more in (("plain", ""), ("limited", " seconds=60 memory=8589934592")):
        text = SOURCE.replace(" points=3", f" points=3{more}").replace(
            'role="explore"', f'role="explore"{more}'
        )
        root = small_course(tmp_path / name, text)
        assert build(read("attention", root), root)
        build(read("attention", root), root)
        folder = root / "exercises/attention"
        values = json.loads((folder / "attention.expected.json").read_text())
        notebook = nbformat.read(folder / "attention.ipynb", 4)
        del values["release"]
        written.append((values, notebook))
    (plain, before), (limited, after) = written
    limits = {"seconds": 60, "memory": 8 * 2**30}
    assert limited["checks"]["softmax-check"].pop("limits") == limits
    explore = next(cell for cell in after.cells if cell.id == "picture")
    assert explore.metadata.pop("limits") == limits
    assert (limited, after) == (plain, before)
