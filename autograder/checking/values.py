"""Answers as plain data: encode for the sidecar files, decode for comparison.

Every value that crosses a border (notebook to file, student to grader) passes
through here. Only data goes through: numbers, text, containers, arrays, the
state of a module. Nothing is pickled, no object of the student's survives.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .salt import stream

Json = Any
ArrayEncoder = Callable[[np.ndarray, str, str], Json]

#: more entries than this are not an answer to a teaching exercise
MAX_ENTRIES = 1_000_000
#: nor are containers in containers deeper than this (or that hold themselves)
MAX_DEPTH = 20


class Raised:
    """Stands for a value that never came: the call raised this kind of error."""

    def __init__(self, error: str) -> None:
        self.error = error

    def __repr__(self) -> str:
        return f"<raised {self.error}>"


class Opaque:
    """Stands for a value of a type that no exercise asks for."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<a {self.type_name}>"


class Tensor:
    """A tensor's numbers without torch: what crossed a border as bytes.

    array : the numbers (bfloat16 and half as float32)
    dtype : torch's name for what they were, "bfloat16" for example
    """

    def __init__(self, array: np.ndarray, dtype: str) -> None:
        self.array, self.dtype = array, dtype
        self.shape = array.shape


def randn(*shape: int, seed: int, dtype: Any = None) -> Any:
    """Seeded standard-normal numbers as a torch tensor on the CPU.

    The stream is numpy's frozen `RandomState`, so that the same seed gives the
    same numbers with every release of numpy and torch. In the hidden part of a check
    a grading run may salt it: other numbers for every run (see `salt`).

    shape : the sizes; `randn(5, 3, seed=7)` has shape (5, 3)
    dtype : a torch dtype, float32 by default
    """
    import torch

    numbers = stream(seed).randn(*shape)
    return torch.as_tensor(numbers, dtype=dtype or torch.float32)


def is_tensor(value: Any) -> bool:
    """True for a torch tensor or parameter, and for nothing that imitates one."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter)


def is_module(value: Any) -> bool:
    """True for a `torch.nn.Module`."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def tensor_to_array(value: Any) -> np.ndarray:
    """A detached copy on the CPU; bfloat16 and half become float32."""
    value = value.detach().cpu().resolve_conj().resolve_neg()
    if str(value.dtype) in ("torch.bfloat16", "torch.float16"):
        value = value.float()
    return np.array(value.numpy())


def oddity(value: Any) -> str | None:
    """What makes a value unfit to be compared, in words, or None.

    Too many entries, containers nested too deep, and tensors whose numbers are
    not at hand: sparse ones, those on the device "meta", float8 and the like.
    """
    left, row, depth = MAX_ENTRIES, [value], 0
    while row:
        depth += 1
        below: list[Any] = []
        for v in row:
            if is_tensor(v) and (reason := _unreadable(v)):
                return reason
            if type(v) in (list, tuple, set, frozenset):
                below.extend(v)
            elif type(v) is dict:
                below.extend(v.values())
            left -= 1
            if left < 0 or len(below) > MAX_ENTRIES:
                return f"{type(value).__name__} of more than {MAX_ENTRIES} entries"
        if depth > MAX_DEPTH:
            return f"{type(value).__name__} nested more than {MAX_DEPTH} deep"
        row = below
    return None


def _unreadable(tensor: Any) -> str | None:
    if tensor.layout is not sys.modules["torch"].strided:
        kind = "sparse" if "sparse" in str(tensor.layout) else "jagged"
        return f"{kind} tensor (make it dense: .to_dense())"
    if tensor.device.type == "meta":
        return 'tensor without numbers (its device is "meta")'
    if tensor.is_nested:
        return "nested tensor"
    try:
        tensor_to_array(tensor.reshape(-1)[:1])
    except (TypeError, RuntimeError):
        return f"tensor of {tensor.dtype}"
    return None


def _number(x: float) -> Json:
    return x if math.isfinite(x) else str(x)


def _round(x: float, digits: int) -> Json:
    return float(f"{x:.{digits}g}") if math.isfinite(x) else str(x)


def _encode_array(array: np.ndarray, kind: str, dtype: str) -> Json:
    if array.size > MAX_ENTRIES:
        return {"kind": "opaque", "type": f"{kind} of {array.size} entries"}
    flat = array.ravel()
    if array.dtype.kind == "f":
        digits = 12 if array.dtype.itemsize == 8 else 8
        data = [_round(float(x), digits) for x in flat]
    elif array.dtype.kind in "iub":
        data = flat.tolist()
    else:
        return {"kind": "opaque", "type": f"{kind} of {array.dtype}"}
    return {"kind": kind, "dtype": dtype, "shape": list(array.shape), "data": data}


def encode(value: Any, arrays: ArrayEncoder = _encode_array) -> Json:
    """Plain JSON for a value; what is not data becomes an `opaque` marker.

    arrays : writes an array, (array, "tensor" or "array", dtype's name) -> JSON;
             by default with its numbers rounded, as the sidecar files have them
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if value is ...:
        return {"kind": "ellipsis"}
    if type(value) is float:
        return {"kind": "float", "value": _number(value)}
    if type(value) is Fraction:
        return {"kind": "fraction", "value": str(value)}
    if isinstance(value, Raised):
        return {"kind": "raised", "error": value.error}
    if isinstance(value, Opaque):
        return {"kind": "opaque", "type": value.type_name}
    if is_tensor(value):
        dtype = str(value.dtype).removeprefix("torch.")
        return arrays(tensor_to_array(value), "tensor", dtype)
    if type(value) is np.ndarray or isinstance(value, np.generic):
        array = np.asarray(value)
        return arrays(array, "array", str(array.dtype))
    if type(value) in (list, tuple):
        return {
            "kind": type(value).__name__,
            "items": [encode(v, arrays) for v in value],
        }
    if type(value) in (set, frozenset):
        items = sorted((encode(v, arrays) for v in value), key=repr)
        return {"kind": "set", "items": items}
    if isinstance(value, Mapping) and type(value).__module__ in (
        "builtins",
        "collections",
    ):
        items = [[encode(k, arrays), encode(v, arrays)] for k, v in value.items()]
        return {"kind": "dict", "items": items}
    if is_module(value):
        return {"kind": "module", "state": encode(dict(value.state_dict()), arrays)}
    return {"kind": "opaque", "type": type(value).__name__}


def _decode_array(data: Json) -> np.ndarray:
    dtype = "float32" if data["dtype"] in ("bfloat16", "float16") else data["dtype"]
    numbers = [float(x) if isinstance(x, str) else x for x in data["data"]]
    return np.array(numbers, dtype=dtype).reshape(data["shape"])


def decode(data: Json, arrays: Callable[[Json], Any] = _decode_array) -> Any:
    """The value again: arrays as numpy arrays, modules as dicts of arrays.

    arrays : reads what the `arrays` of `encode` wrote

    Raises ValueError for data that `encode` does not write.
    """
    if not isinstance(data, dict):
        return data
    kind = data.get("kind")
    if kind == "float":
        return float(data["value"])
    if kind == "fraction":
        text = data["value"]
        if len(text) > 1000 or "e" in text.lower():  # 1e999999999 would never end
            raise ValueError("a fraction is a numerator and a denominator")
        return Fraction(text)
    if kind in ("tensor", "array"):
        return arrays(data)
    if kind in ("list", "tuple"):
        items = [decode(v, arrays) for v in data["items"]]
        return items if kind == "list" else tuple(items)
    if kind == "set":
        return frozenset(_hashable(decode(v, arrays)) for v in data["items"])
    if kind == "dict":
        return {
            _hashable(decode(k, arrays)): decode(v, arrays) for k, v in data["items"]
        }
    if kind == "module":
        return decode(data["state"], arrays)
    if kind == "raised":
        return Raised(data["error"])
    if kind == "opaque":
        return Opaque(data["type"])
    if kind == "ellipsis":
        return ...
    raise ValueError(f"unknown kind of value: {kind!r}")


def _hashable(value: Any) -> Any:
    return tuple(_hashable(v) for v in value) if isinstance(value, list) else value


def is_blank(value: Any) -> bool:
    """True when nothing was filled in: None, or a `...` left anywhere."""
    if value is None or value is ...:
        return True
    if type(value) in (list, tuple):
        return any(is_blank(v) for v in value)
    if type(value) is dict:
        return any(is_blank(v) for v in value.values())
    return False


def describe(value: Any) -> str:
    """What a value is, in words a student knows: 'a tensor of shape (3, 4)'."""
    if is_tensor(value) or type(value) is Tensor:
        kind = str(value.dtype).removeprefix("torch.")
        text = f"a tensor of shape {tuple(value.shape)}"
        return text + (f" of {kind} numbers" if kind.startswith("complex") else "")
    if type(value) is np.ndarray:
        odd = "" if value.dtype.kind in "fiub" else f" of {value.dtype.name}"
        return f"an array of shape {value.shape}{odd}"
    if isinstance(value, (Raised, Opaque)):
        return repr(value).strip("<>")
    if value is None:
        return "None"
    if type(value) in (list, tuple, dict, set, frozenset):
        return f"a {type(value).__name__} of {len(value)}"
    if type(value) in (bool, int, float, str):
        return f"the {type(value).__name__} {_short(value)}"
    return f"a {type(value).__name__[:60]}"


def _short(value: Any) -> str:
    """A number or text as written, but never a page of it."""
    if type(value) is int and abs(value) > 10**60:
        return "with more than 60 digits"
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"
