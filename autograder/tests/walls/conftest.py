"""Warm processes of every level, as root and as a plain user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.engine import landlock
from autograder.tests.walls.warm import NOBODY, PROJECT, Warm, become

if sys.platform != "linux":  # the walls are Linux's
    collect_ignore_glob = ["test_*"]
    USERS: tuple[str, ...] = ()
else:
    USERS = ("root", "user") if os.geteuid() == 0 else ("user",)
SHUT = [(level, user) for level in ("namespaces", "landlock") for user in USERS]

OLD_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"


@pytest.fixture(scope="session")
def project() -> Iterator[Path]:
    """The engine where every user can read it."""
    folder = Path(tempfile.mkdtemp(prefix="walls-"))
    package, here = folder / "autograder", "tests/walls/warm.py"
    (package / here).parent.mkdir(parents=True)
    shutil.copytree(PROJECT / "autograder/engine", package / "engine")
    for name in ("__init__.py", "errors.py", "system.py", here):
        shutil.copy(PROJECT / "autograder" / name, package / name)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def python() -> str:
    """An interpreter that every user can start."""
    for path in (sys.executable, "/usr/bin/python3"):
        words = [*become("user"), path, "-c", OLD_ENOUGH]
        if subprocess.run(words, capture_output=True).returncode == 0:
            return path
    pytest.skip("no Python 3.11 here that every user can start")


@pytest.fixture(scope="session")
def start(project, python):
    """Starts warm processes, and ends them with the tests."""
    begun = []

    def begin(level: str, user: str, **more) -> Warm:
        if level == "namespaces" and shutil.which("bwrap") is None:
            pytest.skip("bubblewrap is not installed")
        if level == "landlock" and not landlock.version():
            pytest.skip("this kernel has no Landlock")
        begun.append(Warm(level, user, python, project, **more))
        return begun[-1]

    yield begin
    for warm in begun:
        warm.close()


@pytest.fixture(scope="session")
def kept(start):
    """One warm process of each kind, started when it is first asked for."""
    known: dict[tuple[str, str], Warm] = {}

    def get(level: str, user: str) -> Warm:
        if (level, user) not in known:
            known[level, user] = start(level, user)
        return known[level, user]

    return get


@pytest.fixture(params=[*SHUT, *(("none", user) for user in USERS)], ids="-".join)
def any_level(request, kept) -> Warm:
    """A warm process of every level."""
    return kept(*request.param)


@pytest.fixture(params=SHUT, ids="-".join)
def shut(request, kept) -> Warm:
    """A warm process of the levels that shut in."""
    return kept(*request.param)


@pytest.fixture(params=USERS)
def spaces(request, kept) -> Warm:
    """A warm process with namespaces."""
    return kept("namespaces", request.param)


@pytest.fixture(params=USERS)
def bare(request, kept) -> Warm:
    """A warm process with Landlock, and without namespaces."""
    return kept("landlock", request.param)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder with a secret that every user may read and write, and no submission."""
    folder = Path(tempfile.mkdtemp(prefix="outside-"))
    folder.chmod(0o777)
    secret = folder / "secret"
    secret.write_text("untouched")
    secret.chmod(0o666)
    if os.geteuid() == 0:
        os.chown(secret, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)
