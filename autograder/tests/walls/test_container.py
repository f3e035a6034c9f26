"""The level of containers: the command line, obeyed by a stand-in for Docker."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.engine import container, jail, view
from autograder.engine.limits import Limits
from autograder.tests.walls.warm import PROJECT

STAND_IN = Path(__file__).with_name("stand_in.py")


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """Puts the stand-in in Docker's place; returns what it was told."""
    program = tmp_path / "bin/docker"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec /usr/bin/python3 "{STAND_IN}" "$@"\n')
    program.chmod(0o755)
    told = tmp_path / "told"
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setattr(container, "OURS", (*container.OURS, "STAND_IN", told.name))
    monkeypatch.setattr(container, "THEIRS", ("STAND_IN",))
    monkeypatch.setenv("STAND_IN_TOLD", str(told))
    container.engine.cache_clear()
    jail.probe.cache_clear()

    def mode(name: str):
        monkeypatch.setenv("STAND_IN", name)
        return lambda: json.loads(told.read_text())

    yield mode
    container.engine.cache_clear()
    jail.probe.cache_clear()


def test_the_canary_comes_back_from_a_container(docker) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap, which the stand-in needs, is not installed")
    told = docker("works")
    assert jail.probe("container") == jail.Canary("container", True)
    words = told()
    assert words["--network"] == ["none"]
    assert words["--cap-drop"] == ["ALL"]
    assert "no-new-privileges" in words["--security-opt"]
    assert words["--read-only"] == words["--rm"] == words["--interactive"] == [""]
    assert int(words["--pids-limit"][0]) > Limits().processes
    assert int(words["--memory"][0]) > Limits().memory
    assert words["--memory"] == words["--memory-swap"]
    assert all(volume.endswith(":ro") for volume in words["--volume"])


@pytest.mark.parametrize(
    ("mode", "why", "mend"),
    [
        ("silent", "does not answer: Cannot connect", "docker"),
        ("empty", "no image by-hand-grader", "docker build -t by-hand-grader"),
    ],
)
def test_an_engine_that_does_not_serve_is_refused(docker, mode, why, mend) -> None:
    docker(mode)
    found = jail.probe("container")
    assert not found.works
    assert why in found.why
    assert mend in found.mend


def test_without_an_engine_the_command_that_gets_one(docker, monkeypatch) -> None:
    docker("works")
    monkeypatch.setattr(shutil, "which", lambda name, **more: None)
    assert "podman" in jail.probe("container").mend


def test_podman_is_asked_first_and_docker_when_it_is_silent(
    docker, tmp_path, monkeypatch
) -> None:
    docker("works")
    podman = tmp_path / "bin/podman"
    podman.write_text("#!/bin/sh\nexit 0\n")
    podman.chmod(0o755)
    assert container.engine() == str(podman)
    podman.write_text("#!/bin/sh\nexit 1\n")
    container.engine.cache_clear()
    assert container.engine() == str(tmp_path / "bin/docker")


def test_the_command_line(docker, tmp_path, monkeypatch) -> None:
    docker("works")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    words, env = jail.command(
        "container",
        [sys.executable, "-m", "autograder.engine.zygote"],
        [tmp_path],
        gpu=True,
        extra={"MORE": "1"},
        limits=Limits().but({"processes": 7}),
    )
    at = words.index(container.IMAGE)
    assert words[at + 1 :] == ["python", "-m", "autograder.engine.zygote"]
    assert f"{tmp_path}:{tmp_path}:ro" in words
    assert "MORE=1" in words
    assert words[words.index("--pids-limit") + 1] == "39"
    assert words[words.index("--gpus") + 1] == "all"
    assert not any(word.startswith("PATH=") for word in words)
    assert "SECRET_TOKEN" not in env
    assert env["PATH"] == os.environ["PATH"]


def test_the_image_has_the_tested_packages() -> None:
    """What the recipe names is named the same in requirements.txt."""
    wanted = re.findall(r'"([a-z]+[=<>][^"]*)"', container.RECIPE.read_text())
    allowed = (PROJECT / "requirements.txt").read_text().splitlines()
    assert len(wanted) == 5
    assert set(wanted) <= set(allowed)


def test_what_it_needs_of_the_course_is_there() -> None:
    code = f"import sys; sys.path.insert(0, {str(view.PACKAGE.parent)!r})\n"
    code += "import autograder.engine.canary, autograder.engine.layers"
    subprocess.run([sys.executable, "-S", "-c", code], check=True, cwd="/")
