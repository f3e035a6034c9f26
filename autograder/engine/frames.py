"""Frames: what crosses between grader, warm process and a student's process.

A frame is a JSON object and some raw bytes. Nothing is pickled, sizes are looked at
before anything is read, and an array is bytes with a known dtype and a shape that
must fit them.

    | length of the JSON, 4 bytes | length of the raw bytes, 4 bytes | JSON | raw |
"""

from __future__ import annotations

import json
import math
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


class FrameError(Exception):
    """Bytes that are no frame of ours, or too many of them."""


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

    Raises FrameError when they are more than `most` together.
    """
    text, raw = _HEAD.unpack(head)
    if text > MAX_JSON or raw > MAX_RAW or text + raw > most:
        raise FrameError(f"a frame of {text + raw} bytes")
    return text, raw


def load(text: bytes, raw: bytes = b"") -> tuple[dict[str, Any], list[memoryview]]:
    """The JSON object and the blobs of a frame.

    Raises FrameError for anything that `dump` does not write.
    """
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

    try:
        return decode(data, arrays)
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
        return Opaque("value that can't be read")


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list)
        and len(shape) <= 32
        and all(type(n) is int and 0 <= n < 2**40 for n in shape)
    )
