"""The doctor reports one line each, names the mend, and never fails."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import doctor
from autograder.cli import main
from autograder.doctor import Finding
from autograder.engine import jail


def test_every_line_says_whether_and_what_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= len(doctor.LOOKS)
    assert all(line[0] in "✓✗" or line[:3] in ("yes", "NO ") for line in lines)
    text = "\n".join(lines)
    for what in ("Python", "torch", "nbgrader", "alembic", "kernel", "jupyter-book"):
        assert what in text


def test_what_is_wrong_comes_with_its_mend() -> None:
    bad = Finding(False, "git", "gets the course", "apt install git")
    good = Finding(True, "git", "gets the course", "apt install git")
    assert bad.line() == "✗ git: gets the course. To mend: apt install git"
    assert good.line() == "✓ git: gets the course"
    assert bad.line(plain=True).isascii()


def test_a_missing_and_a_wrong_package_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "requirements.txt").write_text(
        "# a comment\n\npytest>=1\nno-such-package>=2\nnumpy==0.1  # too old\n"
    )
    monkeypatch.setattr(doctor, "course_root", lambda: tmp_path)
    first, second = doctor.packages()
    assert not first.good and "no-such-package" in first.why
    assert "2 of 3" in first.what
    assert not second.good and "numpy" in second.why and "0.1" in second.why
    assert "pytest" not in second.why


def test_a_look_that_raises_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken():
        raise OSError("no such device")

    monkeypatch.setattr(doctor, "LOOKS", (broken,))
    assert main(["doctor"]) == 0
    assert "broken: OSError: no such device" in capsys.readouterr().out


def test_nothing_is_found_on_an_empty_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert not any(finding.good for finding in doctor.nbgrader())
    git = next(doctor.programs())
    assert not git.good and "git" in git.mend


def test_a_venv_that_is_not_activated_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("nbgrader", "alembic"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "")
    findings = list(doctor.nbgrader())
    assert [finding.good for finding in findings] == [True, True, False]
    assert "activate" in findings[-1].mend


def test_the_kernel_is_this_environments() -> None:
    (finding,) = doctor.kernel()
    assert finding.good, finding.line()


def test_torch_names_its_device() -> None:
    (finding,) = doctor.torch()
    assert finding.good
    assert importlib.metadata.version("torch").split("+")[0] in finding.what


def canaries(monkeypatch: pytest.MonkeyPatch, **works: str) -> list[Finding]:
    """What is found where levels work (\"\"), or do not for the reason given."""

    def probe(level: str) -> jail.Canary:
        why = works.get(level, "")
        return jail.Canary(level, not why, why, f"get {level}" if why else "")

    monkeypatch.setattr(jail, "probe", probe)
    return list(doctor.isolation())


def test_the_strongest_walls_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (finding,) = canaries(monkeypatch)
    assert finding.good
    assert "namespaces" in finding.what


def test_why_no_stronger_walls_and_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = canaries(monkeypatch, namespaces="not allowed")
    assert first.line().endswith("not allowed. To mend: get namespaces")
    assert second.good
    assert "Landlock" in second.what


def test_no_walls_at_all_is_not_good(monkeypatch: pytest.MonkeyPatch) -> None:
    *others, last = canaries(monkeypatch, namespaces="a", landlock="b", container="c")
    assert len(others) == 3
    assert not last.good
    assert "only what you trust" in last.why


def test_the_same_reason_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        jail, "probe", lambda level: jail.Canary(level, level == "none", "x", "y")
    )
    assert len(list(doctor.isolation())) == 2


def test_the_walls_are_tried_and_not_only_found() -> None:
    *_, last = doctor.isolation()
    assert doctor.WALLS[jail.strongest()] in last.what


def test_doctor_runs_where_nothing_is_installed() -> None:
    """A bare Python, without site-packages: the place where it is needed most."""
    done = subprocess.run(
        [sys.executable, "-S", "-m", "autograder", "doctor"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert "numpy" in done.stdout
