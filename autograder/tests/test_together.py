"""Others at work while the class is graded: a second grader, a program that has the
gradebook, students who hand in again."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.engine import pool
from autograder.grading import bring_in, gradebook, results
from autograder.grading.classroom import Classroom
from autograder.tests import state
from autograder.tests.odd_class import answer
from autograder.tests.test_pool import until

GRADE = ("grade", "attention", "--seed", "7", "--jobs", "2")
NOTEBOOK = "class/submitted/{}/attention/attention.ipynb"


def test_of_two_graders_one_does_the_work(undisturbed, classroom):
    """The first stands still, lock in hand, until the second has had its say."""
    command = [sys.executable, "-m", "autograder", *GRADE]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    first = subprocess.Popen(command, **pipes)
    try:
        until(Path("class/gradebook.db").exists, first)
        first.send_signal(signal.SIGSTOP)
        second = subprocess.run(command, **pipes)
        first.send_signal(signal.SIGCONT)
        said, errors = first.communicate()
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 1
    assert second.stdout == ""
    assert "grade is running already, in another process" in second.stderr
    assert "Traceback" not in second.stderr
    assert first.returncode == 0, errors
    assert "12 submissions, 12 graded now, 0 unchanged" in said
    assert state.differing(undisturbed, state.graded(classroom)) == {}


# ------------------------------------------------------------- the gradebook is taken

HOLDS = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.argv[2:]:
    database.execute(line).fetchone()
print("held", flush=True)
sys.stdin.read()
"""
#: how another program can have it
WAYS = {
    "writing": ["BEGIN EXCLUSIVE"],
    "about to write": ["BEGIN IMMEDIATE"],
    "reading": ["BEGIN", "SELECT * FROM grade"],
}


@contextlib.contextmanager
def held(lines: list[str]) -> Iterator[None]:
    """Another process has the gradebook, for the time of a block."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, "class/gradebook.db", *lines],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "held\n"
        yield
    finally:
        process.communicate("")


def check_database() -> None:
    """The database is whole."""
    with contextlib.closing(sqlite3.connect("class/gradebook.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_gradebook_that_is_taken_in_the_middle(
    undisturbed, classroom, monkeypatch, capsys
):
    """Even by somebody who only reads, nothing can be written: that is a clear error,
    and what was graded is written when it is free again."""
    enter = bring_in.enter

    def enter_while_held(*args):
        with held(WAYS["reading"]):
            return enter(*args)

    monkeypatch.setattr(bring_in, "enter", enter_while_held)
    assert main(GRADE) == 1
    said = capsys.readouterr().err
    assert "the gradebook can't be used: the database is locked" in said
    assert "Close it, and grade again" in " ".join(said.split())
    assert state.results(classroom) == {}
    assert state.rows(classroom) == []
    check_database()
    monkeypatch.setattr(bring_in, "enter", enter)
    assert main(GRADE) == 0
    assert state.differing(undisturbed, state.graded(classroom)) == {}


@pytest.mark.parametrize("way", WAYS)
def test_a_gradebook_that_is_taken_from_the_start(classroom, capsys, way):
    gradebook.make(Classroom.here())
    with held(WAYS[way]):
        assert main(GRADE) == 1
    said = capsys.readouterr().err
    assert "the gradebook can't be used: the database is locked" in said
    assert "Traceback" not in said
    check_database()


def test_a_formgrader_that_has_it_open_is_in_nobodys_way(undisturbed, classroom):
    """It has asked, and may ask again, but is not in the middle of anything."""
    room = Classroom.here()
    gradebook.make(room)
    with Gradebook(room.db_url) as held_open:
        assert held_open.students == []
        assert main(GRADE) == 0
        assert len(held_open.assignment_submissions("attention")) == 12
    assert state.differing(undisturbed, state.graded(classroom)) == {}


# --------------------------------------------------------------- students hand in again


def test_files_that_change_while_the_class_is_graded(
    undisturbed, classroom, monkeypatch
):
    """What was there at the start is graded; the next run sees what came."""
    grade = pool.Crew.grade
    better = nbformat.read("exercises/attention/attention.ipynb", as_version=4)
    answer(better)

    def while_they_hand_in(*args):
        for number, graded in enumerate(grade(*args)):
            if number == 0:
                nbformat.write(better, NOTEBOOK.format("ada-lin"))
                nbformat.write(better, NOTEBOOK.format("chen-wei"))
                Path(NOTEBOOK.format("anders-holm")).write_text("{")
                link = Path(NOTEBOOK.format("asha-rao"))
                link.unlink()
                link.symlink_to(Path("exercises/attention/attention.ipynb").resolve())
                shutil.rmtree("class/submitted/ben-carter")
            yield graded

    monkeypatch.setattr(pool.Crew, "grade", while_they_hand_in)
    assert main(GRADE) == 0
    found = state.graded(classroom)
    assert found["results"] == undisturbed["results"]
    assert found["pages"] == undisturbed["pages"]
    monkeypatch.setattr(pool.Crew, "grade", grade)
    assert main(GRADE) == 0
    scores = {r["student"]: r["attention checks"] for r in state.table(classroom)}
    assert scores["ada-lin"] == scores["chen-wei"] == "5"
    assert scores["anders-holm"] == scores["asha-rao"] == "0"
    assert "ben-carter" not in scores
    again = state.results(classroom)
    changed = {"ada-lin", "chen-wei", "anders-holm", "asha-rao"}
    assert {s for s in again if again[s] != undisturbed["results"][s]} == changed
    link = results.read(Path("class/results/asha-rao/attention.json"))
    assert {check.status for check in link.checks} == {"refused"}
