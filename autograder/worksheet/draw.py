"""A step of a worksheet as HTML, laid out as on paper.

    draw_step(data, "Q")               blank, to fill in
    draw_step(data, "Q", filled=True)  with its numbers
    draw_sheet(data)                   every step, one after the other

`data` is the sheet as `data.as_data` gives it. A product stands where the rows of
its left factor meet the columns of the right one above it; every other step has what
it uses on the left, an arrow, and its own cells on the right. Every matrix is a
table with its name and shape, so it can be read without the style sheet, and
`worksheet.js` makes the same markup answer when a browser runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..errors import CourseError
from .data import step_of

Data = dict[str, Any]


@dataclass(frozen=True)
class Leaf:
    """A named matrix as an operand, turned on its side or not."""

    name: str
    turned: bool = False


@dataclass(frozen=True)
class Layout:
    """What stands where: factors left and above, or everything on the left.

    left, above : the factors of a product (`above` has two when they are stacked)
    beside      : what else the step uses (a bias, or all of a step without a product)
    """

    left: tuple[Leaf, ...] = ()
    above: tuple[Leaf, ...] = ()
    beside: tuple[Leaf, ...] = ()


# ------------------------------------------------------------------- whole blocks


def draw_sheet(
    data: Data,
    steps: Sequence[str] | None = None,
    filled: bool = False,
    variant: int = 0,
    place: str = "",
) -> str:
    """The named steps (default: all that are asked), one after the other.

    place : begins the figures' ids, so that one can link to `<place>-Q`

    The cells of a single step are as wide as its own numbers; several leave room
    for every set of numbers there is.
    """
    names = list(steps) if steps is not None else asked(data)
    if len(names) == 1:
        data, variant = {**data, "variants": [data["variants"][variant]]}, 0
    return "".join(draw_step(data, n, filled, variant, place) for n in names)


def asked(data: Data, upto: str | None = None) -> list[str]:
    """The names of the steps to fill in, all or up to one of them.

    Raises CourseError when there is no such step.
    """
    names = [s["name"] for s in data["variants"][0]["steps"] if s["asked"]]
    if upto is None:
        return names
    if upto not in names:
        raise CourseError(
            f"worksheet {data['name']!r} has no step {upto!r} to fill in",
            f"steps: {', '.join(names)}",
        )
    return names[: names.index(upto) + 1]


def draw_step(
    data: Data, name: str, filled: bool = False, variant: int = 0, place: str = ""
) -> str:
    """One step as a figure; with `filled`, its numbers stand in it."""
    step = step_of(data, name, variant)
    if not step["asked"]:
        return _figure(step, _table(data, Leaf(name), variant), "", place)
    plan = layout(data, step)
    picked = example(step)
    lit = {tuple(s) for s in step["cells"][picked[0]][picked[1]]["s"]}

    def operands(leaves: Iterable[Leaf], chars: int = 0) -> str:
        return "".join(_table(data, leaf, variant, chars, lit) for leaf in leaves)

    said = (
        f'<div class="bh-said"><span class="bh-eq">{formula(name)} = '
        f"{formula(step['formula'])}</span></div>"
    )
    chars = max(_chars(data, x.name) for x in (*plan.above, Leaf(name)))
    own = _table(data, Leaf(name), variant, chars, {(name, *picked)}, True, not filled)
    if plan.left:
        extra = "".join(
            f'<div class="bh-beside">{operands([leaf])}</div>' for leaf in plan.beside
        )
        body = (
            f'<div class="bh-product">{said}'
            f'<div class="bh-above">{operands(plan.above, chars)}</div>'
            f'<div class="bh-left">{operands(plan.left)}</div>'
            f'<div class="bh-meet">{own}</div>{extra}</div>'
        )
    else:
        body = (
            f'<div class="bh-map">{operands(plan.beside)}'
            f'<div class="bh-arrow">{said}</div>{own}</div>'
        )
    return _figure(step, body, written_out(step, picked, filled), place)


def _figure(step: Data, body: str, below: str, place: str) -> str:
    own = f' id="{escape(place)}-{escape(step["name"])}"' if place else ""
    says = f"{step['name']} = {step['formula']}" if step["asked"] else step["name"]
    part = f'<p class="bh-part">{escape(step["part"])}</p>' if step["part"] else ""
    note = step["note"] and (f'<p class="bh-note">{escape(step["note"])}</p>')
    return (
        f'<figure class="bh-step" data-step="{escape(step["name"])}"{own} '
        f'aria-label="{escape(says)}">{part}{body}{note}{below}</figure>'
    )


# ---------------------------------------------------------------- what stands where


def layout(data: Data, step: Data) -> Layout:
    """Where the operands of a step stand."""
    tree = {"op": step["op"], "operands": step["operands"]}
    products = [node for node in _nodes(tree) if node.get("op") == "product"]
    every = tuple(dict.fromkeys(leaves(tree)))
    if len(products) == 1:
        first, second = products[0]["operands"]
        left, above = tuple(leaves(first)), tuple(leaves(second))
        stacked = isinstance(second, str) or second["op"] in ("transpose", "concat")
        rows, columns = len(step["cells"]), len(step["cells"][0])
        fits = (
            len(left) == 1
            and stacked
            and shape(data, left[0])[0] == rows
            and all(shape(data, leaf)[1] == columns for leaf in above)
        )
        if fits:
            rest = tuple(x for x in every if x not in (*left, *above))
            return Layout(left, above, rest)
    return Layout(beside=every)


def leaves(operand: Any) -> list[Leaf]:
    """The named matrices of an operand, in reading order."""
    if isinstance(operand, str):
        return [Leaf(operand)]
    if "of" in operand:
        return [Leaf(operand["of"], True)]
    return [leaf for part in operand["operands"] for leaf in leaves(part)]


def _nodes(operand: Any) -> list[Any]:
    if isinstance(operand, str) or "of" in operand:
        return []
    return [operand, *(n for part in operand["operands"] for n in _nodes(part))]


def shape(data: Data, leaf: Leaf) -> tuple[int, int]:
    """(rows, columns) as the matrix is shown."""
    cells = step_of(data, leaf.name)["cells"]
    rows, columns = len(cells), len(cells[0])
    return (columns, rows) if leaf.turned else (rows, columns)


# ------------------------------------------------------------------------ matrices


def _table(
    data: Data,
    leaf: Leaf,
    variant: int,
    chars: int = 0,
    lit: Iterable[tuple[Any, ...]] = (),
    own: bool = False,
    blank: bool = False,
) -> str:
    """One matrix: name and shape as caption, labels, cells.

    chars : make the cells so many characters wide
    lit   : cells to light up, as (name, row, column) of the matrix as it is stored
    own   : the matrix that the step makes; its cells say what they come from
    """
    step = step_of(data, leaf.name, variant)
    rows, columns = shape(data, leaf)
    words = [step["rows"], step["cols"]]
    heads = words[::-1] if leaf.turned else words
    axes = [escape(w) if isinstance(w, str) else "" for w in heads]
    sizes = [f"{n} {w}".strip() for n, w in zip((rows, columns), axes, strict=True)]
    by = " × " if any(axes) else "\u00a0×\u00a0"
    kind = "bh-m bh-own" if own else "bh-m"
    turned = ' data-turned=""' if leaf.turned else ""
    out = [
        f'<table class="{kind}" data-of="{escape(leaf.name)}"{turned} '
        f'style="--c:{chars or _chars(data, leaf.name)};--role:var(--{step["role"]})">'
        f"<caption>"
        f'<span class="bh-name">{formula(leaf.name)}{"ᵀ" * leaf.turned}</span> '
        f'<span class="bh-shape">{by.join(sizes)}</span></caption>'
    ]
    marks = set(lit)
    if not isinstance(heads[1], str):
        corner = "" if isinstance(heads[0], str) else "<td></td>"
        cols = "".join(f'<th scope="col">{formula(w)}</th>' for w in heads[1])
        out.append(f"<thead><tr>{corner}{cols}</tr></thead>")
    out.append("<tbody>")
    for i in range(rows):
        out.append("<tr>")
        if not isinstance(heads[0], str):
            out.append(f'<th scope="row">{formula(heads[0][i])}</th>')
        for j in range(columns):
            at = (j, i) if leaf.turned else (i, j)
            hit = (leaf.name, *at) in marks
            out.append(_cell(step, at, hit, own, blank))
        out.append("</tr>")
    return "".join([*out, "</tbody></table>"])


def _cell(step: Data, at: tuple[int, int], hit: bool, own: bool, blank: bool) -> str:
    cell = step["cells"][at[0]][at[1]]
    marks = ' class="bh-hit"' if hit else ""
    if own:
        marks += f' data-from="{escape(origin(cell["s"]))}"'
    if step["role"] == "share" and not blank:
        marks += f' style="--part:{min(1.0, max(0.0, cell["x"])):.3f}"'
    inside = '<span class="bh-away">blank</span>' if blank else cell["v"]
    return f"<td{marks}>{inside}</td>"


def _chars(data: Data, name: str) -> int:
    """Characters of the widest entry, in any of the sheet's sets of numbers."""
    every = [
        len(cell["v"])
        for n in range(len(data["variants"]))
        for row in step_of(data, name, n)["cells"]
        for cell in row
    ]
    return max(every)


# --------------------------------------------------------------------------- words


def formula(text: str) -> str:
    """A name or formula as HTML: what follows _ goes below the line, ^ above."""
    text = re.sub(r"_(\w+)", r"<sub>\1</sub>", escape(text))
    return re.sub(r"\^(?:\(([^()]*)\)|([\w.]+))", r"<sup>\1\2</sup>", text)


def origin(sources: Sequence[Sequence[Any]]) -> str:
    """Where a cell comes from, in words: "W_Q row 2 and X column 3"."""
    groups: dict[str, list[tuple[int, int]]] = {}
    for name, i, j in sources:
        groups.setdefault(name, []).append((i + 1, j + 1))
    said = []
    for name, places in groups.items():
        rows, columns = ({p[k] for p in places} for k in (0, 1))
        words = name
        if len(rows) == 1:
            words += f" row {min(rows)}"
        if len(columns) == 1:
            words += f" column {min(columns)}"
        said.append(words)
    return " and ".join(said)


def example(step: Data) -> tuple[int, int]:
    """The cell to write out: the one whose sum has the fewest zeros."""

    def busy(place: tuple[int, int]) -> int:
        text = step["cells"][place[0]][place[1]]["t"]
        return len(re.findall(r"(?<![\d.])[1-9]", text)) - len(
            re.findall(r"(?<![\d./])0(?![.\d])", text)
        )

    rows, columns = len(step["cells"]), len(step["cells"][0])
    return max(((i, j) for i in range(rows) for j in range(columns)), key=busy)


def written_out(step: Data, place: tuple[int, int], filled: bool) -> str:
    """The arithmetic of one cell: "row 1, column 2: 1·0 + 1·1 = 1"."""
    i, j = place
    cell = step["cells"][i][j]
    result = cell["v"] if filled else "?"
    return (
        f'<p class="bh-sum"><span class="bh-where">row {i + 1}, column {j + 1}:</span> '
        f"{formula(cell['t'])} {equals(cell)} <strong>{result}</strong></p>"
    )


def equals(cell: Data) -> str:
    """The sign between the arithmetic and its result: rounded results have ≈."""
    value = cell["v"].replace("−", "-")
    return "=" if "/" in value or abs(float(value) - cell["x"]) < 1e-9 else "≈"
