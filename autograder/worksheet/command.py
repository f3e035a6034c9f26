"""Print a chapter's worksheet as a PDF: blank, or solved as its key.

Variant 0 has the course's own numbers. Another number, or a name, gives other
numbers of the same kind, the same ones every time: a sheet for each student, and
with --key the sheet to mark it by.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import pkgutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

from ..errors import CourseError
from ..paths import CHAPTERS, course_root, load_worksheet, source_file
from . import examples
from .data import draw
from .sheet import Worksheet

HELP = "a by-hand example to print: blank or key, with each student's own numbers"
EXAMPLE = (
    "python -m autograder worksheet attention --variant ada -o ada.pdf\n"
    "  python -m autograder worksheet attention --variant ada --key -o ada-key.pdf"
)
#: names become variants below this; a page's own variants are the first few
NAMED = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("chapter", help="a chapter, or one of the example sheets")
    parser.add_argument("--key", action="store_true", help="with the values")
    parser.add_argument(
        "--variant", default="0", metavar="N|NAME", help="other numbers; default: 0"
    )
    parser.add_argument("--paper", choices=("a4", "letter"), default="a4")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.pdf")


def run(args: argparse.Namespace) -> int:
    """Write the PDF and say what is in it."""
    from . import pdf

    if args.output.suffix.lower() != ".pdf":
        raise CourseError(
            f"{args.output} is not a PDF's name", "let it end in .pdf", usage=True
        )
    if not args.output.parent.is_dir():
        raise CourseError(
            f"there is no folder {args.output.parent}", "make it first", usage=True
        )
    number, owner = variant(args.variant)
    sheet = numbered(args.chapter, number)
    pages = pdf.write(
        sheet,
        args.output,
        key=args.key,
        paper=args.paper,
        owner=owner,
        address=_address(),
    )
    what = "key" if args.key else "blank"
    print(
        f"{args.output}: {sheet.title}, {what}, variant {number}"
        f"{f' ({owner})' if owner else ''}, {pages} page{'s' * (pages > 1)}"
    )
    return 0


def variant(text: str) -> tuple[int, str]:
    """The number of a variant, and whose it is if a name was given.

    The same name gives the same number, however it is capitalised and spaced.
    """
    # one text for one name: é may come as one sign or, from a Mac, as two
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name or name.startswith("-"):
        raise CourseError(
            f"{text!r} is no variant", "say a number from 0 on, or a name", usage=True
        )
    if name.isascii() and name.isdigit():
        return int(name), ""
    digest = hashlib.sha256(name.casefold().encode()).digest()
    return int.from_bytes(digest[:8], "big") % (NAMED - 100) + 100, name


def numbered(name: str, number: int, root: Path | None = None) -> Worksheet:
    """The sheet of a chapter or example, with this variant's numbers and number.

    Dull numbers are drawn again under another number; the sheet keeps the first.
    """
    sheet = draw(maker(name, root), number)
    sheet.variant = number
    return sheet


def maker(name: str, root: Path | None = None) -> Callable[[int], Worksheet]:
    """The function `sheet(variant)` of a chapter, or of an example sheet.

    Raises CourseError naming what there is.
    """
    small = [m.name for m in pkgutil.iter_modules(examples.__path__)]
    try:
        known = [c for c in CHAPTERS if _numbers(c, root).is_file()]
    except CourseError:  # outside a course: the examples are still here
        known = []
    if name in known:
        module = load_worksheet(name, root)
        if hasattr(module, "sheet"):
            return module.sheet  # type: ignore[no-any-return]
        known.remove(name)
    if name in small:
        made = importlib.import_module(f"{examples.__name__}.{name}")
        return made.sheet  # type: ignore[no-any-return]
    there = ", ".join([*known, *small])
    raise CourseError(
        f"there is no worksheet {name!r}", f"there are: {there}", usage=True
    )


def _numbers(chapter: str, root: Path | None) -> Path:
    """A chapter's worksheet.py, which is there before its assignment is."""
    return source_file(chapter, root).with_name("worksheet.py")


def _address() -> str:
    """Where the course lives, for the foot of the page; empty outside a course."""
    try:
        from ..authoring.build import repository_url

        return repository_url(course_root())
    except CourseError:
        return ""
