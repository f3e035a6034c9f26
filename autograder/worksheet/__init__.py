"""Worksheets: a by-hand example written once, and used in five places.

from autograder.worksheet import Worksheet, floor, normalise, power

In a notebook the name itself opens a chapter's sheet: `worksheet("attention")`.
"""

import sys
from types import ModuleType
from typing import Any

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


class _Opens(ModuleType):
    """This module, which can be called: `from autograder import worksheet`."""

    def __call__(self, name: str, *args: Any, **options: Any) -> Any:
        """A chapter's worksheet in a notebook; see `widget.open_sheet`."""
        from .widget import open_sheet

        return open_sheet(name, *args, **options)


sys.modules[__name__].__class__ = _Opens
