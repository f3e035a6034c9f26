"""The ways in which work comes in: an LMS's archive, the exchange, repositories."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.grading.classroom import Classroom, collect
from autograder.grading.preprocessors import course_config

NBGRADER = str(Path(sys.executable).with_name("nbgrader"))


def nbgrader(*args: str, cwd: Path | None = None) -> str:
    """Run a stock nbgrader command and return what it says."""
    done = subprocess.run(
        [NBGRADER, *args], cwd=cwd, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def submitted(root: Path) -> dict[str, bytes]:
    """Every collected notebook, by student."""
    found = (root / "class" / "submitted").glob("*/attention/attention.ipynb")
    return {path.parts[-3]: path.read_bytes() for path in found}


NAMED = {
    "all/linada_123_456_attention.ipynb": "linada",
    "all/linada_LATE_123_456_attention-1.ipynb": "linada",
    "all/Ada Lin_123_assignsubmission_file_/attention.ipynb": "Ada Lin",
    "all/Ada Lin_123_assignsubmission_file/attention.ipynb": "Ada Lin",
    "all/Ada Lin_123_assignsubmission_file_/attention/attention.ipynb": "Ada Lin",
    "Ada Lin_123_assignsubmission_file_attention.ipynb": "Ada Lin",
    "ada-lin/attention.ipynb": "ada-lin",
    "ada_lin/attention.ipynb": "ada_lin",
    "ada_lin_attention.ipynb": "ada_lin",
    "ada-lin/attention (1).ipynb": "ada-lin",
    "ada-lin/exercises/attention/attention.ipynb": "ada-lin",
    "all/__MACOSX/._linada_1_2_attention.ipynb": None,
    "all/__MACOSX/._attention.ipynb": None,
    "all/ada-lin/notes.ipynb": None,
    "all/ada-lin/attention-solution.ipynb": None,
}


@pytest.mark.parametrize("name, student", NAMED.items())
def test_names_in_archives(tiny_course, name, student):
    pattern = course_config().FileNameCollectorPlugin.named_regexp
    found = re.match(
        pattern, f"{tiny_course}/class/downloaded/attention/extracted/{name}"
    )
    assert (found and found["student_id"]) == student
    assert found is None or found["file_id"] == "attention"


def test_an_archive_of_the_lms(tiny_course):
    released = tiny_course / "exercises" / "attention" / "attention.ipynb"
    archive = tiny_course / "class" / "downloaded" / "attention" / "archive"
    archive.mkdir(parents=True)
    own = io.BytesIO()
    with zipfile.ZipFile(own, "w") as file:
        file.write(released, "attention/attention.ipynb")
        file.writestr("attention/attention.expected.json", "{}")
    with zipfile.ZipFile(archive / "submissions.zip", "w") as file:
        file.write(released, "linada_123_456_attention.ipynb")
        file.write(released, "Ben Carter_7_assignsubmission_file_/attention.ipynb")
        file.writestr("__MACOSX/._linada_123_456_attention.ipynb", b"\0")
    (archive / "cleo.zip").write_bytes(own.getvalue())
    (archive / "dora_attention.ipynb").write_bytes(released.read_bytes())
    for _ in range(2):
        nbgrader("zip_collect", "attention", "--force")
        notebooks = submitted(tiny_course)
        assert sorted(notebooks) == ["Ben Carter", "cleo", "dora", "linada"]
        assert set(notebooks.values()) == {released.read_bytes()}


def test_the_exchange(tiny_course, tmp_path, monkeypatch):
    exchange, home = tmp_path / "exchange", tmp_path / "home"
    exchange.mkdir()
    exchange.chmod(0o777)
    home.mkdir()
    where = f"--Exchange.root={exchange}"
    course = "--course=by-hand-at-scale"
    nbgrader("release_assignment", "attention", where)
    out = exchange / "by-hand-at-scale" / "outbound" / "attention"
    released = ["attention.expected.json", "attention.ipynb"]
    assert sorted(path.name for path in out.iterdir()) == released

    monkeypatch.setenv("HOME", str(home))
    nbgrader("fetch_assignment", "attention", course, where, cwd=home)
    notebook = home / "attention" / "attention.ipynb"
    text = notebook.read_text("utf-8").replace("YOUR ANSWER HERE", "My answer.")
    notebook.write_text(text, "utf-8")
    nbgrader("submit", "attention", course, where, cwd=home)

    nbgrader("collect", "attention", where)
    (found,) = submitted(tiny_course).values()
    assert found.decode("utf-8") == text
    room = Classroom.here()
    (student,) = room.students("attention")
    assert room.notebook(student, "attention").with_name("timestamp.txt").is_file()


def test_repositories(tiny_course, tmp_path):
    released = tiny_course / "exercises" / "attention" / "attention.ipynb"
    hers = tmp_path / "hers"
    shutil.copytree(tiny_course / "exercises", hers / "exercises")
    identity = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "done")):
        subprocess.run(["git", *command], cwd=hers, check=True)
    clones = tmp_path / "clones"
    clones.mkdir()
    subprocess.run(["git", "clone", "-q", hers, clones / "ada"], check=True)
    assert collect(Classroom.here(), clones, "attention") == ["ada"]
    assert submitted(tiny_course) == {"ada": released.read_bytes()}
