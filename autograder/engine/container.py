"""The outer wall where Docker or Podman build it: for systems that are no Linux."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..errors import CourseError
from ..system import by_system
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


def engine() -> str:
    """The command of the engine to use: Podman before Docker.

    Raises CourseError when there is none.
    """
    for name in ("podman", "docker"):
        if found := shutil.which(name):
            return found
    raise CourseError("neither Docker nor Podman is here", by_system("podman"))


def build() -> str:
    """The command that makes the image."""
    name = Path(engine()).name
    return f'{name} build -t {IMAGE} -f "{RECIPE}" "{RECIPE.parent}"'


def answers() -> None:
    """Raise CourseError unless an engine runs and has our image."""
    name = Path(engine()).name
    try:
        found = ask([engine(), "info"])
        if found.returncode != 0:
            said = (found.stderr.strip().splitlines() or ["no reason given"])[-1]
            mend = "podman machine start" if sys.platform != "linux" else "podman info"
            raise CourseError(
                f"{name} does not answer: {said}",
                mend if name == "podman" else "start Docker",
            )
        if ask([engine(), "image", "inspect", IMAGE]).returncode != 0:
            raise CourseError(f"{name} has no image {IMAGE}", build())
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CourseError(f"{name} does not answer: {error}", f"{name} info") from None


def ask(words: list[str]) -> subprocess.CompletedProcess[str]:
    """What an engine says to a command."""
    return subprocess.run(
        words, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
    )


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
    for path in view.outermost({view.PACKAGE, *map(Path.absolute, readable)}):
        words += ["--volume", f"{path}:{path}:ro"]
    for name, value in env.items():
        words += ["--env", f"{name}={value}"]
    inside = ["python" if word == sys.executable else word for word in argv]
    return [*words, IMAGE, *inside]
