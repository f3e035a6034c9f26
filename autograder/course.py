"""Everything from source to grade, in one go: `make course`.

Builds the notebooks and the book, simulates a class for the first chapter that
is there, grades it, and says where everything is. Each step is a command that
one can also type; this file only runs them in order.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import CourseError
from .paths import course_root

#: the chapter that is simulated and graded, and the size of its class
CHAPTER = "attention"
STUDENTS = 12


@dataclass(frozen=True)
class Step:
    """One command: its short name, what it does, and the command itself."""

    name: str
    what: str
    command: tuple[str, ...]


def autograder(*args: str) -> tuple[str, ...]:
    """A command of this package, run by this interpreter."""
    return (sys.executable, "-m", "autograder", *args)


def book_command(strict: bool) -> tuple[str, ...]:
    """The command that builds the book; strict: every warning is an error."""
    flags = ("-W", "-n", "--keep-going") if strict else ()
    book = ("-m", "autograder.pages.book", "build", ".", "--quiet")
    return (sys.executable, *book, *flags)


def steps(strict: bool = False) -> list[Step]:
    """The steps of `make course`, in order."""
    grade = autograder("grade", CHAPTER)
    simulate = autograder("simulate", CHAPTER, "--students", str(STUDENTS))
    return [
        Step("build", "the notebooks, from their sources", autograder("build")),
        Step("book", "the book", book_command(strict)),
        Step("simulate", f"a class of {STUDENTS} hands in '{CHAPTER}'", simulate),
        Step("grade", f"'{CHAPTER}' is graded", grade),
    ]


def environment() -> dict[str, str]:
    """The environment of every step: this interpreter's tools come first."""
    here = str(Path(sys.executable).parent)
    path = os.pathsep.join([here, os.environ.get("PATH", "")])
    plain = {} if sys.stdout.isatty() else {"NO_COLOR": "1"}
    return {**os.environ, **plain, "PATH": path, "PYTHONUNBUFFERED": "1"}


def run_step(step: Step, label: str, root: Path) -> bool:
    """Run one step in the course's folder, its output passed on. True if it did."""
    print(f"\n[{label}] {step.name}: {step.what}", flush=True)
    began = time.monotonic()
    code = subprocess.run(step.command, cwd=root, env=environment()).returncode
    took = time.monotonic() - began
    end = "done" if code == 0 else f"FAILED with exit code {code}"
    print(f"[{label}] {step.name}: {end} in {took:.0f} s", flush=True)
    return code == 0


def closing_lines(root: Path) -> list[str]:
    """The five lines: where the book, exercises, grades, feedback, results are."""
    places = {
        "The book": root / "_build" / "html" / "index.html",
        "The exercises": root / "exercises",
        "The grades (CSV)": root / "class" / "grades.csv",
        "The feedback pages": root / "class" / "feedback",
        "The results": root / "class" / "results",
    }
    for what, place in places.items():
        if not place.exists():
            raise CourseError(f"{what.lower()}: {place} is missing")
    return [f"{what + ':':<20} {place}" for what, place in places.items()]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the steps, stop at the first that fails, end with the five lines."""
    parser = argparse.ArgumentParser(prog="python -m autograder.course")
    parser.description = __doc__
    parser.add_argument("--only", metavar="STEP", help="run this one step")
    parser.add_argument(
        "--strict", action="store_true", help="the book's warnings are errors"
    )
    args = parser.parse_args(argv)
    todo = steps(args.strict)
    if args.only:
        todo = [step for step in todo if step.name == args.only]
        if not todo:
            names = ", ".join(step.name for step in steps())
            parser.error(f"no step {args.only!r}; there are {names}")
    root = course_root()
    for number, step in enumerate(todo, 1):
        if not run_step(step, f"{number}/{len(todo)}", root):
            return 1
    if not args.only:
        print()
        print("\n".join(closing_lines(root)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
