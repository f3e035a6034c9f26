"""What works on this computer, and how to get what does not. One line each.

Nothing is installed and nothing is judged: the exit code is always 0.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .engine import jail
from .errors import CourseError
from .paths import course_root
from .system import by_system, program

HELP = "say what works on this host, and how to get what does not"
EXAMPLE = "python -m autograder doctor"

_INSTALL = "python -m pip install -r requirements.txt"


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    good : whether it works
    what : what was looked at, and what was found
    why  : what it is for
    mend : the command to get it
    """

    good: bool
    what: str
    why: str
    mend: str = ""

    def line(self, plain: bool = False) -> str:
        """The line as printed; plain: for terminals that only know ASCII."""
        mark = ("yes" if self.good else "NO ") if plain else ("✓" if self.good else "✗")
        text = f"{mark} {self.what}: {self.why}"
        return text if self.good or not self.mend else f"{text}. To mend: {self.mend}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Print the findings."""
    encoding = sys.stdout.encoding or "ascii"
    plain = "utf" not in encoding.lower()
    for look in LOOKS:
        try:
            for finding in look():
                print(finding.line(plain))
        except Exception as error:  # a look that fails is a finding too
            name = look.__name__.replace("_", " ")
            print(Finding(False, name, f"{type(error).__name__}: {error}").line(plain))
    return 0


def python() -> Iterator[Finding]:
    """The interpreter's version, and whether it is the course's own."""
    version = sys.version_info[:2]
    yield Finding(
        (3, 11) <= version <= (3, 13),
        f"Python {platform.python_version()}",
        "the course needs 3.11, 3.12 or 3.13",
        "make course PYTHON=/path/to/python3.13",
    )
    yield Finding(
        sys.prefix != sys.base_prefix,
        "virtual environment",
        "keeps the course's packages apart from others",
        "python -m venv .venv",
    )


def packages() -> Iterator[Finding]:
    """Every line of requirements.txt, in one finding each for what is off."""
    try:
        lines = (course_root() / "requirements.txt").read_text("utf-8").splitlines()
    except (CourseError, OSError):
        yield Finding(False, "course folder", "nothing to compare packages with", "cd")
        return
    missing, other, wanted = [], [], 0
    for line in lines:
        named = re.match(r"^([\w.-]+)\s*([^#;]*)", line)
        if named is None:
            continue
        wanted += 1
        name, allowed = named.group(1), named.group(2).strip()
        try:
            there = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
            continue
        if not fits(there, allowed):
            other.append(f"{name} {there} (tested: {allowed})")
    what = f"packages ({wanted - len(missing)} of {wanted} there)"
    if missing:
        yield Finding(False, what, "missing: " + ", ".join(missing), _INSTALL)
    else:
        yield Finding(True, what, "what notebooks, book and grading need")
    if other:
        yield Finding(False, "versions", "; ".join(other), _INSTALL)


def fits(version: str, allowed: str) -> bool:
    """Whether a version is among those that requirements.txt allows."""
    try:
        from packaging.specifiers import SpecifierSet
    except ImportError:
        return True
    return SpecifierSet(allowed).contains(version, prereleases=True)


def torch() -> Iterator[Finding]:
    """torch, and the device it computes on."""
    try:
        import torch
    except ImportError as error:
        yield Finding(False, "torch", f"{error}", _INSTALL)
        return
    device = "CPU"
    if torch.cuda.is_available():
        device = torch.cuda.get_device_name(0)
    elif torch.backends.mps.is_available():
        device = "Apple GPU (mps)"
    why = "enough for every exercise" if device == "CPU" else "`make gpu` can use it"
    yield Finding(True, f"torch {torch.__version__} on {device}", why)


def nbgrader() -> Iterator[Finding]:
    """nbgrader, and the alembic command it calls for a new gradebook."""
    command = program("nbgrader")
    yield Finding(
        command is not None,
        "nbgrader",
        "hands out, collects and grades notebooks",
        _INSTALL,
    )
    alembic = program("alembic")
    yield Finding(
        alembic is not None,
        "alembic",
        "nbgrader calls it to make a new gradebook",
        _INSTALL,
    )
    if alembic and shutil.which("alembic") is None:
        folder = Path(alembic).parent
        yield Finding(
            False,
            "alembic on PATH",
            "`nbgrader` typed by hand finds it only in an activated environment",
            f"activate it, or put {folder} on PATH",
        )


def kernel() -> Iterator[Finding]:
    """The Jupyter kernel that notebooks ask for, and whose Python it runs."""
    from jupyter_client.kernelspec import KernelSpecManager

    found = KernelSpecManager().find_kernel_specs().get("python3")
    ours = found is not None and Path(found).is_relative_to(sys.prefix)
    what = "kernel python3" + ("" if ours or not found else f" (of {found})")
    why = "runs the notebooks" if ours else "notebooks would run another Python"
    mend = "python -m ipykernel install --sys-prefix"
    yield Finding(ours, what, why if found else "no notebook can run", mend)


def book() -> Iterator[Finding]:
    """The book's builder."""
    try:
        version = importlib.metadata.version("jupyter-book")
    except importlib.metadata.PackageNotFoundError:
        yield Finding(False, "jupyter-book", "builds the book", _INSTALL)
        return
    good = version.startswith("1.")
    why = "builds the book" if good else "the book needs release 1.x"
    yield Finding(good, f"jupyter-book {version}", why, _INSTALL)


def programs() -> Iterator[Finding]:
    """Programs of the system."""
    yield Finding(
        shutil.which("git") is not None,
        "git",
        "gets the course and its updates",
        by_system("git"),
    )
    browser = next(filter(None, map(program, BROWSERS)), None) or mac_browser()
    yield Finding(
        browser is not None,
        "Chromium",
        "only for the tests that open the book in a browser",
        by_system("chromium"),
    )


def isolation() -> Iterator[Finding]:
    """Behind which walls students' code can run here, and why not behind better."""
    last = None
    for level in jail.LEVELS:
        canary = jail.probe(level)
        what = f"isolation: {WALLS[level]}"
        if canary.works:
            yield Finding(level != "none", what, STRENGTH[level])
            return
        if (canary.why, canary.mend) != last:
            yield Finding(False, what, canary.why, canary.mend)
        last = canary.why, canary.mend


WALLS = {
    "namespaces": "namespaces (bubblewrap)",
    "landlock": "Landlock and seccomp",
    "container": "a container (Podman or Docker)",
    "none": "none",
}
STRENGTH = {
    "namespaces": "students' code sees no file, process or network of yours",
    "landlock": "students' code reads no file of yours and reaches nobody",
    "container": "shuts in students' code; ask for it: --isolation container",
    "none": "students' code would run as you: grade only what you trust",
}


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def mac_browser() -> str | None:
    """A browser where macOS keeps programs."""
    for name in ("Chromium", "Google Chrome"):
        path = Path(f"/Applications/{name}.app")
        if path.exists():
            return str(path)
    return None


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    python,
    packages,
    torch,
    nbgrader,
    kernel,
    book,
    programs,
    isolation,
)
