"""What crosses the border: values come through whole, and nothing else does."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from autograder.checking.compare import compare
from autograder.checking.values import Opaque, Tensor
from autograder.engine import frames


def through(value):
    """The value as it arrives."""
    packed, blobs = frames.pack(value)
    head, parts = frames.read(taker(frames.dump({"value": packed}, blobs)))
    return frames.unpack(head["value"], parts)


def taker(data: bytes):
    """A `take` that reads from bytes."""
    rest = memoryview(data)

    def take(n: int) -> bytes:
        nonlocal rest
        if len(rest) < n:
            raise EOFError
        part, rest = bytes(rest[:n]), rest[n:]
        return part

    return take


plain = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text() | some.floats(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=20,
)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(plain)
def test_plain_values_come_through(value):
    assert repr(through(value)) == repr(value)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "bfloat16"])
def test_tensors_come_through_with_shape_and_dtype(dtype):
    sent = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    got = through([sent, {"x": sent}])[0]
    assert isinstance(got, Tensor)
    assert (got.shape, got.dtype) == ((2, 3), dtype)
    assert compare(got, sent.float().numpy()) is None
    assert compare(got, sent.float().numpy(), dtype=dtype) is None
    other = "float16"
    assert "dtype" in compare(got, sent.float().numpy(), dtype=other).reason
    assert "shape" in compare(got, np.zeros((3, 2))).reason


def test_other_kinds_of_values():
    assert through(Fraction(9, 46)) == Fraction(9, 46)
    assert through((1, {2, 3})) == (1, frozenset({2, 3}))
    assert through(np.arange(3)).tolist() == [0, 1, 2]
    state = through(torch.nn.Linear(2, 1))
    assert {name: t.shape for name, t in state.items()} == {
        "weight": (1, 2),
        "bias": (1,),
    }
    assert isinstance(through(object()), Opaque)
    assert isinstance(through(np.array(["a"], dtype=object)), Opaque)


ARRAY = {"kind": "tensor", "dtype": "float32", "stored": "float32", "at": 0}


@pytest.mark.parametrize(
    "data",
    [
        {**ARRAY, "shape": [2**40]},
        {**ARRAY, "shape": [-1]},
        {**ARRAY, "shape": [3]},
        {**ARRAY, "shape": "x"},
        {**ARRAY, "shape": [2], "stored": "O"},
        {**ARRAY, "shape": [2], "stored": "V8"},
        {**ARRAY, "shape": [2], "at": 7},
        {**ARRAY, "shape": [True, 2.0]},
        {"kind": "array"},
        {"kind": "fraction", "value": "1e999999999"},
        {"kind": "fraction", "value": "1/0"},
        {"kind": "fraction", "value": "9" * 2000},
        {"kind": "set", "items": [{"kind": "dict", "items": []}]},
        {"kind": "dict", "items": [[1]]},
        {"kind": "float", "value": []},
        {"kind": "something else"},
        {"kind": "list"},
    ],
    ids=str,
)
def test_what_is_no_value_arrives_as_such(data):
    assert isinstance(frames.unpack(data, [memoryview(b"12345678")]), Opaque)


def test_lengths_are_looked_at_before_anything_is_read():
    with pytest.raises(frames.FrameError, match="no frame begins so"):
        frames.read(taker(b"\xff" * frames.HEAD))
    with pytest.raises(frames.FrameError, match="bytes"):
        frames.sizes(frames.dump({"t": "x" * 100})[: frames.HEAD], most=50)


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        (b"{", b""),
        (b"[]", b""),
        (b"\xff", b""),
        (b"[" * 100_000, b""),
        (b'{"raw": [5]}', b"1234"),
        (b'{"raw": [-1]}', b""),
        (b'{"raw": [true]}', b"1"),
        (b'{"raw": 4}', b"1234"),
        (b"{}", b"1234"),
        (b'{"n": ' + b"9" * 5000 + b"}", b""),
    ],
)
def test_what_is_no_frame_is_refused(text, raw):
    with pytest.raises(frames.FrameError):
        frames.load(text, raw)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(some.binary(max_size=200))
def test_any_bytes_are_a_frame_or_refused(data):
    try:
        head, blobs = frames.load(data, b"")
    except frames.FrameError:
        return
    assert isinstance(head, dict) and blobs == []
    json.dumps(head)
