"""Stock nbgrader and our engine, side by side on the same class.

Points: `nbgrader autograde` and the engine agree on every check of an honest class,
exactly, when hidden cases keep the inputs that they were built with (seed None). A
seed that a grading run draws changes these inputs: an answer that is right or wrong
for all inputs gets the same points; one that is wrong for some of them only (it loses
precision, it overflows) may pass or fail where it did not before.

Rows: what a run leaves in the gradebook and in class/ is what autograde leaves, so
that formgrader, feedback and exports go on from there.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.engine import master, pool
from autograder.engine.graded import take
from autograder.grading.classroom import Classroom
from autograder.grading.isolation import choose
from autograder.tests import state
from autograder.tests.conftest import ROOT, environment
from autograder.tests.test_pool import until

NBGRADER = str(Path(sys.executable).with_name("nbgrader"))

#: a few of the simulated class: right, wrong, half done, not done
FEW = (
    *("ada-lin", "amara-okafor", "anders-holm"),
    *("anya-petrova", "ben-carter", "chen-wei"),
)

#: half a point for every day begun
PENALTY = """
from nbgrader.plugins import BasePlugin

class HalfAPoint(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.5 * (total_seconds_late // 86400 + 1)
"""
CONFIG = 'c.AssignLatePenalties.plugin_class = "penalty.HalfAPoint"\n'


def nbgrader(*args: str) -> str:
    """Run a stock nbgrader command and return what it says."""
    done = subprocess.run([NBGRADER, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def points(root: Path) -> dict[tuple[str, str], float]:
    """Automatic scores in the gradebook, by student and cell."""
    return {(row[0], row[1]): row[2] for row in state.rows(root)}


def engine_points(root: Path) -> dict[tuple[str, str], float]:
    """What the engine gives with the inputs that hidden cases were built with."""
    room = Classroom.here()
    made = master.load("attention", root, seed=None)
    students = room.students("attention")
    handed = [take(s, room.notebook(s, "attention"), made.limits) for s in students]
    job = pool.Job(made, choose(None, own_work=False))
    return {
        (graded.result.student, check.id): check.score
        for graded in pool.on_cores(job, handed, 2)
        for check in graded.result.checks
    }


def few_late(root: Path) -> None:
    """A few students, one of whom has no timestamp, a due date, and a penalty."""
    submitted = root / "class" / "submitted"
    for folder in submitted.iterdir():
        if folder.name not in FEW:
            shutil.rmtree(folder)
    (submitted / FEW[0] / "attention" / "timestamp.txt").unlink()
    (root / "penalty.py").write_text(PENALTY)
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(CONFIG)
    nbgrader("generate_assignment", "attention", "--force")
    due = "--duedate=2026-01-09 00:00:00 UTC"
    nbgrader("db", "assignment", "add", "attention", due)


def mark(root: Path) -> None:
    """What a person gives: points, extra credit, a comment."""
    with Gradebook(f"sqlite:///{root}/class/gradebook.db") as gradebook:
        where = ("attention", "attention", "anders-holm")
        gradebook.find_grade("why", *where).manual_score = 1.5
        gradebook.find_grade("softmax-check", *where).manual_score = 0.5
        gradebook.find_grade("twice-check", *where).extra_credit = 1.0
        gradebook.find_comment("why", *where).manual_comment = "Well said."
        for cell in ("why", "softmax-check"):
            gradebook.find_grade(cell, *where).needs_manual_grade = False
        gradebook.db.commit()


@pytest.fixture(scope="module")
def stock(class_once, tmp_path_factory):
    """The course after stock autograde and generate_feedback, graded by hand, and
    one submission autograded again."""
    root = tmp_path_factory.mktemp("stock") / "the course"
    shutil.copytree(class_once, root)
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, root)
        few_late(root)
        nbgrader("autograde", "attention", "--force")
        first = facts(root)
        mark(root)
        nbgrader("autograde", "attention", "--student=anders-holm", "--force")
        again = facts(root)
        nbgrader("export", "--to=stock.csv")
    return root, first, again


@pytest.fixture(scope="module")
def ours(class_once, tmp_path_factory):
    """The course after our engine, at the same points."""
    root = tmp_path_factory.mktemp("ours") / "the course"
    shutil.copytree(class_once, root)
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, root)
        few_late(root)
        assert main(["grade", "attention", "--seed", "7"]) == 0
        first = facts(root)
        mark(root)
        assert main(["grade", "attention", "--seed", "7", "--regrade"]) == 0
        again = facts(root)
        nbgrader("export", "--to=ours.csv")
    return root, first, again


def facts(root: Path) -> dict[str, Any]:
    """What a gradebook says."""
    return {
        "grades": state.rows(root),
        "comments": state.rows(root, state.COMMENTS),
        "submissions": state.rows(root, state.SUBMISSIONS),
    }


def test_the_engine_gives_the_points_of_autograde(stock, ours, monkeypatch):
    root = ours[0]
    environment(monkeypatch, root)
    theirs = points(stock[0])
    found = engine_points(root)
    assert found == {key: theirs[key] for key in found}
    assert len(found) == 2 * len(FEW)
    assert len(set(found.values())) > 3
    assert found == {key: points(root)[key] for key in found}  # nor does seed 7 differ


def test_every_row_is_as_autograde_leaves_it(stock, ours):
    assert state.differing(stock[1], ours[1]) == {}
    penalties = {row[0]: row[2] for row in ours[1]["submissions"]}
    assert len({penalty for penalty in penalties.values() if penalty}) > 1
    assert None in penalties.values()
    assert {row[2] for row in ours[1]["comments"]} == {None, "No response."}
    assert {row[5] for row in ours[1]["grades"]} == {0, 1}


def test_grading_again_leaves_the_same_rows_too(stock, ours):
    assert state.differing(stock[2], ours[2]) == {}
    assert stock[2] != stock[1]


def test_exports_are_the_same(stock, ours):
    tables = []
    for root, name in ((stock[0], "stock.csv"), (ours[0], "ours.csv")):
        with (root / name).open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            tables.append(sorted(rows, key=lambda row: row["student_id"]))
    assert tables[0] == tables[1]
    assert [row["student_id"] for row in tables[1]] == list(FEW)


def test_generate_feedback_writes_the_page_that_is_there(ours, tmp_path, monkeypatch):
    root = tmp_path / "the course"
    shutil.copytree(ours[0], root)
    environment(monkeypatch, root)
    before = state.pages(root)
    nbgrader("generate_feedback", "attention", "--force")
    after = state.pages(root)
    assert set(before) == set(FEW)
    assert state.differing({"pages": before}, {"pages": after}) == {}


# ------------------------------------------------------------------------- formgrader


@pytest.fixture
def formgrader(ours, tmp_path, monkeypatch):
    """A Jupyter server in the course; asks it for something."""
    root = tmp_path / "the course"
    shutil.copytree(ours[0], root)
    environment(monkeypatch, root)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = (
        *("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", "--IdentityProvider.token=secret"),
    )
    log = tmp_path / "log"
    home = {"HOME": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    with log.open("w") as file:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "server", *options],
            env={**os.environ, **home},
            stdout=file,
            stderr=file,
        )

    def ask(path: str, method: str = "GET", body: Any = None) -> str:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/formgrader/{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": "token secret"},
            method=method,
        )
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode("utf-8")

    def answers() -> bool:
        try:
            return bool(ask("gradebook"))
        except OSError:
            return False

    try:
        until(answers, server)
        yield ask
    finally:
        server.terminate()
        server.wait()


def test_the_formgrader_goes_on_from_there(formgrader, capsys):
    submissions = json.loads(formgrader("api/submissions/attention"))
    assert [each["student"] for each in submissions] == list(FEW)
    assert all(each["autograded"] and each["submitted"] for each in submissions)

    api = "api/submitted_notebooks/attention/attention"
    notebooks = {each["student"]: each["id"] for each in json.loads(formgrader(api))}
    pages = {who: formgrader(f"submissions/{i}/") for who, i in notebooks.items()}
    assert set(pages) == set(FEW)
    for student, page in pages.items():
        text = unescape(re.sub("<[^>]*>", "", page))
        assert student in text
        assert "def softmax(scores" in text
        assert '"a secret label"' in text  # instructors see hidden cases
        for name in ("softmax-check", "twice-check", "why"):
            assert f'id="{name}"' in page
        assert page.count('class="score') == 3
    assert "The sign stays." in pages["ben-carter"]

    grades = json.loads(formgrader(f"api/grades?submission_id={notebooks[FEW[4]]}"))
    (written,) = (g for g in grades if g["name"] == "why")
    body = {**written, "manual_score": 2, "extra_credit": None}
    formgrader(f"api/grade/{written['id']}", "PUT", body)
    assert main(["grade", "attention", "--feedback"]) == 0
    (row,) = (r for r in state.table(Path.cwd()) if r["student"] == FEW[4])
    assert row["attention why"] == "2"


# ------------------------------------------------------------------ the real chapter


@pytest.mark.slow
def test_they_agree_on_the_real_chapter(tmp_path, monkeypatch):
    for name in ("solutions", "exercises", "nbgrader_config.py", "_config.yml"):
        source, target = ROOT / name, tmp_path / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    environment(monkeypatch, tmp_path)
    assert main(["simulate", "attention", "--students", "4", "--seed", "5"]) == 0
    nbgrader("generate_assignment", "attention", "--force")
    nbgrader("autograde", "attention", "--force")
    theirs = points(tmp_path)
    found = engine_points(tmp_path)
    assert len(found) == 4 * 22
    assert found == pytest.approx({key: theirs[key] for key in found}, abs=1e-9)
    assert len(set(found.values())) > 5
