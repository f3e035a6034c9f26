"""Read what a student handed in, with suspicion: only text comes out of it.

A regular file, no link, of sensible size, UTF-8 with or without a byte order mark, a
notebook of format 4. Damage that other editors leave costs nothing.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .limits import Limits

BOM = b"\xef\xbb\xbf"


class RefusedError(Exception):
    """This can't be graded; the reason is for the student."""


@dataclass
class Cell:
    """A cell as it was handed in.

    kind : "code", "markdown" or "raw"
    name    : the assignment's id that it claims ("" when it claims none)
    id      : the notebook's own id of the cell ("" before format 4.5)
    outputs : what it showed when it was saved, as it came
    """

    kind: str
    text: str
    name: str = ""
    id: str = ""
    outputs: list[Any] = field(default_factory=list)


@dataclass
class Submitted:
    """What was handed in: cells, and what was odd about the file."""

    cells: list[Cell]
    warnings: list[str] = field(default_factory=list)


def find(path: Path) -> tuple[Path, list[str]]:
    """The notebook to take for `<student>/<assignment>/<assignment>.ipynb`.

    One under another name is taken when it is the only one there; a warning says so,
    and names notebooks that lie beside it and are not read.

    Raises RefusedError when there is none.
    """
    others = [other for other in _others(path) if other.name != path.name]
    if os.path.lexists(path):
        names = ", ".join(repr(other.name) for other in others)
        beside = f"beside it lay {names}, which was not read"
        return path, [beside] if others else []
    if len(others) != 1:
        there = f"; there are {', '.join(p.name for p in others)}" if others else ""
        raise RefusedError(f"{path.name} is missing{there}")
    name = others[0].name
    return others[0], [f"the notebook is called {name!r} instead of {path.name!r}"]


def digest(data: bytes) -> str:
    """sha256 of a submission."""
    return hashlib.sha256(data).hexdigest()


def _others(path: Path) -> list[Path]:
    """The notebooks that lie where this one should."""
    try:
        found = sorted(path.parent.glob("*.ipynb"))
    except OSError:
        return []
    return [p for p in found if not p.name.startswith(".")][:20]


def content(path: Path, limits: Limits) -> bytes:
    """The bytes of a regular file that is not too large.

    Raises RefusedError for links, folders, devices, and what can't be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    name = path.name
    if any(place.is_symlink() for place in (path, *list(path.parents)[:2])):
        raise RefusedError(f"{name} is a link, or lies in a folder that is one")
    try:
        handle = os.open(path, flags)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise RefusedError(f"{name} is a folder or a device, not a file")
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(limits.notebook + 1)
        finally:
            os.close(handle)
    except OSError as error:
        why = (
            "a link"
            if error.errno == errno.ELOOP
            else f"not readable ({error.strerror})"
        )
        raise RefusedError(f"{name} is {why}") from None
    if len(data) > limits.notebook:
        raise RefusedError(f"{name} is larger than {limits.notebook / 2**20:g} MB")
    return data


def parse(data: bytes, name: str, limits: Limits) -> Submitted:
    """The cells of a notebook's bytes.

    Raises RefusedError when this is no notebook of format 4.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError(f"{name} is not UTF-8 text: save it again") from None
    if not text.strip("\x00 \t\r\n"):
        raise RefusedError(f"{name} is empty")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        raise RefusedError(f"{name} is not a notebook (it is no JSON)") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list):
        old = isinstance(raw, dict) and "worksheets" in raw
        more = " (format 3: open it in Jupyter and save it again)" if old else ""
        raise RefusedError(f"{name} is not a notebook of format 4{more}")
    if len(raw["cells"]) > limits.cells:
        raise RefusedError(
            f"{name} has {len(raw['cells'])} cells, more than {limits.cells}"
        )
    warnings = []
    if data.startswith(BOM):
        warnings.append("the file begins with a byte order mark")
    form = raw.get("nbformat")
    if form != 4:
        warnings.append(f"the notebook calls itself of format {str(form)[:20]!r}")
    if "\r" in text or any("\r" in _source(entry)[0] for entry in raw["cells"]):
        warnings.append("the notebook has line ends of Windows")
    if not isinstance(raw.get("metadata"), dict):
        warnings.append("the notebook had no metadata")
    cells = []
    for number, entry in enumerate(raw["cells"], 1):
        cell, odd = _cell(entry)
        warnings += [f"cell {number} {what}" for what in odd]
        if cell is not None:
            cells.append(cell)
    if sum(len(cell.text) for cell in cells if cell.kind == "code") > limits.code:
        raise RefusedError(
            f"the code cells of {name} hold more than {limits.code / 1e6:.3g} million "
            "characters: put data into a file"
        )
    return Submitted(cells, warnings)


def _cell(raw: Any) -> tuple[Cell | None, list[str]]:
    """A cell, and what was odd about it."""
    if not isinstance(raw, dict):
        return None, ["is no cell"]
    source, whole = _source(raw)
    odd = [] if whole else ["had no text"]
    kind = raw.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        odd.append("was of no known type")
        kind = "raw"
    metadata = raw.get("metadata")
    info = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = info.get("grade_id") if isinstance(info, dict) else ""
    own = raw.get("id")
    text = clean(source)
    outputs = raw.get("outputs")
    outputs = outputs[:200] if isinstance(outputs, list) else []
    return Cell(kind, text, _name(name), _name(own), outputs), odd


def _source(raw: Any) -> tuple[str, bool]:
    """The text of a cell, and whether it was nothing but text."""
    source = raw.get("source") if isinstance(raw, dict) else None
    lines: list[Any] = source if isinstance(source, list) else [source]
    texts = [line for line in lines if isinstance(line, str)]
    return "".join(texts), len(texts) == len(lines)


def _name(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= 100 else ""


def clean(text: str) -> str:
    """A text with Unix line ends, and nothing that no file can hold."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return text.encode("utf-8", "replace").decode()


def squeezed(text: str) -> str:
    """A text without white space at the ends of lines and around it."""
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def joined(parts: Iterable[str]) -> str:
    """Texts as paragraphs of one."""
    return "\n\n".join(part for part in parts if part.strip())
