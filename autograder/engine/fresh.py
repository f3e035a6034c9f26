"""The expected values of a grading run: visible ones as released, hidden ones anew.

Every grading run draws the inputs of its hidden cases from one seed. What the
reference and the known wrong answers give for them is recorded here, in a process of
its own (the grader never imports torch), and kept under `class/fresh/`: the same
release and seed are recorded once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..checking.judge import Expected
from ..checking.salt import SEEDS, salted
from ..errors import CourseError
from ..grading.results import write_text


def expected(chapter: str, root: Path, seed: int | None = None) -> Expected:
    """What a grading run compares answers with.

    seed : of the hidden cases' inputs; None for the committed ones

    Raises CourseError when the chapter has to be built again, or, naming the case,
    when an input drawn from this seed makes the reference fail.
    """
    folder = root / "solutions" / chapter
    visible = folder / f"{chapter}.expected.json"
    if seed is None:
        return Expected.read(visible, folder / f"{chapter}.hidden.json")
    if type(seed) is not int or not 0 <= seed < SEEDS:
        raise CourseError(f"{seed!r} is no seed", "a whole number from 0 to 4294967295")
    release = _release(visible)
    path = root / "class" / "fresh" / f"{chapter}-{release}-{seed}.json"
    if not _usable(path, seed):
        write_text(path, _recorded(chapter, root, seed))
    return Expected.read(visible, path)


def _release(visible: Path) -> str:
    try:
        return str(json.loads(visible.read_text(encoding="utf-8"))["release"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(
            f"{visible} can't be read: {error}", "run: python -m autograder build"
        ) from None


def _usable(path: Path, seed: int) -> bool:
    """True when the file is there, whole, and drawn as this program draws."""
    try:
        return bool(
            json.loads(path.read_text(encoding="utf-8"))["drawn"] == drawn(seed)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def drawn(seed: int) -> int:
    """What tells whether two programs draw alike: how the seed changes seed 0."""
    return salted(seed, 0)


def _recorded(chapter: str, root: Path, seed: int) -> str:
    """The hidden file's text, from a process that may import torch."""
    here = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    settings = {
        "AUTOGRADER_COURSE": str(root),
        "PYTHONPATH": os.pathsep.join(filter(None, here)),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-P", "-m", "autograder.engine.fresh", chapter]
    done = subprocess.run(
        [*command, "--seed", str(seed)],
        env=os.environ | settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise CourseError(
            f"recording the hidden cases of {chapter} failed: {done.stderr[-900:]}",
            f"try by itself: python -m autograder verify {chapter} --seed {seed}",
        ) from None
    if "error" in answer:
        raise CourseError(answer["error"], answer["mend"])
    return str(answer["text"])


# ------------------------------------------------------ in the process of its own


def record(chapter: str, root: Path, seed: int) -> str:
    """The text of a hidden file with the inputs of this seed."""
    from ..authoring import misconceptions, sidecar, source

    folder = root / "solutions" / chapter
    visible = folder / f"{chapter}.expected.json"
    committed = Expected.read(visible, folder / f"{chapter}.hidden.json")
    assignment = source.read(chapter, root)
    if sidecar.release_of(assignment) != _release(visible):
        raise CourseError(
            f"the sources of {chapter} have changed since it was built",
            f"run: python -m autograder build {chapter}",
        )
    known = misconceptions.load(chapter, root)
    try:
        _, hidden = sidecar.make(assignment, known, seed)
    except CourseError as error:
        raise CourseError(f"with seed {seed}: {error.message}", error.mend) from None
    for check_id, check in hidden["checks"].items():
        before = {
            c["label"]: c["expected"] for c in committed.checks[check_id]["cases"]
        }
        for case in check["cases"]:
            if why := unlike(case["expected"], before.get(case["label"], _NO_CASE)):
                raise CourseError(
                    f"{check_id}, case {case['label']!r}: with seed {seed} {why}",
                    "grade with another seed, and mend the case: it must hold for any",
                )
    made_by = f"python -m autograder.engine.fresh {chapter} --seed {seed}"
    return sidecar.dump({**hidden, "made_by": made_by, "drawn": drawn(seed)})


#: stands for what a case gave that was not there
_NO_CASE = object()


def unlike(value: Any, committed: Any) -> str | None:
    """Why a reference value (encoded) drawn anew can't be right, or None.

    It has to be finite where the committed one is, and a mere True or False, which
    says that a property holds, has to say the same for every input.
    """
    if committed is _NO_CASE:
        return "it has another label: labels must not depend on what is drawn"
    if type(committed) is bool and value is not committed:
        return f"the reference gives {value}, and {committed} with the committed one"
    if odd(value) and not odd(committed):
        return "the reference gives a value that is not finite"
    return None


def odd(value: Any) -> bool:
    """True when an encoded value holds a NaN or an infinity."""
    return any(leaf in ("nan", "inf", "-inf") for leaf in _numbers(value))


def _numbers(value: Any) -> Iterator[Any]:
    """The numbers of an encoded value, as they are written."""
    if not isinstance(value, dict):
        return
    if value.get("kind") == "float":
        yield value["value"]
    elif value.get("kind") in ("tensor", "array"):
        yield from value["data"]
    elif value.get("kind") == "module":
        yield from _numbers(value["state"])
    else:
        for item in value.get("items", ()):
            for part in item if isinstance(item, list) else (item,):
                yield from _numbers(part)


def main() -> None:
    """Print {"text": ...} or {"error": ..., "mend": ...} as one JSON object."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("chapter")
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args()
    out, sys.stdout = sys.stdout, sys.stderr  # what the sources print is no answer
    from ..paths import course_root, start_quickly

    start_quickly()
    try:
        answer = {"text": record(args.chapter, course_root(), args.seed)}
    except CourseError as error:
        answer = {"error": error.message, "mend": error.mend or ""}
    json.dump(answer, out)


if __name__ == "__main__":
    main()
