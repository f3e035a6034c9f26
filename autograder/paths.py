"""Where things are: the chapters, and the folders of the course."""

from __future__ import annotations

import os
import sys
import traceback
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


def exercises_root(chapter: str) -> Path:
    """The folder whose `exercises/<chapter>` holds a released assignment: the course,
    or a students' copy of it.

    Raises CourseError when there is none.
    """
    name = Path("exercises") / chapter / f"{chapter}.expected.json"
    here = Path.cwd()
    named = os.environ.get("AUTOGRADER_COURSE")
    first = [Path(named)] if named else []
    for place in (*first, here, *here.parents, Path(__file__).parents[1]):
        if (place / name).is_file():
            return place.resolve()
    raise CourseError(
        f"{name} was not found at or above {here}",
        "run this inside the course's folder (the one with exercises/)",
        usage=True,
    )


def load_module(path: Path) -> ModuleType:
    """Import a chapter's file by its path (nothing is put on `sys.path`).

    Raises CourseError, with file and line, when it is missing or does not run.
    """
    if not path.is_file():
        raise CourseError(f"{path} is missing", "every chapter has this file")
    module = ModuleType(f"course_{path.parent.name}_{path.stem}")
    module.__file__ = str(path)
    # read afresh, never from __pycache__: an author edits and builds within seconds
    try:
        code = compile(path.read_text(encoding="utf-8-sig"), str(path), "exec")
        exec(code, module.__dict__)
    except CourseError:
        raise
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise CourseError(
            f"{path}:{line}: this is not UTF-8", "save it as UTF-8"
        ) from None
    except (Exception, SystemExit) as error:
        where = f"{path}:{line_of(error, str(path)) or 1}"
        raise CourseError(
            f"{where}: {type(error).__name__}: {error}",
            "this file must run by itself",
        ) from None
    return module


def line_of(error: BaseException, filename: str) -> int | None:
    """The line of a file where an error came up, None if it never was there."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == filename]
    return lines[-1] if lines else None


def load_worksheet(chapter: str, root: Path | None = None) -> ModuleType:
    """The chapter's `worksheet.py`: its by-hand numbers, in one place."""
    return load_module(source_file(chapter, root).with_name("worksheet.py"))


def start_quickly() -> None:
    """Leave out what takes a second or two of every start and is used by nothing here.

    nbformat imports jsonschema, and that compiles the grammar of international web
    addresses, if the package for it is there, to check the format "iri".
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
