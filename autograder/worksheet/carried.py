"""Rounding that is carried on: what a step gives from the numbers as they are shown.

A sheet shows e^1.73 where the trace has e^1.7320508. Whoever computes with the
numbers on the page gets 5.64 where the trace says 5.65, and has done nothing wrong.
`carry` puts the result of the written-out arithmetic beside each such cell, as `r`,
so that a typed answer may lie anywhere from the one to the other.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "floor": math.floor,
    "max": max,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
    "sigma": lambda x: 1 / (1 + math.exp(-x)),
}


def carry(data: dict[str, Any]) -> dict[str, Any]:
    """The sheet's data, with `r` at every cell where rounding carried on matters.

    data : as `data.as_data` gives it; changed in place, and returned
    """
    for variant in data["variants"]:
        for step in variant["steps"]:
            if not step["asked"] or not step["tolerance"]:
                continue
            for row in step["cells"]:
                for cell in row:
                    value = evaluate(cell["t"])
                    far = step["tolerance"] / 100
                    if value is not None and abs(value - cell["x"]) > far:
                        cell["r"] = round(value, 9)
    return data


def evaluate(text: str) -> float | None:
    """The number that written-out arithmetic says; None for words ("largest of")."""
    text = text.replace("−", "-").replace("·", "*").replace("²", "**2")
    text = text.replace("^", "**").replace("σ(", "sigma(")
    text = re.sub(r"⌊(.*?)⌋", r"floor(\1)", text)
    text = re.sub(r"√(\d+)", r"sqrt(\1)", text).replace("√(", "sqrt(")
    text = re.sub(r"\|(.*?)\|", r"abs(\1)", text)
    try:
        return float(_value(ast.parse(text, mode="eval").body))
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError):
        return None


def _value(node: ast.expr) -> float:
    """A sum, product, power or known function of numbers; ValueError otherwise."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id="e"):
            return math.e
        case ast.BinOp(left=a, op=op, right=b) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_value(a), _value(b))
        case ast.UnaryOp(op=op, operand=a) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_value(a))
        case ast.Call(func=ast.Name(id=name), args=args) if name in FUNCTIONS:
            return FUNCTIONS[name](*map(_value, args))
    raise ValueError(ast.dump(node))
