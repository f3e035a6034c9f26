"""The grader killed in the middle: nothing is lost, nothing counts twice.

It is killed as the kernel does it when memory is short: SIGKILL, the main process
alone. The moments are changes of the class's folder and of the gradebook, counted by
`stop_at`; in between nothing happens that a later run could see.

Four of them in a row run with everything; twenty, each with a class of its own, take
some minutes: pytest -m long autograder/tests/test_killed.py
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from autograder.tests import state
from autograder.tests.conftest import ROOT, environment

HERE = Path(__file__).parent
KILLED = -9
MOMENTS = 20


@dataclass(frozen=True)
class Ended:
    """How a grader ended.

    code    : its exit code
    orphans : how many processes outlived it, for however short a time
    changes : what it changed, when it was not killed
    """

    code: int
    orphans: int
    changes: tuple[str, ...]


def run(root: Path, at: int = 0, *more: str) -> Ended:
    """Grade until the change `at` (0: to the end), and wait until every process that
    was started is gone."""
    scratch = root / "tmp"
    scratch.mkdir(exist_ok=True)
    count = root / "changes"
    count.unlink(missing_ok=True)
    grade = (sys.executable, "-m", "autograder", "grade", "attention")
    process = subprocess.Popen(
        [sys.executable, "-I", HERE / "watch.py", *grade, *more],
        cwd=root,
        env={
            **os.environ,
            "PYTHONPATH": f"{HERE / 'stop_at'}{os.pathsep}{ROOT}",
            "STOP_AT": str(at),
            "STOP_COUNT": str(count),
            "TMPDIR": str(scratch),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said, _ = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        left = psutil.Process(process.pid).children(recursive=True)
        names = [" ".join(each.cmdline())[:200] for each in left]
        for each in (*left, process):
            each.kill()
        process.communicate()
        pytest.fail("these went on: " + "\n".join(names))
    assert process.returncode == 0, said
    code, orphans = map(int, said.splitlines()[-1].split())
    assert code in (0, KILLED), said
    assert list(scratch.iterdir()) == []
    changes = count.read_text().splitlines() if count.exists() else []
    return Ended(code, orphans, tuple(changes))


SEED = ("--seed", "7", "--jobs", "2")


@pytest.fixture(scope="module")
def counted(class_once, tmp_path_factory):
    """The class graded in one go, and what that changed."""
    root = tmp_path_factory.mktemp("counted") / "the course"
    shutil.copytree(class_once, root)
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, root)
        ended = run(root, 0, *SEED)
    assert ended.code == 0
    return state.graded(root), ended.changes


def test_the_moments_are_those_that_matter(counted):
    whole, changes = counted
    assert len(whole["results"]) == len(whole["table"].splitlines()) - 1 == 12
    assert len(whole["grades"]) == 12 * 3
    for what in (
        "INSERT INTO submitted_assignment",
        "UPDATE grade",
        "COMMIT",
        "gradebook.db.part",
        "seeds.json.part",
        "attention.ipynb.part",
        "attention.html.part",
        "attention.json.part",
        "grades.csv.part",
    ):
        assert any(what in change for change in changes), what


def test_killed_again_and_again(counted, classroom):
    whole, changes = counted
    first = next(n for n, c in enumerate(changes, 1) if "INSERT INTO grade " in c)
    for at in (1, first + 3, len(changes) // 4, len(changes) // 4):
        assert run(classroom, at, *SEED).code == KILLED
    assert run(classroom, 0, *SEED).code == 0
    assert state.differing(whole, state.graded(classroom)) == {}


@pytest.mark.long
@pytest.mark.parametrize("number", range(MOMENTS))
def test_killed_at_any_moment(counted, classroom, number):
    whole, changes = counted
    draw = random.Random(7)
    later = sorted(draw.sample(range(2, len(changes)), MOMENTS - 2))
    at = [1, *later, len(changes)][number]
    assert run(classroom, at, *SEED).code == KILLED
    assert run(classroom, 0, *SEED).code == 0
    assert state.differing(whole, state.graded(classroom)) == {}, changes[at - 1]
