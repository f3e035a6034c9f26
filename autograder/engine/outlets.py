"""The ways on which a cell shows something: each ends in a frame.

What a notebook's front end draws (text, `display`, the value of the last line) is
handed to the shell, which sends it.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import time
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type


class Stream(io.TextIOBase):
    """stdout or stderr of the cells: sends text as it comes, some lines at a time."""

    def __init__(self, shell: Any, name: str) -> None:
        super().__init__()
        self.shell, self.name = shell, name
        self.parts: list[str] = []
        self.size, self.sent = 0, 0.0

    encoding = "utf-8"

    def writable(self) -> bool:
        """Text can be written."""
        return True

    def isatty(self) -> bool:
        """No terminal."""
        return False

    def write(self, text: str) -> int:
        """Keep the text, and send what has gathered if it is time."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.parts.append(text)
        self.size += len(text)
        if self.size > 4096 or time.monotonic() - self.sent > 0.1:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what has gathered."""
        text, self.parts, self.size = "".join(self.parts), [], 0
        self.sent = time.monotonic()
        for at in range(0, len(text), 65536):
            part = text[at : at + 65536]
            self.shell.show({"output_type": "stream", "name": self.name, "text": part})


class Publisher(DisplayPublisher):  # type: ignore[misc]
    """`display(...)`: pictures, tables, text."""

    def publish(self, data: Any, metadata: Any = None, **more: Any) -> None:
        """Send a display."""
        self.shell.by_hand.display("display_data", data, metadata)

    def clear_output(self, wait: bool = False) -> None:
        """Nothing is taken back."""


class Hook(DisplayHook):  # type: ignore[misc]
    """The value of a cell's last line."""

    def write_output_prompt(self) -> None:
        """The notebook has its own prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Send the value as a notebook shows it."""
        self.shell.by_hand.display("execute_result", format_dict, md_dict)

    def finish_displayhook(self) -> None:
        """Nothing is left to print."""


class Notebook(InteractiveShell):  # type: ignore[misc]
    """IPython's shell with these two in the place of its own."""

    display_pub_class = Type(Publisher)
    displayhook_class = Type(Hook)

    def transform_cell(self, raw_cell: str) -> str:
        """A cell as Python; one that is Python already is left as it is.

        Looking for magics token by token takes as long as running most cells.
        """
        if "In [" not in raw_cell:  # a pasted prompt is an annotation to Python
            with contextlib.suppress(SyntaxError, ValueError, RecursionError):
                ast.parse(raw_cell)
                return raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"
        return str(super().transform_cell(raw_cell))


def written(content: Any) -> Any:
    """Rich data as notebooks keep it: bytes (a picture) as base64."""
    return base64.b64encode(content).decode() if type(content) is bytes else content
