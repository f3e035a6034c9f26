"""The project around the engine: commands, scripts, README, ignored files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import course, guard
from autograder.authoring.source import read
from autograder.course import Step
from autograder.paths import CHAPTERS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
posix = pytest.mark.skipif(sys.platform == "win32", reason="make and sh are for POSIX")


def sh(*command: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What `make` needs, in a folder whose path has spaces."""
    place = tmp_path / "a place with spaces"
    place.mkdir()
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, place)
    shutil.copytree(ROOT / "scripts", place / "scripts")
    return place


def installed(place: Path) -> None:
    """Make it look as if `scripts/setup` had been there."""
    bin_ = place / ".venv" / "bin"
    bin_.mkdir(parents=True)
    (bin_ / "python").symlink_to(sys.executable)
    (place / ".venv" / ".place").write_text(f"{place}\n")
    files = "cat requirements.txt pyproject.toml | cksum"
    key = sh("sh", "-c", files, cwd=place).stdout
    (place / ".venv" / ".installed-course").write_text(key)


# ----------------------------------------------------------------- scripts/setup


@posix
def test_setup_says_which_python_is_needed(copy: Path) -> None:
    done = sh("scripts/setup", cwd=copy, PYTHON="/bin/false")
    assert done.returncode == 1
    assert "not a Python 3.11, 3.12 or 3.13" in done.stderr
    assert not (copy / ".venv").exists()


@posix
def test_setup_without_any_python_says_how_to_get_one(
    copy: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "dirname", "cat", "pwd"):
        (bare / name).symlink_to(shutil.which(name) or "")
    done = sh("scripts/setup", cwd=copy, PATH=str(bare), PYTHON="")
    assert done.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13" in done.stderr
    assert "apt install" in done.stderr and "brew install" in done.stderr


@posix
def test_setup_does_nothing_when_nothing_changed(copy: Path) -> None:
    installed(copy)
    done = sh("scripts/setup", cwd=copy, PYTHON="/bin/false")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@posix
@pytest.mark.parametrize("change", ["moved", "python gone"])
def test_setup_makes_a_broken_environment_anew(copy: Path, change: str) -> None:
    installed(copy)
    if change == "moved":
        copy = copy.rename(copy.with_name("another place"))
    else:
        (copy / ".venv" / "bin" / "python").unlink()
    done = sh("scripts/setup", cwd=copy, PYTHON="/bin/false")  # so far, not further
    assert done.returncode == 1 and "PYTHON=/bin/false" in done.stderr


# ---------------------------------------------------------------- scripts/system


@posix
def test_system_says_what_is_left_out(copy: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "dirname", "id"):
        (bare / name).symlink_to(shutil.which(name) or "")
    done = sh("scripts/system", "bubblewrap", cwd=copy, PATH=str(bare), CI="")
    assert done.returncode == 0
    assert "left out: the tests of the walls" in done.stderr
    assert "apt install bubblewrap" in done.stderr
    done = sh("scripts/system", "bubblewrap", cwd=copy, PATH=str(bare), CI="true")
    assert done.returncode == 1


@posix
def test_system_is_quiet_when_all_is_there(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\n")
    (tmp_path / "bwrap").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = sh("scripts/system", "bubblewrap", cwd=copy, PATH=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---------------------------------------------------------------------- Makefile


@posix
def test_make_alone_lists_every_command(copy: Path) -> None:
    listed = sh("make", cwd=copy).stdout
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    assert {"course", "test", "book", "clean", "help"} <= set(targets)
    assert all(f"make {target}" in listed for target in targets)


@posix
def test_clean_keeps_the_class_and_the_sources(copy: Path) -> None:
    keep = ["class/gradebook.db", "solutions/a/a.ipynb", "exercises/a/a.ipynb"]
    drop = ["_build/html/index.html", "solutions/a/__pycache__/a.pyc"]
    for name in [*keep, *drop, "autograder/x.py", "book/x.md"]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).touch()
    done = sh("make", "clean", cwd=copy)
    assert done.returncode == 0, done.stderr
    assert all((copy / name).exists() for name in keep)
    assert not any((copy / name).exists() for name in drop)


@posix
def test_ci_runs_what_the_readme_says() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "export CI=true" in script
    assert script.rstrip().endswith("make test")
    assert "\nmake test\n" in README
    for name in (".ci/run", "scripts/setup", "scripts/system"):
        assert os.access(ROOT / name, os.X_OK), name


# --------------------------------------------------------------- course and guard


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_the_course_stops_at_the_first_failure(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    steps = [
        Step("one", "works", python("print('first')")),
        Step("two", "fails", python("raise SystemExit(3)")),
        Step("three", "never comes", python("print('third')")),
    ]
    monkeypatch.setattr(course, "steps", lambda strict=False: steps)
    assert course.main([]) == 1
    out = capfd.readouterr().out
    assert "first" in out and "FAILED with exit code 3" in out and "third" not in out


def test_the_course_ends_with_five_lines(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(course, "course_root", lambda: tmp_path)
    monkeypatch.setattr(course, "steps", lambda strict=False: [])
    for name in ("_build/html/index.html", "class/grades.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("exercises", "class/feedback", "class/results"):
        (tmp_path / name).mkdir(parents=True)
    assert course.main([]) == 0
    lines = capfd.readouterr().out.strip().splitlines()
    assert len(lines) == 5
    for line, place in zip(
        lines, ("index.html", "exercises", "grades.csv", "feedback", "results"),
        strict=True,
    ):  # fmt: skip
        assert line.endswith(place) and str(tmp_path) in line


def test_every_guard_runs_and_the_summary_names_what_failed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    steps = [
        Step("one", "fails", python("raise SystemExit(1)")),
        Step("two", "works", python("print('second')")),
    ]
    monkeypatch.setattr(guard, "guards", lambda: steps)
    assert guard.main([]) == 1
    out = capfd.readouterr().out
    assert "second" in out
    assert re.search(r"^FAILED .* one ", out, re.M)
    assert re.search(r"^passed .* two ", out, re.M)
    assert guard.main(["two"]) == 0


def test_unknown_steps_are_unusable_arguments() -> None:
    for main in (lambda: course.main(["--only", "x"]), lambda: guard.main(["x"])):
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 2


def test_the_guards_are_all_there() -> None:
    names = [step.name for step in guard.guards()]
    wanted = {"ruff", "mypy", "stale", "leaks", "verify", "fresh"}
    wanted |= {"nbval", "book", "pytest"}
    assert wanted <= set(names)
    assert names.index("book") < names.index("pytest")  # tests look at the pages


def test_the_book_ends_in_one_plain_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from autograder.pages import book

    place = tmp_path / "my course"
    place.mkdir()
    monkeypatch.chdir(place)
    book.message("a box in green")
    line = capsys.readouterr().out
    assert line.startswith("The book: file:///") and line.count("\n") == 1
    assert line.strip().endswith("/my%20course/_build/html/index.html")
    monkeypatch.setattr(book.console, "color_terminal", lambda: False)
    book.message("it went wrong", color="red")
    assert "it went wrong" in (said := capsys.readouterr().out)
    assert "\x1b" not in said


# ------------------------------------------------------------------------- README


def test_the_readme_has_the_plain_commands() -> None:
    for step in course.steps():
        if step.name != "book":
            assert " ".join(("python", *step.command[1:])) in README
    assert "jupyter-book build ." in README
    for line in ("python -m autograder.course", "python -m autograder.guard"):
        assert line in README


def test_the_readmes_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 8
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_the_readmes_tree_is_the_tree() -> None:
    tree = README.split("## What is where")[1].split("```")[1]
    names = re.findall(r"^([\w./]+(?: _toc\.yml)?)  ", tree, re.M)
    assert len(names) > 10
    for name in " ".join(names).split():
        assert name == "class/" or (ROOT / name).exists(), name
    for name in re.findall(r"^    (\w[\w.]*)  ", tree, re.M):
        assert (ROOT / "solutions" / "attention" / name).exists(), name


def test_the_chapter_table_is_in_course_order() -> None:
    rows = re.findall(r"^\| (\d) \| \[?`(\w+)`", README, re.M)
    assert [word for _, word in rows] == list(CHAPTERS)
    for number, word in rows:
        line = next(x for x in README.splitlines() if x.startswith(f"| {number} |"))
        there = (ROOT / "solutions" / word).is_dir()
        assert ("to come" in line) is not there
        if there:
            assignment = read(word, ROOT)
            exercises = len(assignment.by_role("answer"))
            questions = len(assignment.by_role("written"))
            assert f"[{exercises} exercises, {questions} question" in line


# ------------------------------------------------------------------- requirements


def test_requirements_pin_what_was_tested_and_work_everywhere() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    assert "torch==2.13.0" in wanted
    assert "jupyter-book>=1.0.4.post1,<2" in wanted
    for line in wanted:
        assert re.match(r"^[a-z0-9-]+(==|>=)\S+(; .*)?$", line), line


@pytest.mark.parametrize("name", ["class/x/y", "_build/html/x", ".venv/x", "a/x.pyc"])
def test_git_ignores_what_is_made_here(name: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git checkout")
    assert sh("git", "check-ignore", "-q", name, cwd=ROOT).returncode == 0
