"""The worksheets to print, made with the book.

    ```{printed} attention
    ```

becomes links to the chapter's sheet as PDF: blank and key, A4 and Letter. The files
are written beside the built pages, into `_static/worksheets/`, and only when what
they are made from has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder import worksheet as engine
from autograder.authoring.build import repository_url
from autograder.errors import CourseError
from autograder.paths import source_file
from autograder.worksheet import pdf
from autograder.worksheet.command import numbered

FOLDER = "_static/worksheets"
PAPERS = {"a4": "A4", "letter": "Letter"}


def files(chapter: str) -> Iterator[tuple[str, bool, str]]:
    """The sheets of a chapter: file, whether it is the key, which paper."""
    for key in (False, True):
        for paper in PAPERS:
            yield f"{chapter}{'-key' * key}-{paper}.pdf", key, paper


class PrintedDirective(SphinxDirective):
    """`{printed} CHAPTER`: links to its sheets."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        chapter = self.arguments[0]
        try:
            numbered(chapter, 0, Path(self.env.srcdir))
        except CourseError as error:
            raise self.error(str(error)) from error
        wanted = self.env.metadata[self.env.docname]
        wanted["printed"] = " ".join([*wanted.get("printed", "").split(), chapter])
        up = "../" * self.env.docname.count("/")
        links = [
            f'<a href="{up}{FOLDER}/{escape(name)}">'
            f"{'key' if key else 'blank sheet'} ({PAPERS[paper]})</a>"
            for name, key, paper in files(chapter)
        ]
        html = f'<p class="printed">To print (PDF): {", ".join(links)}.</p>'
        return [nodes.raw("", html, format="html")]


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the sheets that pages link to, unless they are there and fresh."""
    if exception or app.builder.format != "html":
        return
    root = Path(app.srcdir)
    pages = app.env.metadata.values()
    names = {n for page in pages for n in page.get("printed", "").split()}
    engine_files = list(Path(engine.__file__).parent.rglob("*.py"))
    for chapter in sorted(names):
        sources = [source_file(chapter, root).with_name("worksheet.py"), *engine_files]
        sources += [root / "_config.yml", Path(__file__)]
        newest = max(p.stat().st_mtime for p in sources if p.is_file())
        for name, key, paper in files(chapter):
            target = Path(app.outdir) / FOLDER / name
            if target.is_file() and target.stat().st_mtime > newest:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            sheet = numbered(chapter, 0, root)
            address = repository_url(root)
            pdf.write(sheet, target, key=key, paper=paper, address=address)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, and write the sheets at the end."""
    app.add_directive("printed", PrintedDirective)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
