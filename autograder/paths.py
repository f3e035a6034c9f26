"""Where things are: the chapters, and the folders of the course."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

from .errors import CourseError

#: the nine chapter words, in course order, the same in every folder
CHAPTERS = (
    "subobject",
    "tokens",
    "attention",
    "transformer",
    "lstm",
    "sae",
    "llama",
    "dit",
    "vectordb",
)


def course_root() -> Path:
    """The folder that holds `solutions/` and `exercises/`.

    `AUTOGRADER_COURSE` if set, else the nearest such folder at or above the
    working directory, else the checkout this package was imported from.

    Raises CourseError when there is none.
    """
    named = os.environ.get("AUTOGRADER_COURSE")
    here = Path.cwd()
    places = (
        [Path(named)] if named else [here, *here.parents, Path(__file__).parents[1]]
    )
    for place in places:
        if (place / "solutions").is_dir() and (place / "nbgrader_config.py").is_file():
            return place.resolve()
    raise CourseError(
        f"no course found at or above {here}",
        "run this inside the course's folder (the one with solutions/ and exercises/)",
        usage=True,
    )


def chapters(names: list[str] | None = None, root: Path | None = None) -> list[str]:
    """The chapters that exist, in course order, or those named.

    Raises CourseError for a name that has no source.
    """
    root = root or course_root()
    there = [c for c in CHAPTERS if source_file(c, root).is_file()]
    for name in names or []:
        if name not in there:
            raise CourseError(
                f"there is no chapter {name!r} in {root / 'solutions'}",
                f"chapters here: {', '.join(there) or 'none'}",
                usage=True,
            )
    return [c for c in there if not names or c in names]


def source_file(chapter: str, root: Path | None = None) -> Path:
    """The one source of a chapter's assignment: `solutions/<c>/<c>.py`."""
    return (root or course_root()) / "solutions" / chapter / f"{chapter}.py"


def load_module(path: Path) -> ModuleType:
    """Import a chapter's file by its path (nothing is put on `sys.path`).

    Raises CourseError when the file is missing.
    """
    if not path.is_file():
        raise CourseError(f"{path} is missing", "every chapter has this file")
    module = ModuleType(f"course_{path.parent.name}_{path.stem}")
    module.__file__ = str(path)
    # read afresh, never from __pycache__: an author edits and builds within seconds
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    exec(code, module.__dict__)
    return module


def load_worksheet(chapter: str, root: Path | None = None) -> ModuleType:
    """The chapter's `worksheet.py`: its by-hand numbers, in one place."""
    return load_module(source_file(chapter, root).with_name("worksheet.py"))
