"""Frames: what crosses between grader, warm process and a student's process.

A frame is a JSON object and some raw bytes. Nothing is pickled, sizes are looked at
before anything is read, and an array is bytes with a known dtype and a shape that
must fit them.

    | length of the JSON, 4 bytes | length of the raw bytes, 4 bytes | JSON | raw |
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ..checking.values import Opaque, Tensor, decode, encode

_HEAD = struct.Struct(">II")
HEAD = _HEAD.size
#: the JSON of a frame: text, small values, a cell's source
MAX_JSON = 32 * 2**20
MAX_RAW = 2**30
#: dtypes that an answer may have; what torch has beyond them travels as float32
DTYPES = frozenset(np.dtype(kind).name for kind in "?bhiqBHIQefdFD")
#: brackets in brackets: a value is two or three for each of its containers
MAX_DEPTH = 100
#: entries in lists; of sets and keys, which may be slow to tell apart, a twentieth
MAX_ENTRIES = 100_000
_BRACKET = re.compile(rb'"(?:[^"\\]+|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


class FrameError(Exception):
    """Bytes that are no frame of ours."""


class TooLargeError(FrameError):
    """A frame of more bytes than are taken."""


def dump(head: dict[str, Any], blobs: list[bytes] | None = None) -> bytes:
    """A frame as bytes."""
    blobs = blobs or []
    if blobs:
        head = {**head, "raw": [len(blob) for blob in blobs]}
    text = json.dumps(head).encode("ascii")
    raw = b"".join(blobs)
    return _HEAD.pack(len(text), len(raw)) + text + raw


def sizes(head: bytes, most: int = MAX_JSON + MAX_RAW) -> tuple[int, int]:
    """The lengths of JSON and raw bytes that a frame's first bytes announce.

    Raises FrameError when no frame begins so, TooLargeError when they are more than
    `most` together.
    """
    text, raw = _HEAD.unpack(head)
    if text > MAX_JSON or raw > MAX_RAW:
        raise FrameError("no frame begins so")
    if text + raw > most:
        raise TooLargeError(f"a frame of {text + raw} bytes")
    return text, raw


def load(text: bytes, raw: bytes = b"") -> tuple[dict[str, Any], list[memoryview]]:
    """The JSON object and the blobs of a frame.

    Raises FrameError for anything that `dump` does not write.
    """
    if _depth(text) > MAX_DEPTH:
        raise FrameError("nested too deep")
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"no JSON: {type(error).__name__}") from None
    if not isinstance(head, dict):
        raise FrameError("no JSON object")
    blobs, at = [], 0
    lengths = head.pop("raw", [])
    if not isinstance(lengths, list):
        raise FrameError("no lengths")
    for length in lengths:
        if type(length) is not int or not 0 <= length <= len(raw) - at:
            raise FrameError("lengths that do not fit")
        blobs.append(memoryview(raw)[at : at + length])
        at += length
    if at != len(raw):
        raise FrameError("bytes that nobody announced")
    return head, blobs


def _depth(text: bytes) -> int:
    """How deep a JSON text is nested; only counted where it may be too deep."""
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return 0
    depth = deepest = 0
    for found in _BRACKET.finditer(text):
        if found[0] in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif found[0] in b"]}":
            depth -= 1
    return deepest


def read(take: Callable[[int], bytes]) -> tuple[dict[str, Any], list[memoryview]]:
    """Read one frame with `take(n)`, which gives n bytes or raises EOFError."""
    text, raw = sizes(take(HEAD))
    return load(take(text), take(raw) if raw else b"")


def pack(value: Any) -> tuple[Any, list[bytes]]:
    """A value as JSON and blobs, its arrays among the blobs."""
    blobs: list[bytes] = []

    def arrays(array: np.ndarray, kind: str, dtype: str) -> Any:
        stored = array.dtype.name
        if stored not in DTYPES:
            return {"kind": "opaque", "type": f"{kind} of {dtype}"}
        blobs.append(np.ascontiguousarray(array).tobytes())
        shape = list(array.shape)
        at = len(blobs) - 1
        return {
            "kind": kind,
            "dtype": dtype,
            "stored": stored,
            "shape": shape,
            "at": at,
        }

    return encode(value, arrays), blobs


def unpack(data: Any, blobs: list[memoryview]) -> Any:
    """The value again: tensors as `values.Tensor`, arrays as numpy arrays.

    What is no value becomes an Opaque; nothing is ever raised.
    """

    def arrays(entry: Any) -> Any:
        blob, shape, stored = blobs[entry["at"]], entry["shape"], entry["stored"]
        if stored not in DTYPES or not _is_shape(shape):
            raise ValueError("no array")
        dtype = np.dtype(stored)
        if math.prod(shape) * dtype.itemsize != len(blob):
            raise ValueError("a shape that its numbers do not fill")
        array = np.frombuffer(blob, dtype).reshape(shape).copy()
        if entry["kind"] == "array":
            return array
        return Tensor(array, str(entry["dtype"])[:40])

    if _entries(data) > MAX_ENTRIES:
        return Opaque(f"value of more than {MAX_ENTRIES} entries in lists")
    try:
        return decode(data, arrays)
    except Exception:
        return Opaque("value that can't be read")


def _entries(data: Any) -> int:
    """How many entries the lists of a JSON value have, those of sets counted more."""
    count, row = 0, [data]
    while row and count <= MAX_ENTRIES:
        part = row.pop()
        if isinstance(part, dict):
            row += part.values()
            items = part.get("items")
            if part.get("kind") in ("set", "dict") and isinstance(items, list):
                count += 19 * len(items)
        elif isinstance(part, list):
            row += part
            count += len(part)
    return count


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) <= 32
        and all(type(n) is int and 0 <= n < 2**40 for n in shape)
    )
