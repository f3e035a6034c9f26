"""The kill matrix turns red for every way an exercise can fail to tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.authoring import misconceptions
from autograder.authoring import verify as verification
from autograder.authoring.source import read
from autograder.authoring.verify import Row, table, verify
from autograder.cli import main
from autograder.errors import CourseError
from autograder.tests.small_course import MISCONCEPTIONS, SOURCE, small_course


def matrix(root: Path, known: str = MISCONCEPTIONS, source: str = SOURCE) -> list[Row]:
    small_course(root, source)
    (root / "solutions/attention/misconceptions.py").write_text(known)
    return verify(read("attention", root), misconceptions.load("attention", root))


def test_a_good_assignment_is_clean(tmp_path: Path) -> None:
    rows = matrix(tmp_path)
    assert [r.problems for r in rows] == [[], []]
    softmax = rows[0]
    assert (softmax.wrong, softmax.killed, softmax.named) == (4, 4, 4)
    assert softmax.seen == 3, "overflow shows in the hidden case only"
    assert (softmax.right, softmax.kept) == (2, 2)
    assert "8 of 8 wrong killed, 8 with their own hint" in table("attention", rows)


def test_the_command_prints_each_row_as_it_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AUTOGRADER_COURSE", str(small_course(tmp_path)))
    seen: list[str] = []
    find = verification.find

    def slowly(*args: object) -> Iterator[Row]:
        for row in find(*args):
            seen.append(capsys.readouterr().out)
            yield row

    monkeypatch.setattr(verification, "find", slowly)
    assert main(["verify"]) == 0
    seen.append(capsys.readouterr().out)
    assert seen[0].startswith("verify attention\nexercise")
    assert seen[1].startswith("softmax ") and seen[1].count("\n") == 1
    rows = find(read("attention"), misconceptions.load("attention"))
    assert "".join(seen) == table("attention", list(rows)) + "\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "/ torch.exp(scores).sum(1, keepdim=True)",
            "/ torch.exp(scores).sum(0)",
            "gets the hint of",
        ),
        ("return e / e.sum(0)", "return e / e.sum(1)", "right answer shorter loses"),
        ("(X + 2)", "(X * X)", "wrong answer adds_two gets the hint of squares"),
        ("(X + 2)", "(X + X)", "wrong answer adds_two keeps full marks"),
        ('@wrong("twice", hint="The sign stays.")', "", "3 wrong answers, at least 4"),
        ('@right("twice")\ndef as_tensor', "def as_tensor", "1 right answers"),
    ],
)
def test_what_does_not_hold_is_a_problem(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in MISCONCEPTIONS
    rows = matrix(tmp_path, MISCONCEPTIONS.replace(old, new))
    problems = [p for r in rows for p in r.problems]
    assert any(words in p for p in problems)
    assert "PROBLEM" in table("attention", rows)


def test_a_blank_that_earns_marks_is_a_problem(tmp_path: Path) -> None:
    source = SOURCE.replace(
        "D = [[..., ...],\n     [..., ...]]", "D = [[2, 4], [0, 0]]"
    )
    problems = [p for r in matrix(tmp_path, source=source) for p in r.problems]
    assert any("blank scores 1" in p for p in problems)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '@wrong("twice", hint="The sign stays.")',
            '@wrong("twice", hint="")',
            "no hint",
        ),
        ("def as_floats", "def as_tensor", "is there twice"),
        ('@right("twice")', '@right("thrice")', "which is no exercise"),
        ("X * X", "Y * Y", "cannot run in the notebook"),
    ],
)
def test_a_broken_misconceptions_file_is_an_error(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(CourseError, match=words):
        matrix(tmp_path, MISCONCEPTIONS.replace(old, new, 1))


def test_a_wrong_dtype_has_its_own_hint(tmp_path: Path) -> None:
    source = SOURCE.replace("X.float())", "X.float(), dtype=True)")
    known = MISCONCEPTIONS.replace(
        '@wrong("softmax", hint="Large',
        '@wrong("softmax", hint="Keep the dtype.")\n'
        "def doubles(scores):\n"
        "    e = torch.exp(scores - scores.max(0).values)"
        "\n    return e.double() / e.double().sum(0)\n\n\n"
        '@wrong("softmax", hint="Large',
    )  # fmt: skip
    softmax = matrix(tmp_path, known, source)[0]
    assert softmax.problems == [] and softmax.named == 5


def test_marks_for_doing_nothing_are_a_problem(tmp_path: Path) -> None:
    source = SOURCE.replace(
        'check("the worked example", softmax, X.float())',
        'check("no error", lambda: [softmax(X.float())] != [])',
    )
    problems = [p for r in matrix(tmp_path, source=source) for p in r.problems]
    assert any("does nothing scores 1" in p for p in problems)
