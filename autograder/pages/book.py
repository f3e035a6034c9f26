"""Jupyter Book's command, with a plain end: python -m autograder.pages.book build .

Jupyter Book ends in a coloured box, even in a log, with an address that breaks at a
space in a folder's name. Here the end is one line, and colours go to terminals only.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jupyter_book import utils
from jupyter_book.cli import main as cli
from sphinx.util import console

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_box = utils._message_box


def closing(root: Path) -> str:
    """Where the book is, as an address that a browser takes."""
    return f"The book: {(root / '_build' / 'html' / 'index.html').as_uri()}"


def message(
    text: str, color: str = "green", doprint: bool = True, print_func: Any = print
) -> str:
    """In the place of Jupyter Book's box: the closing line, or what went wrong."""
    if color == "green":
        said = closing(Path.cwd().resolve())
    else:
        said = _box(text, color, doprint=False)
        said = said if console.color_terminal() else ESCAPE.sub("", said)
    if doprint:
        print_func(said)
    return said


def main() -> None:
    """Run `jupyter-book` with this program's arguments."""
    cli._message_box = utils._message_box = message
    if not console.color_terminal():
        console.nocolor()
    cli.main()


if __name__ == "__main__":
    main()
