"""The outer wall where Docker or Podman build it: for systems that are no Linux."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from ..errors import CourseError
from ..system import by_system, sudo
from . import view
from .limits import MIB, Limits

IMAGE = "by-hand-grader"
RECIPE = Path(__file__).with_name("Containerfile")

# what the warm process needs to give every submission a user of its own, and to tidy up
CAPABILITIES = (
    "SETUID",
    "SETGID",
    "SETPCAP",
    "KILL",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
)

# what the engines' own commands need of the caller's environment
OURS = ("PATH", "HOME", "USER", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "TMPDIR")
THEIRS = ("DOCKER_", "CONTAINER", "PODMAN_")


@functools.cache
def engine() -> str:
    """The engine to use: of Podman and Docker the first that answers; remembered.

    Raises CourseError when there is none.
    """
    found = [path for path in map(shutil.which, ("podman", "docker")) if path]
    if not found:
        raise CourseError("neither Podman nor Docker is here", by_system("podman"))
    for path in found:
        with suppress(CourseError):
            running(path)
            return path
    return found[0]


def running(path: str) -> None:
    """Raise CourseError unless an engine answers."""
    done = ask([path, "info"])
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        name = Path(path).name
        raise CourseError(f"{name} does not answer: {said}", wake(name))


def wake(name: str) -> str:
    """The command that starts an engine here."""
    if name == "podman":
        return "podman info" if sys.platform == "linux" else "podman machine start"
    if sys.platform == "linux":
        return f"{sudo()}systemctl start docker"
    return "open -a Docker" if sys.platform == "darwin" else "start Docker Desktop"


def build() -> str:
    """The command that makes the image."""
    name = Path(engine()).name
    return f'{name} build -t {IMAGE} -f "{RECIPE}" "{RECIPE.parent}"'


def ready() -> None:
    """Raise CourseError unless an engine answers and has our image."""
    running(engine())
    if ask([engine(), "image", "inspect", IMAGE]).returncode != 0:
        raise CourseError(f"{Path(engine()).name} has no image {IMAGE}", build())


def ask(words: list[str]) -> subprocess.CompletedProcess[str]:
    """What an engine says to a command; an error when it says nothing."""
    try:
        return subprocess.run(
            words, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(words, 1, "", str(error))


def environment() -> dict[str, str]:
    """The caller's environment, as far as an engine's command needs it."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in OURS or name.startswith(THEIRS)
    }


def command(
    argv: list[str],
    readable: list[Path],
    env: dict[str, str],
    gpu: bool,
    network: bool,
    limits: Limits,
) -> list[str]:
    """`argv` in a container that sees the image and `readable`; see `jail.command`."""
    words = [engine(), "run", "--rm", "--interactive", "--read-only", "--workdir", "/"]
    words += [] if network else ["--network", "none"]
    words += ["--security-opt", "no-new-privileges", "--security-opt", "label=disable"]
    words += ["--cap-drop", "ALL"]
    for name in CAPABILITIES:
        words += ["--cap-add", name]
    memory = limits.memory + 1024 * MIB  # and the warm process itself
    words += ["--memory", str(memory), "--memory-swap", str(memory)]
    words += ["--pids-limit", str(limits.processes + 32)]
    words += ["--shm-size", str(limits.scratch)]
    words += ["--tmpfs", f"/tmp:rw,nosuid,nodev,mode=1777,size={2 * limits.scratch}"]
    if gpu and Path(engine()).name == "podman":
        words += ["--device", "nvidia.com/gpu=all"]
    elif gpu:
        words += ["--gpus", "all"]
    for path in view.outermost({*view.own(), *map(Path.absolute, readable)}):
        words += ["--volume", f"{path}:{path}:ro"]
    for name, value in env.items():
        words += ["--env", f"{name}={value}"]
    inside = ["python" if word == sys.executable else word for word in argv]
    return [*words, IMAGE, *inside]
