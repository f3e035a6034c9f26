"""Hidden cases draw other inputs for every seed, the same ones for the same seed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder import randn
from autograder.authoring import misconceptions, sidecar, source
from autograder.authoring.reference import walk
from autograder.authoring.verify import verify
from autograder.checking.judge import Expected, judge
from autograder.checking.salt import SEEDS, salted, set_salt, with_fresh
from autograder.cli import main
from autograder.engine import fresh
from autograder.errors import CourseError
from autograder.tests.small_course import SOURCE, small_course

HIDDEN = 'check("a secret label", softmax, 1e4 * randn(5, 3, seed=7))'
CHECK = "softmax-check"


@pytest.fixture(autouse=True)
def unsalted() -> Iterator[None]:
    yield
    set_salt(None)


# ------------------------------------------------------------------- the salt


def test_a_salt_changes_every_seed_and_none_leaves_it_as_it_was() -> None:
    plain = randn(4, seed=7)
    seen = [plain]
    for salt in (0, 1, SEEDS - 1):
        set_salt(salt)
        seen += [randn(4, seed=7), randn(4, seed=8)]
        assert torch.equal(randn(4, seed=7), seen[-2])
    set_salt(None)
    assert torch.equal(randn(4, seed=7), plain)
    assert len({tuple(x.tolist()) for x in seen}) == len(seen)


def test_the_salted_streams_are_frozen() -> None:
    """Results of earlier runs are graded again with the numbers they had."""
    assert salted(5, 7) == 2208417451
    set_salt(5)
    assert randn(2, seed=7).tolist() == pytest.approx([0.7091085, -0.2311263])


def test_the_markers_become_calls_line_for_line() -> None:
    text = (
        "check('a', f)\n"
        "if True:\n"
        "    ### BEGIN HIDDEN TESTS\n"
        "    check('b', f, '### BEGIN HIDDEN TESTS')\n"
        "    ### END HIDDEN TESTS  \n"
        "# BEGIN HIDDEN TESTS"
    )
    assert with_fresh(text, 9).split("\n") == [
        "check('a', f)",
        "if True:",
        "    __fresh__(9)",
        "    check('b', f, '### BEGIN HIDDEN TESTS')",
        "    __fresh__(None)",
        "# BEGIN HIDDEN TESTS",
    ]
    assert with_fresh("check('a', f)", 9) == "check('a', f)"


@pytest.mark.parametrize(
    "cell",
    [
        f"for _ in [1]:\n### BEGIN HIDDEN TESTS\n    {HIDDEN}\n### END HIDDEN TESTS",
        "if True:\n    pass\n"
        f"    ### BEGIN HIDDEN TESTS\n    {HIDDEN}\n    ### END HIDDEN TESTS",
        "check('a', softmax,\n### BEGIN HIDDEN TESTS\nX\n### END HIDDEN TESTS\n)",
    ],
)
def test_markers_stand_where_a_statement_can(tmp_path: Path, cell: str) -> None:
    region = f"### BEGIN HIDDEN TESTS\n{HIDDEN}\n### END HIDDEN TESTS"
    assert region in SOURCE
    root = small_course(tmp_path, SOURCE.replace(region, cell))
    with pytest.raises(CourseError, match=r"py:\d+: .*(stand where|hidden region)"):
        source.read("attention", root)


# -------------------------------------------- what the reference and others give


def values(root: Path, seed: int | None) -> tuple[dict, dict]:
    known = misconceptions.load("attention", root)
    return sidecar.make(source.read("attention", root), known, seed)


def test_hidden_cases_and_their_wrong_answers_change_visible_ones_do_not(
    tmp_path: Path,
) -> None:
    root = small_course(tmp_path)
    drawn = {seed: values(root, seed) for seed in (None, 1, 2)}
    assert drawn[None][0] == drawn[1][0] == drawn[2][0]
    cases = [hidden["checks"][CHECK]["cases"][0] for _, hidden in drawn.values()]
    for part in ("expected", "wrong"):
        assert len({json.dumps(case[part]) for case in cases}) == 3
    assert all(list(c["wrong"]) == list(cases[0]["wrong"]) for c in cases)
    assert values(root, 1) == drawn[1]


def test_no_salt_is_left_when_a_check_cell_stops(tmp_path: Path) -> None:
    source_text = SOURCE.replace(HIDDEN, "raise KeyError('in the hidden part')")
    root = small_course(tmp_path, source_text)
    plain = randn(3, seed=7)
    with pytest.raises(CourseError, match="raises KeyError"):
        values(root, 3)
    assert torch.equal(randn(3, seed=7), plain)


def test_verify_finds_a_case_that_holds_for_its_own_seed_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With seed 7 the only number is large enough to overflow; not with every one."""
    one = "100 * randn(1, 1, seed=7).abs() * torch.ones(2, 1)"
    rare = SOURCE.replace("1e4 * randn(5, 3, seed=7)", one)
    assert rare != SOURCE
    root = small_course(tmp_path, rare)
    monkeypatch.setenv("AUTOGRADER_COURSE", str(root))
    assert main(["verify"]) == 0
    assert main(["verify", "--seeds", "9"]) == 1
    said = capsys.readouterr().out
    assert "  ! softmax: wrong answer overflows keeps full marks" in said
    assert said.count("\nseed ") == 9 and "8 of 8 wrong killed" in said


def test_verify_says_a_line_a_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AUTOGRADER_COURSE", str(small_course(tmp_path)))
    assert main(["verify", "--seed", "7", "5"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said[1:]] == ["seed 7", "seed 5"]
    for wrong in (["--seed", "-1"], ["--seed", str(SEEDS)], ["--seeds", "few"]):
        with pytest.raises(SystemExit):
            main(["verify", *wrong])


# ------------------------------------------------------ for the run of a grader


def records(root: Path, seed: int | None) -> list[Any]:
    """What the reference answer gives in the softmax check."""
    for check, _, runner in walk(source.read("attention", root), seed):
        if check.id == CHECK:
            return runner.record()
    raise AssertionError(CHECK)


def test_a_run_is_judged_with_the_values_of_its_own_seed(tiny_course: Path) -> None:
    wanted = fresh.expected("attention", tiny_course, 5)
    hidden = [c["label"] for c in wanted.checks[CHECK]["cases"] if c["hidden"]]
    assert hidden == ["a secret label"]
    for seed, score in ((5, 3.0), (6, 2.0), (None, 2.0)):
        assert judge(CHECK, records(tiny_course, seed), wanted).score == score
    committed = fresh.expected("attention", tiny_course, None)
    assert judge(CHECK, records(tiny_course, None), committed).score == 3.0
    folder = tiny_course / "solutions/attention"
    assert committed == Expected.read(
        folder / "attention.expected.json", folder / "attention.hidden.json"
    )


def test_a_seed_is_recorded_once_and_again_when_its_file_is_no_good(
    tiny_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fresh.expected("attention", tiny_course, 5)
    (file,) = (tiny_course / "class/fresh").iterdir()
    whole = file.read_text()

    def nobody(*args: object, **options: object) -> None:
        raise AssertionError("a process was started")

    with monkeypatch.context() as patch:
        patch.setattr(fresh, "_recorded", nobody)
        assert fresh.expected("attention", tiny_course, 5) == first
        for other in (whole[:-9], whole.replace('"drawn": ', '"drawn": 1'), "[]"):
            file.write_text(other)
            with pytest.raises(AssertionError, match="started"):
                fresh.expected("attention", tiny_course, 5)
    assert fresh.expected("attention", tiny_course, 5) == first
    assert file.read_text() == whole


@pytest.mark.parametrize("seed", [-1, SEEDS, 1.0, True, "5"])
def test_what_is_no_seed_is_refused(tiny_course: Path, seed: Any) -> None:
    with pytest.raises(CourseError, match="is no seed"):
        fresh.expected("attention", tiny_course, seed)


def test_changed_sources_ask_for_a_build(tiny_course: Path) -> None:
    path = tiny_course / "solutions/attention/attention.py"
    path.write_text(path.read_text().replace("A small", "A larger"))
    with pytest.raises(CourseError, match="changed since") as caught:
        fresh.expected("attention", tiny_course, 5)
    assert caught.value.mend == "run: python -m autograder build attention"
    assert not (tiny_course / "class/fresh").exists()


def test_a_process_that_ends_badly_is_said(
    tiny_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(CourseError, match="failed") as caught:
        fresh.expected("attention", tiny_course, 5)
    assert caught.value.mend and "verify attention --seed 5" in caught.value.mend


#: hidden cases that hold for the committed inputs, and not for all
FRAGILE = {
    "raises": (
        "[0, 1 / int(float(randn(1, seed=7)) > 1)][1:]",
        r"with seed 5: .*no value for case 'a secret label'.*ZeroDivisionError",
    ),
    "not finite": (
        "torch.log(randn(1, seed=7) - 1)",
        r"softmax-check, case 'a secret label': with seed 5 .*not finite",
    ),
    "a property": (
        "bool(randn(1, seed=7) > 1)",
        r"case 'a secret label': with seed 5 the reference gives False, and True",
    ),
}


@pytest.mark.parametrize("name", FRAGILE)
def test_a_case_that_breaks_under_a_seed_is_named(tmp_path: Path, name: str) -> None:
    expression, words = FRAGILE[name]
    assert float(randn(1, seed=7)) > 1, "the committed input"
    text = SOURCE.replace(HIDDEN, f'check("a secret label", lambda: {expression})')
    root = small_course(tmp_path, text)
    folder = root / "solutions/attention"
    for kind, data in zip(("expected", "hidden"), values(root, None), strict=True):
        (folder / f"attention.{kind}.json").write_text(sidecar.dump(data))
    with pytest.raises(CourseError, match=words) as caught:
        fresh.record("attention", root, 5)
    assert caught.value.mend


def test_a_label_that_depends_on_the_draw_is_refused(tmp_path: Path) -> None:
    label = 'f"case {float(randn(1, seed=7)):.3f}"'
    root = small_course(tmp_path, SOURCE.replace('"a secret label"', label))
    folder = root / "solutions/attention"
    for kind, data in zip(("expected", "hidden"), values(root, None), strict=True):
        (folder / f"attention.{kind}.json").write_text(sidecar.dump(data))
    with pytest.raises(CourseError, match="labels must not depend"):
        fresh.record("attention", root, 5)


def test_values_that_may_be_infinite_stay_allowed() -> None:
    finite = {"kind": "tensor", "dtype": "float32", "shape": [1], "data": [1.0]}
    infinite = {**finite, "data": ["-inf"]}
    row = {"kind": "list", "items": [{"kind": "float", "value": "nan"}, "inf"]}
    table = {"kind": "dict", "items": [["a", infinite]]}
    assert fresh.unlike(infinite, infinite) is None
    assert fresh.unlike(finite, infinite) is None
    assert fresh.unlike("inf", "nan") is None, "a text is no number"
    for odd in (infinite, row, table):
        assert "not finite" in str(fresh.unlike(odd, finite))


def test_the_grader_imports_no_torch_for_it() -> None:
    code = "import sys, autograder.engine.fresh; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_the_assignment_holds_for_a_seed_nobody_chose() -> None:
    """`verify --seeds 2` is a guard of its own; this is one seed more."""
    assignment = source.read("attention")
    rows = verify(assignment, misconceptions.load("attention"), 20_240_229)
    assert [problem for row in rows for problem in row.problems] == []
