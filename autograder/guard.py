"""Everything that guards the project, in one go: `make test`.

Every guard runs, also after one has failed, and the last lines say which failed
and how long each took. Each is a command that one can also type.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from .course import Step, autograder, book_command, run_step
from .doctor import BROWSERS, mac_browser, program
from .engine.jail import probe
from .paths import chapters, course_root

#: said of guards that are silent for a while
MINUTE = "(about a minute)"


def guards() -> list[Step]:
    """The guards, quick ones first."""
    python = sys.executable
    notebooks = [f"solutions/{name}/{name}.ipynb" for name in chapters()]
    nbval = (
        *(python, "-m", "pytest", "-p", "no:cacheprovider", "--nbval"),
        *("--nbval-sanitize-with", "autograder/sanitize.cfg"),
        *("--nbval-cell-timeout", "120", "-q", *notebooks),
    )
    check, verify = autograder("build", "--check"), autograder("verify")
    fresh = autograder("verify", "--seeds", "2")
    tests = (python, "-m", "pytest", "--numprocesses=2", "--dist=loadfile")
    return [
        Step("ruff", "the code is clean", (python, "-m", "ruff", "check", ".")),
        Step("mypy", "the types fit", (python, "-m", "mypy")),
        Step("stale", f"what is committed is fresh {MINUTE}", check),
        Step("leaks", "no release holds an answer", autograder("leaks")),
        Step("verify", f"wrong answers lose, right ones keep {MINUTE}", verify),
        Step("fresh", "the same with other hidden inputs", fresh),
        Step("nbval", f"the notebooks still say what they said {MINUTE}", nbval),
        Step("book", "the book, warnings are errors", book_command(strict=True)),
        Step("pytest", "the tests of the engine (several minutes)", tests),
    ]


def left_out() -> list[str]:
    """What pytest leaves out here because the system lacks something."""
    lines = []
    if not any(map(program, BROWSERS)) and not mac_browser():
        lines.append("Chromium is not here: no page was opened in a browser")
    if program("bwrap") is None:
        lines.append("bubblewrap is not here (Linux only): it was not tried")
    if not (canary := probe("landlock")).works:
        lines.append(f"hostile work behind Landlock alone: {canary.why}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run every guard, or those named; 1 if any failed."""
    names = [step.name for step in guards()]
    parser = argparse.ArgumentParser(prog="python -m autograder.guard")
    parser.description = __doc__
    parser.add_argument("names", nargs="*", metavar="GUARD", help=", ".join(names))
    args = parser.parse_args(argv)
    for name in args.names:
        if name not in names:
            parser.error(f"no guard {name!r}; there are {', '.join(names)}")
    root = course_root()
    todo = [step for step in guards() if not args.names or step.name in args.names]
    rows: list[tuple[Step, bool, float]] = []
    for number, step in enumerate(todo, 1):
        began = time.monotonic()
        good = run_step(step, f"{number}/{len(todo)}", root)
        rows.append((step, good, time.monotonic() - began))
    print()
    for step, good, took in rows:
        verdict = "passed" if good else "FAILED"
        print(f"{verdict}  {took:5.0f} s  {step.name:<8} {step.what}")
    for line in left_out():
        print(f"left out: {line}")
    return 0 if all(good for _, good, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
