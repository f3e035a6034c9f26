"""Plots of recorded results for the book, as inline SVG.

Inline, because then lines and letters take the page's colours, in the light and in
the dark. Draw text and axes in INK and the series in BLUE, ORANGE and GREEN, and give
every series a label or a marker too: colour alone tells some readers nothing.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from typing import Any

from .figures import Figure, framed

#: stands for the colour of the page's text
INK = "#010203"
#: told apart by colour-blind readers (Okabe and Ito); the style sheet brightens them
#: on a dark page
BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"

#: a plot fits a phone at this width, and two fit beside each other on a desk
WIDTH = 4.3
STYLE = {
    "svg.fonttype": "none",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.15,
    "lines.linewidth": 2,
    "lines.markersize": 5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    **dict.fromkeys(
        (
            "text.color",
            "axes.edgecolor",
            "axes.labelcolor",
            "axes.titlecolor",
            "xtick.color",
            "ytick.color",
            "grid.color",
        ),
        INK,
    ),
}


def canvas(height: float = 2.9) -> tuple[Any, Any]:
    """A matplotlib figure of the right width, and its axes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    mpl.rcParams.update(STYLE)  # labels and legends are styled when they are made
    fig = Canvas(figsize=(WIDTH, height))
    return fig, fig.subplots()


def svg(fig: Any, title: str, describe: str) -> str:
    """A matplotlib figure as an `<svg>` that follows the page.

    title    : what it shows (screen readers say it first)
    describe : what one sees in it
    """
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": title}):
        fig.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = text.replace(INK, "currentColor")
    for name, color in (("blue", BLUE), ("orange", ORANGE), ("green", GREEN)):
        text = text.replace(color, f"var(--bh-{name}, {color})")
    # ids must not meet those of another plot on the page
    key = re.sub(r"\W+", "-", title.lower())[:40]
    text = re.sub(r'id="([^"]+)"', rf'id="{key}-\1"', text)
    text = re.sub(r'(href="|url\()#([^")]+)', rf"\1#{key}-\2", text)
    said = f"<title>{html.escape(title)}</title><desc>{html.escape(describe)}</desc>"
    text = text.replace("<svg ", '<svg role="img" class="bh-plot" ', 1)
    return re.sub(r"(<svg[^>]*>)", rf"\1{said}", text, count=1)


def plots(*drawn: tuple[Any, str, str], caption: str = "") -> Figure:
    """Plots beside each other: (matplotlib figure, title, description) each."""
    body = "".join(svg(*one) for one in drawn)
    plain = "\n".join(f"[plot] {title}. {describe}" for _, title, describe in drawn)
    return Figure(framed(f'<div class="bh-plots">{body}</div>', caption), plain)


def heat_map(
    tokens: Sequence[str],
    shares: Sequence[Sequence[float]],
    title: str,
    describe: str,
    mark: int | None = None,
) -> str:
    """Attention shares as an `<svg>`: one row per query, one column per key.

    shares : rows that sum to 1; the darker a cell, the larger its share
    mark   : the row to frame
    """
    n, step, left, top = len(tokens), 17, 66, 62
    width, height = left + n * step + 8, top + n * step + 4
    out = [
        f'<svg role="img" class="bh-plot bh-heat" viewBox="0 0 {width} {height}">'
        f"<title>{html.escape(title)}</title><desc>{html.escape(describe)}</desc>"
    ]
    for i, token in enumerate(tokens):
        name = html.escape(token)
        y, x = top + i * step + 12, left + i * step + 11
        out.append(f'<text x="{left - 6}" y="{y}" text-anchor="end">{name}</text>')
        out.append(
            f'<text transform="translate({x} {top - 6}) rotate(-60)">{name}</text>'
        )
        for j, share in enumerate(shares[i]):
            out.append(
                f'<rect x="{left + j * step}" y="{top + i * step}" width="{step - 1}" '
                f'height="{step - 1}" fill-opacity="{max(share, 0.02):.3f}">'
                f"<title>{name} → {html.escape(tokens[j])}: {share:.2f}</title></rect>"
            )
    if mark is not None:
        out.append(
            f'<rect class="bh-mark" x="{left - 1.5}" y="{top + mark * step - 1.5}" '
            f'width="{n * step + 2}" height="{step + 2}"/>'
        )
    return "".join([*out, "</svg>"])


def beside(*svgs: str, caption: str = "", plain: str = "") -> Figure:
    """Drawn SVGs in one figure, beside each other where there is room."""
    body = f'<div class="bh-plots">{"".join(svgs)}</div>'
    return Figure(framed(body, caption), plain)
