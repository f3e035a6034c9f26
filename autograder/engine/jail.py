"""The outer wall: how the warm process is started, shut in as well as this host can.

The warm process sees an interpreter and what it is given; inside it, `layers` shuts
every submission in once more.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import CourseError
from ..system import by_system, sudo
from . import canary, container, view
from .limits import Limits

LEVELS = ("namespaces", "landlock", "container", "none")  # strongest first

# what the warm process needs to shut a submission in, and nothing more
CAPABILITIES = (
    "SYS_ADMIN",  # namespaces and mounts
    "SETUID",
    "SETGID",
    "SETFCAP",  # for a plain user: to name a user in a namespace
    "SETPCAP",
    "KILL",
    "SYS_PTRACE",  # to see what memory it holds
)


@dataclass(frozen=True)
class Canary:
    """Whether a level works here.

    why  : why it does not
    mend : the command, or the step, that would give it
    """

    level: str
    works: bool
    why: str = ""
    mend: str = ""


SWITCHES = Path("/proc/sys")
SLOTS = 4000  # submissions that one process may shut in at the same time


@functools.cache
def probe(level: str) -> Canary:
    """Try a level, with a canary that is really shut in; remembered."""
    if level == "none":
        there = hasattr(os, "fork")
        return Canary(level, there, "" if there else "this system can't fork")
    try:
        if level in ("namespaces", "landlock") and sys.platform != "linux":
            raise CourseError(
                "only Linux has that", "grade in a container, or on Linux"
            )
        if level == "container":
            container.ready()
        canary.sing(functools.partial(command, level), level)
    except CourseError as error:
        return Canary(level, False, error.message, error.mend or "")
    except canary.EscapeError as error:
        return Canary(level, False, str(error), mend(level, str(error)))
    return Canary(level, True)


def strongest() -> str:
    """The first level that works here.

    Raises CourseError where not even the last one does.
    """
    for level in LEVELS:
        if probe(level).works:
            return level
    raise CourseError(
        "this system can't run a submission apart from the grader",
        "grade on Linux or macOS, or in a container (Docker or Podman)",
    )


def mend(level: str, said: str) -> str:
    """What would make a level work whose canary said that."""
    if "not import" in said or "No such file" in said:
        return f"use a Python that every user may read, not {sys.base_prefix}"
    if "number of processes" in said:
        return "grade as a plain user: the kernel does not count root's processes"
    if level == "namespaces":
        for name, value in (
            ("kernel.apparmor_restrict_unprivileged_userns", "0"),
            ("kernel.unprivileged_userns_clone", "1"),
            ("user.max_user_namespaces", "15000"),
        ):
            path = SWITCHES.joinpath(*name.split("."))
            off = "1" if value == "0" else "0"
            if path.exists() and path.read_text().strip() == off:
                return f"{sudo()}sysctl -w {name}={value}"
        return (
            "allow namespaces; a container itself needs `--privileged`, "
            "or `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`"
        )
    if level == "landlock":
        return "boot Linux 5.13 or later with `landlock` among the `lsm=` of its line"
    return container.build()


def command(
    level: str,
    argv: list[str],
    readable: list[Path],
    gpu: bool = False,
    extra: dict[str, str] | None = None,
    limits: Limits | None = None,
    without: frozenset[str] = frozenset(),
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment that start `argv` behind the outer wall.

    level    : one of LEVELS
    argv     : a Python command of this interpreter, or of the course's
    readable : files and folders that it may read, beside the interpreter
    gpu      : let it use the graphics processors
    extra    : more of the environment
    limits   : those of a submission (a container is given a bit more)
    without  : parts of the wall to leave out ("network", "pid"): for tests

    Raises CourseError when the program that builds the wall is not there.
    """
    if level not in LEVELS:
        raise CourseError(f"no level {level!r}", f"levels: {', '.join(LEVELS)}")
    env = {**view.environment(), "BY_HAND_UID": str(users(level))}
    if level == "container":
        del env["PATH"]
        env |= extra or {}
        network = "network" in without
        words = container.command(argv, readable, env, gpu, network, limits or Limits())
        return words, container.environment()
    seen = view.readable(readable)
    env |= {"BY_HAND_VIEW": json.dumps([str(path) for path in seen]), **(extra or {})}
    if level == "namespaces":
        return bubblewrap(argv, seen, gpu, without), env
    return argv, env


def users(level: str) -> int:
    """The first of the users that submissions become, where there is a choice.

    Different for two graders on one host, for a user's processes are counted together;
    in a range that neither systems nor containers give to anyone.
    """
    if level == "container":
        return 20_000 + os.getpid() % 10 * SLOTS
    return 1_900_000_000 + os.getpid() % 20_000 * SLOTS


def bubblewrap(
    argv: list[str], seen: list[Path], gpu: bool, without: frozenset[str]
) -> list[str]:
    """`argv` in namespaces of its own, with nothing but `seen` of the file system."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise CourseError("bubblewrap is not installed", by_system("bubblewrap"))
    words = [bwrap, "--die-with-parent", "--new-session", "--unshare-ipc"]
    if os.geteuid() != 0:  # root in there, for the sake of mounts; nobody out here
        words += ["--unshare-user", "--uid", "0", "--gid", "0"]
    words += [] if "pid" in without else ["--unshare-pid"]
    words += [] if "network" in without else ["--unshare-net"]
    words += ["--unshare-uts", "--hostname", "grader", "--cap-drop", "ALL"]
    for name in CAPABILITIES:
        words += ["--cap-add", f"CAP_{name}"]
    words += ["--dev", "/dev", "--proc", "/proc"]
    for folder in ("/dev/shm", "/tmp", "/desk"):
        words += ["--perms", "0755", "--tmpfs", folder]
    paths = [*seen, Path("/sys") if gpu else Path(view.PROCESSORS)]
    words += binds(paths)
    if gpu:
        for path in (p for name in view.GPU for p in Path("/dev").glob(name)):
            words += ["--dev-bind-try", str(path), str(path)]
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*words, "--chdir", "/", "--", *argv]


def binds(paths: list[Path]) -> list[str]:
    """Bubblewrap's words for paths that may be read; others may enter the folders."""
    words = []
    made = {Path("/dev"), Path("/tmp")}
    for path in paths:
        for parent in reversed(path.parents[:-1]):
            if parent not in made:
                words += ["--perms", "0755", "--dir", str(parent)]
                made.add(parent)
        if path.is_symlink() and len(path.parts) == 2:  # /lib -> usr/lib
            words += ["--symlink", str(path.readlink()), str(path)]
        else:
            words += ["--ro-bind-try", str(path), str(path)]
    return words
