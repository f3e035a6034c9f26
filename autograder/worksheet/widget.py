"""The worksheet in a notebook: the page's own script and style, through anywidget.

    from autograder import worksheet

    ws = worksheet("attention")     # as the last line of a cell it is shown
    ws.value("Q")                   # what has been filled in; `...` where nothing is

JupyterLab, Notebook, VS Code and Colab show the sheet to fill in. Where there is no
such front end, or no anywidget, its steps are shown as text.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import re
import sys
from fractions import Fraction
from pathlib import Path
from types import EllipsisType
from typing import Any

from ..errors import CourseError
from ..paths import course_root
from .carried import carry
from .command import maker
from .data import as_data, step_of
from .draw import asked, draw_sheet

HERE = Path(__file__).parent
Filled = list[list["int | Fraction | float | str | EllipsisType"]]

MISSING = "\n\nTo fill it in here: pip install anywidget, then restart the kernel."
RENDER = """
export default {
  render({ model, el }) {
    const copy = (x) => JSON.parse(JSON.stringify(x ?? null));
    const tell = (name, value) => {
      model.set(name, copy(value));
      model.save_changes();
    };
    const sheet = document.createElement("div");
    el.append(sheet);
    globalThis.ByHand.mount(sheet, model.get("sheet"), {
      html: model.get("html"),
      show: model.get("show"),
      variant: model.get("variant"),
      store: {
        load: () => copy(model.get("kept")),
        save: (kept) => tell("kept", kept),
      },
      onChange: (state) => tell("state", state),
    });
  },
};
"""


def data_of(name: str) -> dict[str, Any]:
    """A worksheet as data: beside the notebook, in exercises/, or made afresh.

    Raises CourseError naming the sheets there are.
    """
    places = [Path.cwd() / f"{name}.worksheet.json"]
    with contextlib.suppress(CourseError):
        places.append(course_root() / "exercises" / name / places[0].name)
    for place in places:
        if place.is_file():
            return json.loads(place.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
    return carry(as_data(maker(name)))


def open_sheet(
    name: str,
    steps: list[str] | None = None,
    *,
    show: str = "blank",
    variant: int = 0,
) -> Sheet:
    """A chapter's worksheet, to fill in where that is possible, else as text.

    steps   : names of the steps to show, in order; None shows all
    show    : "blank" or "filled"
    variant : 0 for the numbers of the text, 1 to 5 for others
    """
    data = data_of(name)
    if show not in ("blank", "filled"):
        raise CourseError(f"show={show!r}", 'say "blank" or "filled"')
    if variant not in range(len(data["variants"])):
        last = len(data["variants"]) - 1
        raise CourseError(f"there is no variant {variant}", f"variants: 0 to {last}")
    names = list(steps) if steps is not None else asked(data)
    for step in names:
        step_of(data, step)
    plain = bool(os.environ.get("NBGRADER_EXECUTION") or os.environ.get("BY_HAND_TEXT"))
    if plain or importlib.util.find_spec("anywidget") is None:
        return Sheet(data, names, show, variant, missing=not plain)
    return _with_front_end()(data, names, show, variant)


class Sheet:
    """A worksheet as text; the widget is one that can be filled in as well."""

    def __init__(
        self,
        data: dict[str, Any],
        names: list[str],
        show: str = "blank",
        variant: int = 0,
        missing: bool = False,
    ) -> None:
        self._data, self._names, self._show = data, names, show
        self._first, self._missing = variant, missing

    def _state(self) -> dict[str, Any]:
        return {"variant": self._first, "filled": {}}

    def value(self, name: str) -> Filled:
        """What has been filled in: a list of rows, `...` where nothing is yet.

        Whole numbers come as int, `9/46` as Fraction, `0.2` as float; what is no
        number comes as it was typed. Given numbers come as they are given.
        """
        state = self._state()
        step = step_of(self._data, name, state["variant"])
        if not step["asked"]:
            return [[read(cell["v"]) for cell in row] for row in step["cells"]]
        texts = state["filled"].get(name) or []
        return [
            [_at(texts, i, j) for j in range(len(row))]
            for i, row in enumerate(step["cells"])
        ]

    def text(self, filled: bool = False) -> str:
        """The steps as text, with empty places, or with the values in them."""
        number = self._state()["variant"]
        lines = [self._data["title"], self._data["text"], ""]
        shown = set(self._names) | _needed(self._data, self._names)
        part = ""
        for step in self._data["variants"][number]["steps"]:
            if step["name"] not in shown:
                continue
            if step["part"] != part and step["asked"]:
                part = step["part"]
                lines += [f"{part}", ""]
            lines += [*as_text(step, filled or not step["asked"]), ""]
        return "\n".join(lines).rstrip()

    def __repr__(self) -> str:
        return self.text(self._show == "filled") + (MISSING if self._missing else "")

    __str__ = __repr__


@functools.cache
def _with_front_end() -> type[Sheet]:
    """The widget's class; anywidget is imported when one is asked for."""
    import anywidget
    import traitlets

    if "google.colab" in sys.modules:  # other people's widgets are off there
        with contextlib.suppress(Exception):
            from google.colab import output  # type: ignore[import-not-found]

            output.enable_custom_widget_manager()

    class Widget(Sheet, anywidget.AnyWidget):  # type: ignore[misc]
        """The worksheet to fill in."""

        _esm = (HERE / "worksheet.js").read_text(encoding="utf-8") + RENDER
        _css = (HERE / "worksheet.css").read_text(encoding="utf-8")
        sheet = traitlets.Dict().tag(sync=True)
        html = traitlets.Unicode().tag(sync=True)
        show = traitlets.Unicode("blank").tag(sync=True)
        variant = traitlets.Int(0).tag(sync=True)
        kept = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
        state = traitlets.Dict().tag(sync=True)

        def __init__(
            self, data: dict[str, Any], names: list[str], show: str, variant: int
        ) -> None:
            Sheet.__init__(self, data, names, show, variant)
            filled = show == "filled"
            anywidget.AnyWidget.__init__(
                self,
                sheet=data,
                html=draw_sheet(data, names, filled, variant),
                show=show,
                variant=variant,
                state={"variant": variant, "filled": {}},
            )

        def _state(self) -> dict[str, Any]:
            return {"variant": 0, "filled": {}, **self.state}

        def _repr_mimebundle_(self, **options: Any) -> Any:
            bundle = super()._repr_mimebundle_(**options)
            if bundle is None:
                return {"text/plain": repr(self)}
            data = bundle[0] if isinstance(bundle, tuple) else bundle
            data["text/plain"] = repr(self)
            return bundle

        __repr__ = Sheet.__repr__

    return Widget


# ------------------------------------------------------------------------- text


def read(text: str) -> int | Fraction | float | str | EllipsisType:
    """A number as typed: `3`, `−1`, `9/46`, `0.2`, `.2`, `0,2`; `...` for nothing."""
    plain = re.sub(r"\s+", "", text.translate({0x2212: "-", 0x2013: "-", 0x2014: "-"}))
    plain = plain.replace(",", ".").replace("⁄", "/")
    if not plain:
        return ...
    if re.fullmatch(r"[+-]?\d+", plain):
        return int(plain)
    if found := re.fullmatch(r"([+-]?[\d.]+)/([+-]?[\d.]+)", plain):
        with contextlib.suppress(ValueError, ZeroDivisionError):
            value = Fraction(found[1]) / Fraction(found[2])
            return int(value) if value.denominator == 1 else value
        return text
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", plain):
        return float(plain)
    return text


def _at(texts: list[list[str]], i: int, j: int) -> Any:
    inside = i < len(texts) and j < len(texts[i])
    return read(str(texts[i][j] or "")) if inside else ...


def _needed(data: dict[str, Any], names: list[str]) -> set[str]:
    """The given matrices that some steps use."""
    steps = {s["name"]: s for s in data["variants"][0]["steps"]}
    used = {
        source[0]
        for name in names
        for row in steps[name]["cells"]
        for cell in row
        for source in cell.get("s", [])
    }
    return {name for name in used if not steps[name]["asked"]}


def as_text(step: dict[str, Any], filled: bool) -> list[str]:
    """One step: its name, how it is made, and its numbers or empty places."""
    cells = step["cells"]
    shape = f"{len(cells)}×{len(cells[0])}"
    if step["asked"]:
        head = f"{step['name']} = {step['formula']}   ({shape})"
    else:
        head = f"{step['name']}   ({shape}, given)"
    if step["note"]:
        head += f"   {step['note']}"
    texts = [[cell["v"] if filled else "□" for cell in row] for row in cells]
    wide = [max(len(row[j]) for row in texts) for j in range(len(cells[0]))]
    rows = [
        "    " + "  ".join(t.rjust(w) for t, w in zip(row, wide, strict=True))
        for row in texts
    ]
    return [head, *rows]
