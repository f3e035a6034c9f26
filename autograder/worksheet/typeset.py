"""Words and numbers of a printed worksheet: how wide they are, how they are drawn.

`_` sets what follows below the line (W_Q), `^` above (e^R); a fraction is drawn as
one, with its decimal below.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from typing import Any, Literal

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from .trace import Number, written

#: millimetres a point
POINT = 25.4 / 72
INK, FAINT, SOLVED = "#1f2933", "#5c6670", "#0b3d91"

#: kinds of words: family, weight, style, colour
STYLES: dict[str, tuple[str, str, Literal["normal", "italic"], str]] = {
    "plain": ("DejaVu Sans", "normal", "normal", INK),
    "faint": ("DejaVu Sans", "normal", "normal", FAINT),
    "strong": ("DejaVu Sans", "bold", "normal", INK),
    "name": ("DejaVu Serif", "normal", "italic", INK),
    "title": ("DejaVu Serif", "bold", "normal", INK),
    "solved": ("DejaVu Sans", "normal", "normal", SOLVED),
    "less": ("DejaVu Sans", "normal", "normal", SOLVED),
}

_RAISED = re.compile(r"([_^])(\([^()]*\)|[\w−]+)")


def font(style: str) -> FontProperties:
    """The font of a kind of words."""
    family, weight, slant, _ = STYLES[style]
    return FontProperties(family=family, weight=weight, style=slant)


def runs(text: str) -> list[tuple[str, int]]:
    """Pieces of a text, each with its level: 0 on the line, −1 below, 1 above."""
    pieces: list[tuple[str, int]] = []
    at = 0
    for found in _RAISED.finditer(text):
        pieces.append((text[at : found.start()], 0))
        inner = found[2][1:-1] if found[2].startswith("(") else found[2]
        pieces.append((inner, 1 if found[1] == "^" else -1))
        at = found.end()
    return [(t, level) for t, level in [*pieces, (text[at:], 0)] if t]


@cache
def _measured(text: str, size: float, style: str) -> float:
    prop = font(style)
    prop.set_size(size)
    return float(text_to_path.get_text_width_height_descent(text, prop, False)[0])


def width(text: str, size: float, style: str = "plain", raised: bool = True) -> float:
    """How wide a text is, in millimetres."""
    return POINT * sum(
        _measured(piece, size * (0.7 if level else 1), style)
        for piece, level in (runs(text) if raised else [(text, 0)])
    )


def lines(text: str, size: float, room: float, style: str = "plain") -> list[str]:
    """The text, broken to fit into a room of so many millimetres."""
    done, line = [], ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and width(longer.strip(), size, style) > room:
            done.append(line.strip())
            line = word
        else:
            line = longer
    return [*done, line.strip()]


def put(
    ax: Any, text: str, x: float, y: float, size: float, style: str,
    shift: float = 0, raised: bool = True,
) -> None:  # fmt: skip
    """Draw a line of text; `shift` 0 begins at x, 0.5 is centred there, 1 ends.

    raised : False for what is no formula, such as a name: _ and ^ stay as they are
    """
    x -= shift * width(text, size, style, raised)
    for piece, level in runs(text) if raised else [(text, 0)]:
        small = size * (0.7 if level else 1)
        rise = {0: 0.0, 1: 0.36, -1: -0.18}[level] * size * POINT
        # one piece at a time; a `$` is a `$`, nothing is read as mathematics
        ax.text(
            x, y - rise, piece, fontproperties=font(style), fontsize=small,
            color=STYLES[style][3], ha="left", va="baseline", parse_math=False,
        )  # fmt: skip
        x += POINT * _measured(piece, small, style)


def number(
    ax: Any, value: Number, digits: int, box: tuple[float, float, float, float],
    style: str,
) -> None:  # fmt: skip
    """Draw a number into a box (left, top, width, height), fractions as fractions."""
    left, top, wide, tall = box
    x, most = left + wide / 2, wide - 1.2
    if not isinstance(value, Fraction) or value.denominator == 1:
        text = written(value, digits)
        size = min(9.5, 9.5 * most / max(width(text, 9.5, style), 0.1))
        put(ax, text, x, top + tall / 2 + 0.36 * size * POINT, size, style, 0.5)
        return
    above, below = str(abs(value.numerator)), str(value.denominator)
    size = min(7.6, tall * 0.92)
    size = min(size, size * (most - 1) / max(width(t, size) for t in (above, below)))
    half = max(width(t, size) for t in (above, below)) / 2 + 0.5
    bar = top + tall * 0.385
    put(ax, above, x, bar - 0.75, size, style, 0.5)
    put(ax, below, x, bar + 0.95 * size * POINT + 0.15, size, style, 0.5)
    ax.plot([x - half, x + half], [bar, bar], color=STYLES[style][3], lw=0.6)
    if value < 0:
        put(ax, "−", x - half - 0.3, bar + 0.8, size, style, 1)
    decimal = written(float(value), max(digits, 2))
    put(ax, decimal, x, top + tall - 0.8, min(5.2, tall * 0.62), style, 0.5)
