"""The result file: what goes in comes out, and nothing else is taken."""

from __future__ import annotations

import json

import pytest

from autograder.errors import CourseError
from autograder.grading import results
from autograder.grading.results import CaseResult, CheckResult, Result


def example(**changes) -> Result:
    checks = [
        CheckResult(
            "softmax-check",
            "softmax",
            2.0,
            3.0,
            "partial",
            "values differ in 4 of 15 entries",
            "Your rows sum to 1 …",
            "normalises_rows",
            [CaseResult("the worked example", False, False, "wrong", "they differ")],
            0.004,
        ),
        CheckResult("mask-check", "mask", 0.0, 1.0, "blank"),
    ]
    fields = {
        "student": "ada-lin",
        "assignment": "attention",
        "score": 2.0,
        "max_score": 4.0,
        "checks": checks,
        "warnings": ["cell 'mask' was there more than once"],
        "isolation": "none",
        "engine": "a test",
        "notebook_sha256": "0" * 64,
    }
    return Result(**{**fields, **changes})


def test_what_is_written_is_read(tmp_path):
    path = results.write(example(), tmp_path)
    assert path == tmp_path / "ada-lin" / "attention.json"
    assert results.read(path) == example()
    assert results.read_all(tmp_path, "attention") == [example()]
    assert results.read_all(tmp_path, "lstm") == []


def test_the_format_is_the_agreed_one(tmp_path):
    raw = json.loads(results.write(example(), tmp_path).read_text("utf-8"))
    agreed = "student assignment score max_score checks warnings isolation engine"
    assert {*agreed.split(), "notebook_sha256"} <= set(raw)
    agreed = "id answer score max_score status reason hint misconception cases seconds"
    assert set(raw["checks"][0]) == set(agreed.split())
    assert {"label", "hidden", "passed"} <= set(raw["checks"][0]["cases"][0])


def test_writing_again_gives_the_same_bytes_and_leaves_nothing_behind(tmp_path):
    path = results.write(example(), tmp_path)
    before = path.read_bytes()
    results.write(example(), tmp_path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["attention.json"]


def test_a_write_that_fails_keeps_the_old_file(tmp_path, monkeypatch):
    path = results.write(example(), tmp_path)
    before = path.read_bytes()

    def full(fd):
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        results.write(example(warnings=[]), tmp_path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["attention.json"]


@pytest.mark.parametrize(
    "changes",
    [
        {"student": ""},
        {"engine": None},
        {"score": 3.0},
        {"score": float("nan")},
        {"score": True},
        {"score": "2"},
        {"max_score": 1.0},
        {"warnings": [1]},
        {"notebook_sha256": None},
        {"checks": [CheckResult("a", "a", 2.0, 4.0, "splendid")]},
        {"checks": [CheckResult("a", "a", 5.0, 4.0, "right")], "score": 5.0},
        {"checks": [CheckResult("a", "a", 1.0, 2.0, "right")] * 2},
        {
            "checks": [
                CheckResult("a", "a", 2.0, 4.0, "right", cases=[CaseResult("x", 0, 1)])
            ]
        },
    ],
)
def test_a_result_that_breaks_a_rule_is_not_written(tmp_path, changes):
    with pytest.raises(CourseError):
        results.write(example(**changes), tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw.pop("checks"),
        lambda raw: raw.update(extra=1),
        lambda raw: raw.update(checks={}),
        lambda raw: raw["checks"].append(3),
        lambda raw: raw["checks"][0].pop("id"),
        lambda raw: raw["checks"][0].update(score=1),
        lambda raw: raw["checks"][0]["cases"][0].update(passed="yes"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, damage):
    path = results.write(example(), tmp_path)
    raw = json.loads(path.read_text("utf-8"))
    damage(raw)
    path.write_text(json.dumps(raw), "utf-8")
    with pytest.raises(CourseError, match=r"attention\.json"):
        results.read(path)


@pytest.mark.parametrize("text", ["", "[]", "{", "null"])
def test_a_file_that_is_no_result_is_named(tmp_path, text):
    path = tmp_path / "attention.json"
    path.write_text(text)
    with pytest.raises(CourseError, match=r"attention\.json"):
        results.read(path)


def test_in_lines_is_the_same_data_with_an_item_a_line():
    data = {"a": [{"b": [1, "x\ny"]}, {}], "c": [], "d": {"e": None}, "ü": "ü"}
    text = results.in_lines(data)
    assert json.loads(text) == data
    assert text.splitlines()[2:4] == ['  {"b": [1, "x\\ny"]},', "  {}"]
