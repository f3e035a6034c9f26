"""The outer wall: what is started, and what the canary finds when a wall is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from autograder.engine import canary, jail, landlock, view
from autograder.errors import CourseError
from autograder.tests.walls.warm import become

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed"
)


@pytest.fixture(autouse=True)
def afresh():
    """No probe is remembered from one test to the next."""
    jail.probe.cache_clear()
    yield
    jail.probe.cache_clear()


def inside(code: str, *readable: Path, **more) -> str:
    """What a piece of code prints behind the outer wall alone."""
    argv = [sys.executable, "-c", code]
    words, env = jail.command("namespaces", argv, list(readable), **more)
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_bubblewrap
def test_the_warm_process_sees_an_interpreter_and_what_it_is_given(tmp_path) -> None:
    given, other = tmp_path / "given file", tmp_path / "other"
    given.write_text("given")
    other.write_text("other")
    code = (
        "import os, sys; print([os.path.exists(p) for p in {paths}], os.listdir('/'))"
    )
    here = Path(__file__)
    paths = [
        given,
        other,
        view.PACKAGE / "engine",
        here,
        "/etc/passwd",
        "/home",
        "/var",
    ]
    said = inside(code.format(paths=[str(p) for p in paths]), given)
    assert said.startswith("[True, False, True, False, False, False, False]")
    assert "writable" in inside(
        "try: open('/tmp/x', 'w'); print('writable')\nexcept OSError: print('no')"
    )
    assert "no" in inside(
        f"try: open({str(given)!r}, 'w')\nexcept OSError: print('no')", given
    )


@needs_bubblewrap
def test_it_gets_a_clean_environment(monkeypatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    names = inside("import os; print(sorted(os.environ))", extra={"MORE": "1"})
    assert "SECRET" not in names
    assert all(name in names for name in ("MORE", "OMP_NUM_THREADS", "PYTHONHASHSEED"))


@needs_bubblewrap
def test_it_has_its_own_processes_and_network() -> None:
    code = "import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))"
    assert int(inside(code)) <= 3
    code = "print(len(open('/proc/net/dev').readlines()))"
    assert int(inside(code)) == 3  # two lines of headings and `lo`


@needs_bubblewrap
def test_what_is_no_longer_there_does_no_harm(tmp_path) -> None:
    assert inside("print('works')", tmp_path / "gone") == "works"


def test_paths_within_others_are_left_out() -> None:
    paths = {Path("/usr"), Path("/usr/lib"), Path("/nowhere")}
    assert view.outermost(paths) == [Path("/usr")]


def test_links_to_the_interpreter_are_followed(tmp_path, monkeypatch) -> None:
    link = tmp_path / "python"
    link.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(link))
    seen = view.interpreter()
    assert link in seen
    real = link.resolve()
    assert any(real.is_relative_to(path) for path in seen)


def test_an_unknown_level_is_named() -> None:
    with pytest.raises(CourseError, match="moat"):
        jail.command("moat", ["python"], [])


# -- the canary -----------------------------------------------------------------------


@needs_bubblewrap
def test_the_canary_comes_back_from_the_strongest_level() -> None:
    assert jail.probe("namespaces") == jail.Canary("namespaces", True)
    assert jail.strongest() == "namespaces"


MISSED = [
    ("namespaces", ("seccomp",), "make a socket"),
    ("landlock", ("landlock",), "read a file outside"),
    ("landlock", ("landlock",), "write a file outside"),
    ("landlock", ("landlock",), "see a process outside"),
    ("landlock", ("landlock", "seccomp"), "reach the network"),
    ("landlock", ("landlock", "seccomp", "uid", "capabilities"), "kill a process"),
    ("landlock", ("landlock", "seccomp", "uid", "capabilities"), "kill the warm"),
    ("none", (), "read a file outside"),
]
if os.geteuid() == 0:
    MISSED += [("landlock", ("uid",), "start any number of processes")]


@pytest.mark.parametrize(("level", "without", "could"), MISSED)
def test_the_canary_misses_every_wall(level, without, could, any_python) -> None:
    if level == "namespaces" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    with pytest.raises(canary.EscapeError, match=could):
        canary.sing(partial(jail.command, level), level, without)


def test_the_canary_finds_nothing_amiss_behind_landlock(any_python) -> None:
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    canary.sing(partial(jail.command, "landlock"), "landlock")


@pytest.fixture
def any_python(monkeypatch, python):
    """Canaries are run by an interpreter that every user may start."""
    monkeypatch.setattr(sys, "executable", python)
    if python == "/usr/bin/python3":
        for name in ("prefix", "base_prefix", "exec_prefix", "base_exec_prefix"):
            monkeypatch.setattr(sys, name, "/usr")


def test_a_level_that_can_not_be_built_says_why(monkeypatch) -> None:
    def broken(level, argv, readable, **more):
        return ["/bin/sh", "-c", "echo no permission for that >&2; exit 1"], {}

    monkeypatch.setattr(jail, "command", broken)
    found = jail.probe("landlock")
    assert (found.works, found.why) == (False, "no permission for that")
    assert found.mend


@pytest.mark.parametrize("says", ["", "rubbish", "null"])
def test_a_canary_that_says_nothing_is_no_canary(monkeypatch, says) -> None:
    def silent(level, argv, readable, **more):
        return ["/bin/echo", says], {}

    monkeypatch.setattr(jail, "command", silent)
    assert jail.probe("landlock").works is False


def test_without_bubblewrap_the_command_that_gets_it(monkeypatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **more: None)
    found = jail.probe("namespaces")
    assert not found.works
    assert "bubblewrap" in found.mend


def test_where_there_is_no_linux(monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    for level in ("namespaces", "landlock"):
        assert "only Linux" in jail.probe(level).why
    assert jail.probe("none").works
    monkeypatch.delattr(os, "fork")
    jail.probe.cache_clear()
    assert not jail.probe("none").works
    monkeypatch.setattr(jail, "LEVELS", ("none",))
    with pytest.raises(CourseError, match="can't run"):
        jail.strongest()


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
        ("kernel/unprivileged_userns_clone", "0"),
        ("user/max_user_namespaces", "0"),
    ],
)
def test_the_switch_that_is_off_is_named(tmp_path, monkeypatch, switch, value) -> None:
    path = tmp_path / switch
    path.parent.mkdir()
    path.write_text(f"{value}\n")
    monkeypatch.setattr(jail, "SWITCHES", tmp_path)
    assert f"sysctl -w {switch.replace('/', '.')}=" in jail.mend("namespaces", "no")
    path.write_text("12345\n")
    assert "sysctl" not in jail.mend("namespaces", "no")


@needs_bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_a_plain_user_gets_the_same(project, python) -> None:
    code = "from autograder.engine import jail; print(jail.probe('namespaces'))"
    done = subprocess.run(
        [*become("user"), python, "-c", code],
        env={**os.environ, "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert "works=True" in done.stdout, done.stderr
