"""Worksheets: a by-hand example written once, and used in five places.

from autograder.worksheet import Worksheet, floor, normalise, power
"""

from .operations import (
    argmax,
    concat,
    divided,
    exp,
    floor,
    given,
    lookup,
    mask,
    mean,
    norm,
    normalise,
    patches,
    power,
    relu,
    root_divided,
    sigmoid,
    tanh,
    threshold,
    total,
    unpatches,
)
from .sheet import Worksheet
from .trace import Traced

__all__ = [
    "Traced", "Worksheet", "argmax", "concat", "divided", "exp", "floor", "given",
    "lookup", "mask", "mean", "norm", "normalise", "patches", "power", "relu",
    "root_divided", "sigmoid", "tanh", "threshold", "total", "unpatches",
]  # fmt: skip
