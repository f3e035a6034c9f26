"""The author's mistakes are named with file, line and mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring import source
from autograder.errors import CourseError
from autograder.tests.small_course import SOURCE, small_course

BROKEN = {
    "unknown role": ('role="explore"', 'role="explor"', "unknown role 'explor'"),
    "unknown key": ('role="explore"', 'rule="explore"', "unknown cell metadata 'rule'"),
    "duplicate id": ('id="picture"', 'id="setup"', "duplicate id 'setup'"),
    "no check": (
        'id="twice-check"',
        'id="twice2-check"',
        "answer 'twice' has no check",
    ),
    "no points": (" points=3", "", "softmax-check has no points"),
    "negative points": (" points=3", " points=-1", "softmax-check has no points"),
    "points elsewhere": (
        'id="picture" role="explore"',
        'id="picture" role="explore" points=2',
        "points on a cell of role explore",
    ),
    "unclosed solution": ("    ### END SOLUTION\n", "", "unclosed SOLUTION region"),
    "unclosed hidden": ("### END HIDDEN TESTS\n", "", "unclosed HIDDEN TESTS region"),
    "end without begin": (
        "### BEGIN HIDDEN TESTS\n",
        "",
        "END HIDDEN TESTS without a BEGIN",
    ),
    "nested": (
        "    exp = (",
        "    ### BEGIN SOLUTION\n    exp = (",
        "SOLUTION region inside another one",
    ),
    "misspelt marker": (
        "### BEGIN HIDDEN TESTS",
        "# BEGIN HIDDEN TESTS",
        "not a marker",
    ),
    "solution in a check": (
        "### BEGIN HIDDEN TESTS",
        "### BEGIN SOLUTION",
        "SOLUTION marker in a cell of role check",
    ),
    "no region": (
        "### BEGIN SOLUTION\nD = (2 * X).tolist()\n### END SOLUTION\n",
        "",
        "answer twice has no SOLUTION region",
    ),
    "no id": ('id="picture" role="explore"', 'role="explore"', "has no id"),
    "bad id": ('id="picture"', 'id="a picture!"', "is not a name"),
    "written as code": ('[markdown] id="why"', 'id="why"', "must be a markdown cell"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_source_says_where_and_how_to_mend(name: str, tmp_path: Path) -> None:
    old, new, words = BROKEN[name]
    assert old in SOURCE
    root = small_course(tmp_path, SOURCE.replace(old, new))
    with pytest.raises(CourseError) as caught:
        source.read("attention", root)
    assert words in caught.value.message
    path, line, _ = caught.value.message.split(":", 2)
    assert path.endswith("attention.py") and int(line) > 0
    assert caught.value.mend


def test_the_line_is_the_cells_own(tmp_path: Path) -> None:
    root = small_course(tmp_path, SOURCE.replace(" points=3", ""))
    with pytest.raises(CourseError) as caught:
        source.read("attention", root)
    number = int(caught.value.message.split(":")[1])
    text = (root / "solutions/attention/attention.py").read_text().splitlines()
    assert text[number - 1].startswith('# %% id="softmax-check"')


def test_roles_points_and_numbers_are_read(tmp_path: Path) -> None:
    assignment = source.read("attention", small_course(tmp_path))
    assert [c.id for c in assignment.by_role("answer")] == ["softmax", "twice"]
    assert assignment.points == 7
    numbers = next(c for c in assignment.cells if c.id == "numbers")
    assert "[ 1,  2]," in numbers.text and "two tokens in columns" in numbers.text
    assert source.defines_itself(assignment.answer("softmax"))
    assert not source.defines_itself(assignment.answer("twice"))


def test_the_hidden_region_is_taken_out_and_nothing_else(tmp_path: Path) -> None:
    assignment = source.read("attention", small_course(tmp_path))
    check = next(c for c in assignment.cells if c.id == "softmax-check")
    shown = source.without_hidden(check.text)
    assert "secret" not in shown and "HIDDEN" not in shown
    assert shown.count("check(") == 2
