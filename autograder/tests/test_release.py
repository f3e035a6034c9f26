"""The students' repository: complete, clean, without answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring import release
from autograder.cli import main
from autograder.tests.conftest import ROOT


@pytest.fixture
def students(tiny_course, tmp_path) -> Path:
    for name in (".gitignore", "LICENSE", "pyproject.toml", "requirements.txt"):
        (tiny_course / name).write_bytes((ROOT / name).read_bytes())
    folder = tmp_path / "the students"
    assert main(["release", str(folder)]) == 0
    return folder


def names(folder: Path) -> set[str]:
    return release.manifest(folder)


def test_it_holds_what_students_need_and_nothing_else(students):
    there = names(students)
    assert {
        "README.md",
        "LICENSE",
        ".gitignore",
        "requirements.txt",
        "pyproject.toml",
        "exercises/attention/attention.ipynb",
        "exercises/attention/attention.expected.json",
        "autograder/checking/check.py",
        "autograder/__main__.py",
    } <= there
    for name in there:
        for unwanted in ("tests", "__pycache__", "solutions", "book/", "hidden"):
            assert unwanted not in name
    text = (students / "README.md").read_text("utf-8")
    assert "git clone https://example.org/course" in text
    assert "book/" not in text and "solutions" not in text and "make " not in text


def test_its_checks_work_without_the_course(students):
    env = {k: v for k, v in os.environ.items() if not k.startswith("AUTOGRADER")}
    code = (
        "from autograder import check; check.start('attention', 'twice'); "
        "D = [[2, 4], [6, -8]]; check('the first row', lambda: D[0]); "
        "check('the second row', lambda: D[1]); print(float(check.score()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=students / "exercises" / "attention",
        env={**env, "PYTHONPATH": str(students)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1:] == ["2.0"], done.stderr


def test_a_second_run_brings_it_up_to_date_and_keeps_git(students, tiny_course):
    (students / ".git").mkdir()
    (students / ".git" / "HEAD").write_text("ref")
    (students / "mine.txt").write_text("the instructor's own")
    stale = students / "exercises" / "attention" / "old.ipynb"
    stale.write_text("{}")
    sign = students / release.MANIFEST
    sign.write_text(sign.read_text() + "exercises/attention/old.ipynb\n../sold.txt\n")
    outside = students.parent / "sold.txt"
    outside.write_text("not ours")
    assert main(["release", str(students)]) == 0
    assert not stale.exists() and outside.exists()
    assert (students / ".git" / "HEAD").exists() and (students / "mine.txt").exists()


def test_a_fresh_clone_is_as_good_as_empty(tiny_course, tmp_path):
    folder = tmp_path / "clone"
    (folder / ".git").mkdir(parents=True)
    assert main(["release", str(folder)]) == 0
    assert "README.md" in names(folder)


def test_a_folder_of_somebody_else_is_refused(tiny_course, tmp_path, capsys):
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    assert main(["release", str(folder)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert names(folder) == {"letter.txt"}
    assert main(["release", str(folder / "letter.txt")]) == 2
    for own in (tiny_course, tiny_course / "students", tiny_course.parent):
        assert main(["release", str(own)]) == 2


def test_a_leak_stops_it(tiny_course, tmp_path, capsys):
    path = tiny_course / "exercises" / "attention" / "attention.expected.json"
    path.write_text(path.read_text().replace("{", '{"x": "a secret label",', 1))
    assert main(["release", str(tmp_path / "students")]) == 1
    assert "nothing was written" in capsys.readouterr().out
    assert not (tmp_path / "students").exists()


def test_no_file_of_the_engine_tells_an_answer(tmp_path):
    folder = tmp_path / "students"
    release.write(folder, ROOT)
    assert release.leaking(folder, ROOT) == []
    code = folder / "autograder" / "extra.py"
    answers = (ROOT / "solutions" / "attention" / "misconceptions.py").read_text(
        "utf-8"
    )
    code.write_text(answers)
    assert release.leaking(folder, ROOT)
