"""The engine's verdicts on an odd class: everyone gets a row, nobody a gift."""

from __future__ import annotations

import shutil
import subprocess
import sys
from html import escape
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.source import read
from autograder.cli import main
from autograder.engine import master as masters
from autograder.engine.graded import grade, take
from autograder.engine.limits import Limits
from autograder.engine.warm import Warm
from autograder.grading import results
from autograder.grading.classroom import Classroom
from autograder.grading.typed import whole
from autograder.tests.conftest import ROOT, environment
from autograder.tests.odd_class import NOTEBOOKS, UNREADABLE, cell, odd_class


@pytest.fixture
def rows(graded):
    """The results of the class, by student."""
    found = results.read_all(graded / "class" / "results", "attention")
    return {result.student: result for result in found}


def statuses(result):
    return [check.status for check in result.checks]


def test_everyone_has_a_row(rows):
    assert set(rows) == {*NOTEBOOKS, *UNREADABLE}
    for result in rows.values():
        assert [check.id for check in result.checks] == ["softmax-check", "twice-check"]
        assert result.max_score == 5
        assert result.isolation == "namespaces"
        assert result.engine.startswith("autograder ")


def test_right_answers_get_full_marks_whatever_is_printed(rows):
    assert rows["good"].score == 5
    assert statuses(rows["good"]) == ["right", "right"]
    assert rows["good"].warnings == []
    labels = [case.label for case in rows["good"].checks[0].cases]
    assert labels[-1] == "a secret label"
    assert rows["good"].checks[0].cases[-1].hidden


def test_blank_is_zero_and_called_blank(rows):
    assert rows["blank"].score == 0
    assert statuses(rows["blank"]) == ["blank", "blank"]


def test_a_known_mistake_gets_its_hint(rows):
    check = rows["wrong"].checks[0]
    assert check.misconception == "rows"
    assert check.hint == "Your rows sum to 1, not your columns."
    assert check.score < check.max_score
    assert rows["wrong"].checks[1].score == 2


def test_half_finished_work_keeps_its_half(rows):
    syntax, table = rows["half"].checks
    assert syntax.score == 0
    assert syntax.reason.startswith("the cell of this answer raised SyntaxError")
    assert (table.status, table.score) == ("partial", 1)


def test_damage_costs_nothing(rows):
    result = rows["damaged"]
    assert result.score == 5
    text = " ".join(result.warnings)
    assert "'softmax-check' was missing and was put back" in text
    assert "'setup' was missing and was put back" in text
    assert "'twice-check' was there 2 times" in text


def test_a_replaced_check_changes_nothing(rows):
    faked, honest = rows["replaced-check"], rows["wrong"]
    assert faked.score == honest.score
    assert faked.checks[0].misconception == honest.checks[0].misconception == "rows"


def test_a_dead_kernel_costs_its_owner_only(rows):
    assert statuses(rows["killer"]) == ["crash", "right"]
    assert "ended the process" in rows["killer"].checks[0].reason


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_refused_with_the_reason(rows, name):
    result = rows[name]
    assert result.score == 0
    assert statuses(result) == ["refused", "refused"]
    assert all(check.reason for check in result.checks)


def test_the_reasons_say_what_it_is(rows):
    reasons = {name: result.checks[0].reason for name, result in rows.items()}
    assert "other.ipynb is not a notebook" in reasons["missing"]
    assert "missing" in reasons["absent"]
    assert "link" in reasons["link"]
    assert "larger" in reasons["large"]
    assert "UTF-8" in reasons["latin-1"]


def test_the_gradebook_has_the_same_points_and_a_row_for_everyone(graded, rows):
    from nbgrader.api import Gradebook

    room = Classroom.here()
    with Gradebook(room.db_url) as gradebook:
        submissions = gradebook.assignment_submissions("attention")
        assert {s.student.id for s in submissions} == set(rows)
        for submission in submissions:
            result = rows[submission.student.id]
            assert submission.score == result.score
            if statuses(result)[0] == "refused":
                assert not submission.needs_manual_grade


@pytest.mark.parametrize("name", ["good", "wrong"])
def test_nbgraders_validate_agrees(graded, rows, name):
    command = [str(Path(sys.executable).with_name("nbgrader")), "validate"]
    notebook = graded / "class" / "submitted" / name / "attention" / "attention.ipynb"
    done = subprocess.run([*command, notebook], capture_output=True, text=True)
    success = "Success! Your notebook passes all the tests." in done.stdout
    assert success == (rows[name].score == rows[name].max_score), done.stdout


@pytest.mark.slow
def test_the_real_chapter_solved_gets_full_marks(tmp_path, monkeypatch):
    for name in ("solutions", "exercises", "nbgrader_config.py", "_config.yml"):
        source, target = ROOT / name, tmp_path / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    environment(monkeypatch, tmp_path)
    released = tmp_path / "exercises" / "attention" / "attention.ipynb"
    notebook = nbformat.read(released, as_version=4)
    for answer in read("attention").by_role("answer"):
        cell(notebook, str(answer.id)).source = whole(answer)
    room = Classroom.here()
    path = room.notebook("ada", "attention")
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    assert main(["grade", "attention"]) == 0

    result = results.read(results.result_path(room.results, "ada", "attention"))
    lost = [(c.id, c.reason) for c in result.checks if c.status != "right"]
    assert lost == []
    assert result.score == result.max_score
    assert result.warnings == []
    page = room.page("ada", "attention").read_text("utf-8")
    public = "".join(p.read_text("utf-8") for p in released.parent.iterdir())
    hidden = {c.label for check in result.checks for c in check.cases if c.hidden}
    secret = {label for label in hidden if label not in public}
    assert secret
    assert not [label for label in secret if escape(label) in page]


def test_where_a_gpu_is_used_checks_run_the_cells_again(tiny_course):
    odd_class(tiny_course)
    room = Classroom.here()
    known = masters.load("attention", tiny_course)
    found = {}
    for gpu in (False, True):
        warm = Warm("namespaces", 0, known.imports, gpu)
        for name in ("good", "wrong", "half", "killer"):
            handed = take(name, room.notebook(name, "attention"), known.limits)
            found[name, gpu] = grade(known, handed, warm).result
        warm.stop()
    for (name, gpu), result in found.items():
        assert statuses(result) == statuses(found[name, not gpu]), (name, gpu)
        assert result.score == found[name, not gpu].score


LOOK = """
import ctypes
wanted = b"TOKENXY" + b"ZZY12345"
hits = 0
for line in open("/proc/self/maps"):
    span, rights, *_, name = line.split()
    if rights.startswith("rw") and not name.startswith("[v"):
        first, last = (int(end, 16) for end in span.split("-"))
        hits += ctypes.string_at(first, last - first).count(wanted)
print(hits)
"""


def test_nothing_of_a_submission_is_left_in_memory_for_the_next():
    warm = Warm("namespaces")
    warm.start()

    def hits(session) -> int:
        reply = session.ask(0, {"do": "cell", "source": LOOK}, 20)
        return int(reply.frames[0][0]["output"]["text"])

    with warm.submission(Limits(), {}) as session:
        own = hits(session)  # what it looks for is in its own memory
    with warm.submission(Limits(), {}) as session:
        source = 'for _ in range(9):\n    print(["TOK" + "ENXYZZY" + "12345"] * 500)'
        shown = session.ask(0, {"do": "cell", "source": source}, 20).frames
        assert "TOKENXYZZY12345" in shown[0][0]["output"]["text"]
        assert hits(session) > own
    with warm.submission(Limits(), {}) as session:
        assert hits(session) == own
    warm.stop()
