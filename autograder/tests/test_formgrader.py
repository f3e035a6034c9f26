"""A submission in the formgrader: no text of a student acts in that page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
    new_raw_cell,
)
from nbgrader.server_extensions.formgrader import handlers

from autograder.engine.shown import rich
from autograder.grading.preprocessors import course_config
from autograder.tests.test_preprocessors import info

#: what `submissions/<id>` hands to the exporter
FACTS = dict.fromkeys(
    ("assignment_id", "notebook_id", "submission_id", "base_url", "notebook_path"), "x"
) | {"index": 0, "total": 1, "student": "eve", "last_name": None, "first_name": None}

EVIL = [
    "<script>alert(77)</script>",
    '<img src="x" onerror="alert(77)">',
    "<svg/onload=alert(77)>",
    "[a link](javascript:alert(77))",
    "![a picture](javascript:alert(77))",
    "<a href='javascript:alert(77)'>a</a>",
    "<iframe srcdoc='<script>alert(77)</script>'></iframe>",
    "`</code><script>alert(77)</script>`",
    "$\\text{<script>alert(77)</script>}$",
    "$$</script><script>alert(77)</script>$$",
    "# <script>alert(77)</script>",
    "| a |\n|---|\n| <script>alert(77)</script> |",
    "```html\n</code></pre><script>alert(77)</script>\n```",
    "<img src=x onerror=alert(77)",
    "</div></div><form action='//example.org'><input name=a></form>",
]


class Acts(HTMLParser):
    """Collects what in a page could act, by the number that ours carry."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.script = tag == "script"
        for name, value in attrs:
            if "77" in (value or "") or (name.startswith("on") and "77" in str(attrs)):
                self.found.append(f"<{tag} {name}={value}>")
        if tag in ("iframe", "form") and ("srcdoc", None) not in attrs:
            self.found += [tag] if dict(attrs).get("action") == "//example.org" else []

    def handle_endtag(self, tag: str) -> None:
        self.script = False

    def handle_data(self, data: str) -> None:
        if self.script and "alert(77)" in data:
            self.found.append(data)


def shown_by(exporter: HTMLExporter, *cells) -> str:
    html, _ = exporter.from_notebook_node(new_notebook(cells=list(cells)), FACTS)
    return html


def acting(html: str) -> list[str]:
    parser = Acts()
    parser.feed(html)
    parser.close()
    return parser.found


@pytest.fixture(scope="module")
def exporter() -> HTMLExporter:
    """The formgrader's exporter, made as its `init_tornado_settings` makes it."""
    config = course_config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    return HTMLExporter(config=config)


def written(text: str):
    return new_markdown_cell(
        text, metadata=info("why", grade=True, solution=True, points=2)
    )


@pytest.mark.parametrize("text", EVIL)
def test_nothing_of_a_student_s_text_acts(exporter, text):
    for cell in (new_markdown_cell(text), written(text), new_raw_cell(text)):
        html = shown_by(exporter, cell)
        assert acting(html) == []
    wild = new_raw_cell(text, metadata={"raw_mimetype": "text/html"})
    assert acting(shown_by(exporter, wild)) == []


def test_nor_does_what_a_cell_shows(exporter):
    data = {"text/html": EVIL[0], "text/markdown": EVIL[1], "text/plain": "x"}
    cleaned = rich(data, 10_000)
    output = new_output("display_data", cleaned)
    assert acting(shown_by(exporter, new_code_cell("x", outputs=[output]))) == []


def test_the_stock_page_would_let_it_act():
    """What the line of `nbgrader_config.py` is there for."""
    stock = HTMLExporter()
    stock.template_name = "formgrade"
    stock.extra_template_basedirs = [handlers.template_path]
    assert len(acting(shown_by(stock, new_markdown_cell(EVIL[0])))) == 1


def test_a_written_answer_reads_as_on_the_feedback_page(exporter):
    html = shown_by(exporter, written("The **scale** $\\sqrt{d_k}$ and `a < b`."))
    assert "<strong>scale</strong>" in html
    assert "<msqrt>" in html
    assert "a &lt; b" in html
