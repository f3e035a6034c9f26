"""What cells show, made safe to keep and to look at.

It comes from a student's process, or from the notebook as it was handed in, and a
person opens it in a browser beside the gradebook: text, pictures and plain tables pass;
nothing that acts, loads, or is too much.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Any

from .limits import Limits
from .markup import clean

#: pictures: the first bytes that each must begin with
PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
#: a table of more is dropped: cleaning takes a time that grows faster than it does
MOST_TAGS, LONGEST_HTML = 3000, 200_000
TEXTS = ("text/plain", "text/latex")


def words(value: Any, most: int) -> str:
    """A text that a student's process sent: one line, printable, of some length."""
    if not isinstance(value, str):
        return ""
    return "".join(c if c.isprintable() else " " for c in printable(value[:most]))


def amount(value: Any, most: float) -> float:
    """A number that a student's process sent, from 0 to `most`; 0 for anything else."""
    number = type(value) in (int, float) and 0 <= value <= most
    return float(value) if number else 0.0


def printable(text: str) -> str:
    """A text without what no file can hold."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")


def outputs(raw: Iterable[Any], limits: Limits) -> list[dict[str, Any]]:
    """Outputs in nbformat's form: cleaned, and at most as much as is kept."""
    kept: list[dict[str, Any]] = []
    text, pictures = limits.text, limits.pictures
    for output in raw:
        kind = output.get("output_type") if isinstance(output, dict) else None
        if kind == "stream":
            piece = printable(_text(output.get("text")))
            if text <= 0 or not piece:
                continue
            if len(piece) > text:
                piece = piece[:text] + f"\n... (more than {limits.text // 1024} kB)\n"
            text -= len(piece)
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            if kept and kept[-1].get("name") == name:
                kept[-1]["text"] += piece
            else:
                kept.append({"output_type": "stream", "name": name, "text": piece})
        elif kind in ("display_data", "execute_result"):
            data = rich(output.get("data"), pictures)
            pictures -= sum(map(len, data.values()))
            count = {"execution_count": None} if kind == "execute_result" else {}
            if data:
                kept.append(
                    {"output_type": kind, "data": data, "metadata": {}, **count}
                )
        elif kind == "error" and isinstance(output.get("traceback"), list):
            lines = [printable(_text(line)[:2000]) for line in output["traceback"][:60]]
            if text <= 0:
                continue
            text -= sum(map(len, lines))
            kept.append(
                {
                    "output_type": "error",
                    "ename": words(output.get("ename"), 100),
                    "evalue": words(output.get("evalue"), 2000),
                    "traceback": lines,
                }
            )
    return kept


def rich(raw: Any, most: int) -> dict[str, str]:
    """Rich data: real pictures, text, tables; {} when it is more than `most` bytes."""
    if not isinstance(raw, dict):
        return {}
    data: dict[str, str] = {}
    for mime, content in raw.items():
        text = printable(_text(content)[: most + 1])
        if mime in TEXTS or (mime in PICTURES and is_picture(mime, text)):
            data[mime] = text
        elif mime == "text/html" and not any(name in raw for name in PICTURES):
            few = text.count("<") <= MOST_TAGS and len(text) <= LONGEST_HTML
            data[mime] = clean(text) if few else ""
    return data if sum(map(len, data.values())) <= most else {}


def is_picture(mime: str, text: str) -> bool:
    """Whether a text is base64 that begins as such a picture does."""
    try:
        base64.b64decode(text, validate=False)
        return base64.b64decode(text[:24], validate=False).startswith(PICTURES[mime])
    except (binascii.Error, ValueError):
        return False


def _text(value: Any) -> str:
    """A text that may be kept as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""
