"""Worksheets in the book: the by-hand example of a chapter, a step at a time.

    ```{worksheet} attention
    :step: Q
    ```

draws the step as the reader fills it in. Options:

    :step:    one step or several (`K, V`); without it, the whole sheet
    :upto:    the whole sheet up to this step
    :show:    `blank` (default), `filled`, or `bar`: no step, but how far each is
    :variant: which set of numbers, 0 (default) being those of the text

What stands inside the directive is shown when the sheet is finished. Without a
script a page shows the same figures, blank or filled; `autograder/worksheet` holds
the script and the style sheet, which a page with a sheet loads.
"""

from __future__ import annotations

import copy
import functools
import re
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

from autograder import worksheet as engine
from autograder.errors import CourseError
from autograder.paths import load_worksheet, source_file
from autograder.worksheet.carried import carry
from autograder.worksheet.data import as_data, dumps
from autograder.worksheet.draw import asked, draw_sheet

FOLDER = Path(engine.__file__).parent
ASSETS = ("worksheet.js", "worksheet.css")


@functools.cache
def data_of(chapter: str, root: Path, state: int) -> dict[str, Any]:
    """A chapter's sheet with all its sets of numbers (`state`: when it was written)."""
    return carry(as_data(load_worksheet(chapter, root).sheet))


def embedded(data: dict[str, Any]) -> str:
    """The data for a page: what all sets of numbers share stands in the first only."""
    slim = copy.deepcopy(data)
    for variant in slim["variants"][1:]:
        for step in variant["steps"]:
            for cell in (cell for row in step["cells"] for cell in row):
                cell.pop("s", None)
    return dumps(slim).strip().replace("<", "\\u003c")


def show(argument: str) -> str:
    """The option `:show:`."""
    return directives.choice(argument, ("blank", "filled", "bar"))


class WorksheetDirective(SphinxDirective):
    """`{worksheet} CHAPTER`: a step, several, or the whole sheet."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {
        "step": directives.unchanged_required,
        "upto": directives.unchanged_required,
        "show": show,
        "variant": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        chapter, root = self.arguments[0], Path(self.env.srcdir)
        source = source_file(chapter, root).with_name("worksheet.py")
        self.env.note_dependency(str(source))
        for path in sorted(FOLDER.glob("*.py")):
            self.env.note_dependency(str(path))
        try:
            data = data_of(chapter, root, source.stat().st_mtime_ns)
            return self.drawn(chapter, data)
        except (CourseError, FileNotFoundError) as error:
            raise self.error(str(error)) from error

    def drawn(self, chapter: str, data: dict[str, Any]) -> list[nodes.Node]:
        """The nodes of the block."""
        filled = self.options.get("show", "blank") == "filled"
        variant = self.options.get("variant", 0)
        if variant >= len(data["variants"]):
            raise CourseError(f"there is no variant {variant} on a page")
        names = asked(data, self.options.get("upto"))
        single = self.options.get("step")
        if single:
            names = [name for name in re.split(r"[\s,]+", single) if name]
        place = chapter if single and variant == 0 else f"{chapter}-sheet"
        bar = self.options.get("show") == "bar"
        figures = "" if bar else draw_sheet(data, names, filled, variant, place)
        more = f' data-bar="{escape(chapter)}" hidden' if bar else ""
        out: list[nodes.Node] = []
        if chapter not in self.env.metadata[self.env.docname].get("worksheets", ""):
            self.env.metadata[self.env.docname]["worksheets"] = chapter
            script = f'<script type="application/json" id="sheet-{escape(chapter)}">'
            out.append(_raw(f"{script}{embedded(data)}</script>"))
        out.append(
            _raw(
                f'<div class="bh-sheet" data-sheet="{escape(chapter)}" '
                f'data-steps="{escape(" ".join(names))}" '
                f'data-show="{"filled" if filled else "blank"}" '
                f'data-variant="{variant}"{more}>{figures}'
            )
        )
        if self.content:
            said = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, said)
            out += [
                _raw('<div class="bh-end" role="status" hidden>'),
                *said.children,
                _raw("</div>"),
            ]
        return [*out, _raw("</div>")]


def _raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def assets(app: Sphinx, config: Config) -> None:
    """The script and the style sheet are copied as they are."""
    config.html_static_path = [
        *config.html_static_path,
        *(str(FOLDER / name) for name in ASSETS),
    ]


def load(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """A page with a worksheet loads them; others do not."""
    if app.env.metadata.get(page, {}).get("worksheets"):
        app.add_css_file("worksheet.css")
        app.add_js_file("worksheet.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, its files, and where they are loaded."""
    app.add_directive("worksheet", WorksheetDirective)
    app.connect("config-inited", assets)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
