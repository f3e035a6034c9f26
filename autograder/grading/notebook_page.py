"""A graded notebook as a feedback page: what nbgrader's GenerateFeedback writes here.

`Verdicts` reads, before hidden cases are taken out, what the summary says of each
exercise; `FeedbackPage` is the exporter. `nbgrader_config.py` sets both.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from typing import Any

from nbconvert.exporters.exporter import Exporter, ResourcesDict
from nbconvert.filters import strip_ansi
from nbconvert.filters.markdown_mistune import (
    InvalidNotebook,
    IPythonRenderer,
    MarkdownWithMath,
)
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from ..checking.check import MIME
from ..pages.mathml import MathError, mathml
from .gradebook import Mark, read_marks
from .page import SAID, Row, case, document, summary, tame, told, totals
from .results import CheckResult
from .verdicts import is_check

#: what nbgrader puts under an answer that is still the stub
NO_COMMENT = "No response."
#: what is longer is shown as it was typed: reading it would take too long (characters)
LONGEST_TEXT, LONGEST_FORMULA = 20_000, 2_000


@dataclass(frozen=True)
class Seen:
    """What is known of a graded cell: its status, and words for the summary."""

    status: str
    told: str | None = None
    hint: str | None = None


class Verdicts(NbGraderPreprocessor):  # type: ignore[misc]
    """Notes each graded cell's verdict in the resources, for the page's summary."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Any:
        """Read verdicts from the notebook and marks from the gradebook."""
        names = resources["nbgrader"]
        marks = read_marks(names["db_url"], names["assignment"], names["student"])
        names["seen"] = {
            cell.metadata.nbgrader["grade_id"]: seen(cell, marks)
            for cell in nb.cells
            if is_grade(cell)
        }
        return nb, resources


def seen(cell: NotebookNode, marks: dict[str, Mark]) -> Seen:
    """The status of a graded cell, and what was seen there."""
    mark = marks.get(cell.metadata.nbgrader["grade_id"])
    if not is_check(cell):
        if mark is None or mark.open:
            return Seen("open")
        return Seen("marked" if mark.given else "blank")
    verdicts = [o.data[MIME] for o in cell.outputs if MIME in o.get("data", {})]
    try:
        check = CheckResult(**{**verdicts[-1], "cases": []})
        check.cases = [case(raw) for raw in verdicts[-1]["cases"]]
        if check.status not in SAID:
            raise ValueError(check.status)
        result = Seen(check.status, told(check), check.hint and str(check.hint))
    except (IndexError, KeyError, TypeError, ValueError):
        result = Seen("error", "the check left no verdict that can be read")
    if mark is not None and mark.given:
        words = "the points were given by a person"
        result = replace(result, told="; ".join(filter(None, (result.told, words))))
    return result


class FeedbackPage(Exporter):  # type: ignore[misc]
    """Exports a graded notebook as one self-contained page."""

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_notebook_node(
        self, nb: NotebookNode, resources: ResourcesDict | None = None, **more: Any
    ) -> tuple[str, ResourcesDict]:
        """Run the preprocessors, then write the page."""
        nb, resources = super().from_notebook_node(nb, resources, **more)
        return page(nb, resources["nbgrader"]), resources


def page(nb: NotebookNode, facts: dict[str, Any]) -> str:
    """The page of a graded notebook.

    facts : the student, the assignment, what `Verdicts` has seen, late_penalty
    """
    rows: list[Row] = []
    body: list[str] = []
    title, heading = facts["assignment"], ""
    for cell in nb.cells:
        if cell.cell_type == "markdown" and not is_grade(cell):
            for level, words in headings(cell.source):
                if level == "##":
                    heading = words
                elif title == facts["assignment"]:  # the page says it on top
                    title = words
                    cell.source = re.sub(r"(?m)^# .+$", "", cell.source, count=1)
        if is_grade(cell):
            name = cell.metadata.nbgrader["grade_id"]
            what = facts["seen"].get(name, Seen("error"))
            row = Row(
                line(heading or name),
                name,
                what.status,
                float(cell.metadata.nbgrader.get("score") or 0.0),
                float(cell.metadata.nbgrader.get("points") or 0.0),
                written=not is_check(cell),
                told=what.told,
                hint=what.hint,
            )
            rows.append(row)
            body.append(graded(cell, row))
        else:
            body.append(plain(cell))
    penalty = float(facts.get("late_penalty") or 0.0)
    top = [
        f'<p class="faint">{escape(facts["student"])} · {escape(facts["assignment"])}'
        f"</p>\n<h1>{line(title)}</h1>",
        *(f'<p class="points">{text}</p>' for text in totals(rows, penalty)),
        summary(rows),
    ]
    top = ["<header>", *top, "</header>", "<main>"]
    name = f"{facts['assignment']}: feedback for {facts['student']}"
    return document(name, "\n".join([*top, *filter(None, body), "</main>"]))


def graded(cell: NotebookNode, row: Row) -> str:
    """A check with its verdict, or a written answer with its mark."""
    label = "Your answer" if row.written else "The check"
    head = (
        f'<div class="judged" id="{escape(row.anchor)}">'
        f'<p class="label"><span>{label}</span><span class="got">{row.got}</span></p>'
    )
    if row.written and cell.cell_type == "markdown":
        inside = prose(cell)
    else:
        inside = "\n".join(
            output(o) for o in cell.outputs if o.output_type != "execute_result"
        )
        if cell.source.strip():
            inside += (
                f"<details><summary>The lines of the check</summary>"
                f"{code(cell.source)}</details>"
            )
    return f"{head}\n{inside}{comment(cell)}</div>"


def plain(cell: NotebookNode) -> str:
    """A cell that is not judged by itself: text, code, or the answer to a check."""
    if cell.cell_type == "markdown":
        return prose(cell)
    if cell.cell_type != "code":
        return f'<div class="code"><pre>{escape(cell.source)}</pre></div>'
    if not cell.source.strip() or cell.get("id") == "checker":
        return ""
    label = '<p class="label">Your answer</p>' if is_solution(cell) else ""
    outputs = "\n".join(map(output, cell.outputs))
    return f"{label}{code(cell.source)}\n{outputs}{comment(cell)}"


def comment(cell: NotebookNode) -> str:
    """What a person wrote about an answer."""
    text = cell.metadata.get("nbgrader", {}).get("comment")
    if not text or text.strip() == NO_COMMENT:
        return ""
    return f'<div class="comment prose"><b>Comment:</b> {markdown(text)}</div>'


# ------------------------------------------------------------------------- pieces


class Text(IPythonRenderer):  # type: ignore[misc]
    """Markdown to HTML: formulas as MathML, HTML shown as text, nothing fetched."""

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        """Never the first level: that is the page's title."""
        level = max(level, 2)
        return f"<h{level}>{text}</h{level}>\n"

    def inline_math(self, body: str) -> str:
        """`$...$`"""
        return formula(body, block=False)

    def block_math(self, body: str) -> str:
        """`$$...$$`"""
        return formula(body, block=True)

    def latex_environment(self, name: str, body: str) -> str:
        r"""`\\begin{align}...\\end{align}`"""
        return formula(rf"\begin{{{name}}}{body}\end{{{name}}}", block=True)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that came with the notebook; one from elsewhere is a link."""
        try:
            source = self._embed_image_or_attachment(url)
        except InvalidNotebook:
            source = ""
        if source.startswith("data:image/"):
            return f'<img class="image" src="{escape(source)}" alt="{escape(text)}">'
        return str(self.link(text or url, url, title))


def headings(text: str) -> list[tuple[str, str]]:
    """The headings of the first two levels: (level, words)."""
    found = []
    for line_ in text.splitlines():
        level, _, words = line_.partition(" ")
        if level in ("#", "##") and words.strip():
            found.append((level, words.strip()))
    return found


def formula(latex: str, block: bool) -> str:
    """A formula as MathML; as it was typed when it can't be read."""
    try:
        if len(latex) > LONGEST_FORMULA:
            raise MathError("too long")
        made = mathml(latex, block)
    except (MathError, RecursionError):
        return f"<code>{escape(latex.strip())}</code>"
    if not block:
        return made
    # a span: it stands inside a paragraph
    style = 'class="formula" style="display:block" tabindex="0" role="group"'
    return f'<span {style} aria-label="formula">{made}</span>'


def markdown(text: str, attachments: Any = None) -> str:
    """Markdown as HTML."""
    return _render(text, attachments) if attachments else _rendered(text)


@lru_cache(2048)
def _rendered(text: str) -> str:
    """Most text is the same for every student."""
    return _render(text, None)


def _render(text: str, attachments: Any) -> str:
    if len(text) > LONGEST_TEXT:
        return f"<pre>{escape(text)}</pre>"
    renderer = Text(
        escape=True, allow_harmful_protocols=False, attachments=attachments or {}
    )
    html = MarkdownWithMath(renderer=renderer).render(text)
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)
    html = html.replace("<table>", f"<div {scrolling('table')}><table>")
    return html.replace("</table>", "</table></div>")


def prose(cell: NotebookNode) -> str:
    """A text cell."""
    return f'<div class="prose">{markdown(cell.source, cell.get("attachments"))}</div>'


def line(text: str) -> str:
    """A heading's words, formulas and code among them, without the heading."""
    return re.sub(r"^<h2>|</h2>\s*$", "", markdown(f"# {text}"))


def scrolling(name: str) -> str:
    """The attributes of a box that may scroll sideways, by keyboard too."""
    return f'class="scroll" tabindex="0" role="group" aria-label="{name}"'


@lru_cache(2048)
def code(source: str) -> str:
    """Python, coloured."""
    made = highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    return f'<div class="code"><pre>{made.rstrip()}</pre></div>'


def output(out: NotebookNode) -> str:
    """What a cell gave."""
    if out.output_type == "stream":
        return _box(f"<pre>{escape(strip_ansi(out.text))}</pre>")
    if out.output_type == "error":
        text = strip_ansi("\n".join(out.traceback)) or f"{out.ename}: {out.evalue}"
        return _box(f"<pre>{escape(text)}</pre>")
    data = out.get("data", {})
    if "text/html" in data:
        return _box(tame(data["text/html"]))
    for kind in ("image/svg+xml", "image/png", "image/jpeg"):
        if kind in data:
            packed = data[kind]
            if kind == "image/svg+xml":
                packed = base64.b64encode(packed.encode()).decode()
            source = f"data:{kind};base64,{''.join(packed.split())}"
            words = "picture that this cell drew"
            return _box(f'<img class="image" src="{escape(source)}" alt="{words}">')
    if "text/latex" in data:
        return _box(formula(data["text/latex"].strip().strip("$"), block=True))
    return _box(f"<pre>{escape(strip_ansi(data.get('text/plain', '')))}</pre>")


def _box(inside: str) -> str:
    return (
        f'<div class="out" tabindex="0" role="group" aria-label="output">{inside}</div>'
    )
