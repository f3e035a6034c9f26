"""Workers: they end with the grader, and one that dies costs nobody anything."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from autograder.cli import main
from autograder.engine import pool
from autograder.grading import results
from autograder.tests import state, workers
from autograder.tests.conftest import ROOT
from autograder.tests.odd_class import answer, cell

HERE = Path(__file__).parent

GRADE = ("grade", "attention", "--seed", "7", "--jobs", "2")

#: gives its process a name that others see, and sleeps for good
SLEEPS = """\
import ctypes, time
ctypes.CDLL(None).prctl(15, b"sleepyhead", 0, 0, 0)
time.sleep(10**6)
"""


def hand_in(root: Path, student: str, softmax: str | None = None) -> None:
    """A submission: all right, or with another softmax."""
    released = root / "exercises" / "attention" / "attention.ipynb"
    notebook = nbformat.read(released, as_version=4)
    answer(notebook)
    if softmax is not None:
        cell(notebook, "softmax").source = softmax
    path = root / "class" / "submitted" / student / "attention" / "attention.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def named(process: psutil.Process, name: str) -> list[psutil.Process]:
    """The descendants of a process that have a name."""
    found = []
    for child in process.children(recursive=True):
        try:
            if child.name() == name:
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def until(condition, process: subprocess.Popen | None = None) -> None:
    """Wait for something that must come."""
    for _ in range(1200):
        if condition():
            return
        assert process is None or process.poll() is None, "it ended"
        time.sleep(0.1)
    pytest.fail("it never came")


@pytest.mark.parametrize("level", ["namespaces", "none"])
def test_nothing_outlives_a_killed_grader(tiny_course, level):
    (tiny_course / "solutions/attention/limits.json").write_text(
        '{"seconds": 3600, "submission": 3600}'
    )
    hand_in(tiny_course, "ada", SLEEPS)
    scratch = tiny_course / "tmp"
    scratch.mkdir()
    grade = (sys.executable, "-m", "autograder", "grade", "attention")
    process = subprocess.Popen(
        [sys.executable, "-I", HERE / "watch.py", *grade, "--isolation", level],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watcher = psutil.Process(process.pid)
    try:
        until(lambda: named(watcher, "sleepyhead"), process)
        alive = [x for x in watcher.children() if x.status() != psutil.STATUS_ZOMBIE]
        (grader,) = alive
        grader.kill()
        said, _ = process.communicate(timeout=120)
    except BaseException:
        left = watcher.children(recursive=True)
        print("left:", *left, sep="\n")
        for each in (*left, process):
            each.kill()
        print(process.communicate()[0])
        raise
    assert said.splitlines()[-1].split()[0] == "-9", said
    assert list(scratch.iterdir()) == []


# ------------------------------------------------------- workers that die, and others


def without(student: str, graded: dict) -> dict:
    """The results of everybody else."""
    return {name: r for name, r in graded["results"].items() if name != student}


def test_a_killed_worker_costs_nobody_anything(undisturbed, classroom):
    killed: list[psutil.Process] = []
    over = threading.Event()

    def kill() -> None:
        """Kill the first worker that has started a process to run submissions in:
        it has a submission in hand."""
        while not killed and not over.wait(0.01):
            for worker in psutil.Process().children():
                if runs_submissions(worker):
                    worker.kill()
                    killed.append(worker)
                    return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        assert main(GRADE) == 0
    finally:
        over.set()
        thread.join()
    assert killed
    assert state.differing(undisturbed, state.graded(classroom)) == {}


def runs_submissions(process: psutil.Process) -> bool:
    try:
        return any(
            "autograder.engine.zygote" in c.cmdline() for c in process.children()
        )
    except psutil.Error:
        return False


def test_a_submission_that_ends_its_worker_is_alone_in_that(
    undisturbed, classroom, monkeypatch
):
    monkeypatch.setattr(pool, "_work", workers.ends)
    assert main(GRADE) == 0
    found = state.graded(classroom)
    assert without("ada-lin", found) == without("ada-lin", undisturbed)
    (result,) = (r for r in read_all(classroom) if r.student == "ada-lin")
    assert {check.status for check in result.checks} == {"crash"}
    assert result.checks[0].reason.startswith("the grader itself ended while")


def test_a_fault_of_ours_costs_one_submission(
    undisturbed, classroom, monkeypatch, capfd
):
    monkeypatch.setattr(pool, "_work", workers.fails)
    assert main(GRADE) == 0
    found = state.graded(classroom)
    assert without("ada-lin", found) == without("ada-lin", undisturbed)
    (result,) = (r for r in read_all(classroom) if r.student == "ada-lin")
    assert "failed on this (ZeroDivisionError)" in result.checks[0].reason
    assert "a fault of the grader" in capfd.readouterr().err


def test_workers_that_never_start_are_a_clear_error(classroom, monkeypatch, capsys):
    monkeypatch.setattr(pool, "_begin", workers.no_start)
    assert main(GRADE) == 1
    assert "end before they have anything to do" in capsys.readouterr().err


def read_all(root: Path) -> list[results.Result]:
    return results.read_all(root / "class" / "results", "attention")
