"""The outer wall: how the warm process is started, shut in as well as this host can.

The warm process sees an interpreter and what it is given; inside it, `layers` shuts
every submission in once more.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from ..errors import CourseError
from . import view

LEVELS = ("namespaces", "landlock", "container", "none")  # strongest first

# what the warm process needs to shut a submission in, and nothing more
CAPABILITIES = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "KILL", "SYS_PTRACE")


def command(
    level: str,
    argv: list[str],
    readable: list[Path],
    gpu: bool = False,
    extra: dict[str, str] | None = None,
    without: frozenset[str] = frozenset(),
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment that start `argv` behind the outer wall.

    level    : one of LEVELS
    readable : files and folders that it may read, beside the interpreter
    gpu      : let it use the graphics processors
    extra    : more of the environment
    without  : parts of the wall to leave out ("network", "pid", "files"): for tests
    """
    seen = view.readable(readable)
    told = json.dumps([str(path) for path in seen])
    env = {**view.environment(), "BY_HAND_VIEW": told, **(extra or {})}
    if level == "namespaces":
        return bubblewrap(argv, seen, gpu, without), env
    return argv, env


def bubblewrap(
    argv: list[str], seen: list[Path], gpu: bool, without: frozenset[str]
) -> list[str]:
    """`argv` in namespaces of its own, with nothing but `seen` of the file system."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise CourseError("bubblewrap is not installed", "install bubblewrap")
    words = [bwrap, "--die-with-parent", "--new-session", "--unshare-ipc"]
    if os.geteuid() != 0:
        words += ["--unshare-user", "--uid", "0", "--gid", "0"]
    words += [] if "pid" in without else ["--unshare-pid"]
    words += [] if "network" in without else ["--unshare-net"]
    words += ["--unshare-uts", "--hostname", "grader", "--cap-drop", "ALL"]
    for name in CAPABILITIES:
        words += ["--cap-add", f"CAP_{name}"]
    words += ["--bind", "/", "/"] if "files" in without else []
    words += ["--dev", "/dev", "--remount-ro", "/dev", "--proc", "/proc"]
    for folder in ("/dev/shm", "/tmp", "/desk"):
        words += ["--perms", "0755", "--tmpfs", folder]
    made: set[Path] = set()
    for path in [*seen, Path(view.PROCESSORS)]:
        for parent in reversed(path.parents[:-1]):
            if parent not in made and str(parent) not in ("/dev", "/tmp"):
                words += ["--perms", "0755", "--dir", str(parent)]
                made.add(parent)
        if path.is_symlink() and len(path.parts) == 2:  # /lib -> usr/lib
            words += ["--symlink", str(path.readlink()), str(path)]
        else:
            words += ["--ro-bind-try", str(path), str(path)]
    words += ["--remount-ro", "/", "--chdir", "/"]
    return [*words, "--", *argv]
