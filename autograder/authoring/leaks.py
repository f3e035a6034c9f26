"""Scan every released file for what it must not say.

Looks at sources, outputs, attachments and metadata of notebooks, at sidecars and
at every other file of a release, also inside base64 and compressed text, for
markers, answers, hidden tests and their labels and values, mark schemes, the code
of sample answers, absolute paths, outputs, links and files that do not belong.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import html
import json
import re
import urllib.parse
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CourseError
from ..paths import chapters, course_root
from .confidential import Confidential, confidential, leaves, squeeze

HELP = "scan the released files for answers, hidden tests and other leaks"
EXAMPLE = "python -m autograder leaks            # or: leaks class/release"

_MARKER = re.compile(r"(BEGIN|END)\s+(SOLUTION|HIDDEN|MARK\s+SCHEME)", re.IGNORECASE)
_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|Users|root|tmp|work|mnt|opt|srv|var)/[\w.-]+"
    r"|\b[A-Za-z]:\\+Users\\+\w+"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){16,}")
#: comment signs and quotes between the lines and pieces of a text; invisible signs
_JOINTS = re.compile(
    r"\s*\n\s*#+\s*|[\"']\s*\+?\s*[\"']|[\u200b-\u200f\u2060\ufeff\xad]"
)
#: how deep texts in texts are unpacked
_DEPTH = 3
_NUMBER = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?")
#: what is unpacked from one piece of compressed text
_MOST = 10_000_000


@dataclass(frozen=True)
class Leak:
    """One finding: in which file, where in it, and what."""

    file: Path
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.where}: {self.what}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The folders to scan."""
    parser.add_argument(
        "folders",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        help="a folder of releases, one folder a chapter (default: exercises/)",
    )


def run(args: argparse.Namespace) -> int:
    """Print every leak; 1 if there is any."""
    root = course_root()
    folders = args.folders or [root / "exercises"]
    leaks: list[Leak] = []
    files = 0
    for folder in folders:
        if not folder.is_dir():
            raise CourseError(f"there is no folder {folder}", usage=True)
        files += sum(path.is_file() for path in folder.rglob("*"))
        leaks += scan(folder, root)
    for leak in leaks:
        print(leak)
    where = ", ".join(str(folder) for folder in folders)
    print(f"{len(leaks)} leak{'s' * (len(leaks) != 1)} in {files} files of {where}")
    return 1 if leaks else 0


def scan(folder: Path, root: Path | None = None) -> list[Leak]:
    """The leaks in a folder of releases: `folder/<chapter>/...`."""
    root = root or course_root()
    known = chapters(root=root)
    if folder.name in known and not any((folder / name).is_dir() for name in known):
        return _scan_chapter(folder, folder.name, root)
    leaks: list[Leak] = []
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and entry.name in known:
            leaks += _scan_chapter(entry, entry.name, root)
        elif entry.name != "README.md":
            leaks.append(Leak(entry, "the folder", "does not belong in a release"))
    return leaks


def _scan_chapter(folder: Path, chapter: str, root: Path) -> list[Leak]:
    """The leaks in one chapter's release."""
    secrets = confidential(chapter, root)
    belongs = {
        f"{chapter}.{kind}" for kind in ("ipynb", "expected.json", "worksheet.json")
    }
    leaks: list[Leak] = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            leaks.append(Leak(path, "the file", "is a link"))
            continue
        if path.is_dir():
            if not any(path.iterdir()):
                leaks.append(Leak(path, "the folder", "does not belong in a release"))
            continue
        if str(path.relative_to(folder)) not in belongs:
            leaks.append(Leak(path, "the file", "does not belong in a release"))
        for where, what in sorted(set(_scan_file(path, secrets))):
            leaks.append(Leak(path, where, what))
    return leaks


def _scan_file(path: Path, secrets: Confidential) -> Iterator[tuple[str, str]]:
    """The findings in one file, as (where, what)."""
    raw = path.read_bytes()
    text = raw.decode("utf-8", errors="replace")
    content: Any = None
    if path.suffix in {".ipynb", ".json"}:
        try:
            content = json.loads(text, object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            what = "a key is there twice" if "twice" in str(error) else "is not JSON"
            yield "the file", what
        if content is not None and path.suffix == ".ipynb" and not _notebook(content):
            yield "the file", "is not a notebook"
            content = None
    if content is None:
        strings = [("the file", text)]
    elif path.suffix == ".ipynb" and isinstance(content, dict):
        yield from _outputs(content)
        strings = list(_notebook_strings(content))
    else:
        strings = list(_texts(content, "the file"))
    for where, string in strings:
        for form, how in _forms(string):
            for what in _findings(form, secrets):
                yield where, what + how


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys are there once: readers see only the last one."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key is there twice")
    return content


def _notebook(content: Any) -> bool:
    """True when it has cells with metadata, as a notebook has."""
    cells = content.get("cells") if isinstance(content, dict) else None
    return isinstance(cells, list) and all(
        isinstance(cell, dict)
        and isinstance(cell.get("metadata"), dict)
        and isinstance(cell["metadata"].get("nbgrader", {}), dict)
        for cell in cells
    )


def _outputs(notebook: Any) -> Iterator[tuple[str, str]]:
    """Cells that were run: a release has none."""
    for number, cell in enumerate(notebook.get("cells", []), 1):
        if cell.get("outputs") or cell.get("execution_count") is not None:
            yield _name(number, cell), "was run, and keeps its output or its number"


def _notebook_strings(notebook: Any) -> Iterator[tuple[str, str]]:
    """Every text of a notebook, and where it is: cell by cell, part by part."""
    for number, cell in enumerate(notebook.get("cells", []), 1):
        for part, value in cell.items():
            where = f"{_name(number, cell)}, {part}"
            if part == "source" and isinstance(value, list):
                value = "".join(value)
            yield from _texts(value, where)
    sources = [cell.get("source", "") for cell in notebook.get("cells", [])]
    texts = ["".join(map(str, s)) if isinstance(s, list) else str(s) for s in sources]
    yield "the cells together", "\n".join(texts)
    for part, value in notebook.items():
        if part != "cells":
            yield from _texts(value, f"the notebook's {part}")


def _name(number: int, cell: Any) -> str:
    """How a cell is called in the report: its number, and its id if it has one."""
    grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
    return f"cell {number}" + (f" ({grade_id})" if grade_id else "")


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Every text in a JSON value, and all its numbers as one text."""
    numbers: list[str] = []
    for leaf in leaves(value):
        if isinstance(leaf, str):
            yield where, leaf
        elif not isinstance(leaf, bool):
            numbers.append(repr(leaf))
    if numbers:
        yield where, " ".join(numbers)


def _forms(text: str, depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """The text itself, without comment signs and with escapes read, and what its
    base64 and hexadecimal runs say, packed or not."""
    yield text, ""
    for form in {
        _JOINTS.sub("", text),
        html.unescape(text),
        urllib.parse.unquote(text),
        re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text),
    } - {text}:
        yield form, " (in disguise)"
    for data, how in _packed(text):
        codec = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
        inner = data.decode(codec, errors="replace")
        yield inner, how
        if depth > 1 and inner.isprintable():
            yield from ((form, how) for form, _ in _forms(inner, depth - 1))


def _packed(text: str) -> Iterator[tuple[bytes, str]]:
    """What the base64 and hexadecimal runs of a text hold."""
    joined = re.sub(r"\s*\n\s*", "", text)  # base64 is often wrapped
    for run_ in {*_HEX.findall(text), *_HEX.findall(joined)}:
        yield bytes.fromhex(run_), " (in hexadecimal)"
    for run_ in {*_BASE64.findall(text), *_BASE64.findall(joined)}:
        body = run_.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            data = base64.b64decode(body + "=" * (-len(body) % 4))
        except binascii.Error:
            continue
        yield data, " (in base64)"
        try:
            data = zlib.decompressobj(wbits=47).decompress(data, _MOST)
        except zlib.error:
            continue
        yield data, " (in base64, compressed)"


def _findings(text: str, secrets: Confidential) -> Iterator[str]:
    """What a text says and must not."""
    if found := _MARKER.search(text):
        yield f"the marker {found.group()!r}"
    if found := _PATH.search(text):
        yield f"the absolute path {found.group()!r}"
    squeezed = squeeze(text).casefold()
    for secret, whose in secrets.texts.items():
        if secret.casefold() in squeezed:
            yield f"{whose}: {secret[:60]!r}"
    if secrets.numbers:
        told = [
            number
            for number in _NUMBER.findall(text)
            if f"{float(number):.7g}" in secrets.numbers
        ]
        if told:
            yield f"{len(told)} expected values of hidden cases: {told[0]}"
