"""Where an article and the facts part, for the pages of the book.

One file per chapter holds them, `solutions/<chapter>/errata.json`. In a page,

    ```{errata} attention
    ```

becomes a table: the article's claim in our words, what is right, how we know.
`{errata} kinds` is the legend of the words used for the kind of an error.
`_config.yml` lists this module as a Sphinx extension, so a change of the JSON
file rebuilds the pages that show it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CourseError
from ..paths import CHAPTERS, course_root

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: what an erratum may be, and what the word means
KINDS = {
    "confirmed typo": "the article's author says so",
    "typo": "a slip of the keyboard, plain from the context",
    "slip": "a small error of calculation or of rounding",
    "wrong": "the opposite, or another value, is true",
    "wrong as stated": "true once a missing condition is added",
    "wrong reason": "what is done is right, why it is done is not",
    "notation": "right in spirit, but the formula says something else",
    "omission": "true as far as it goes, but a needed part is left out",
}


@dataclass(frozen=True)
class Erratum:
    """One point where an article and the facts part. Texts are MyST Markdown."""

    id: str  # as E12
    article: str  # its key in the file's "articles"
    where: str  # the place in the article, in words
    kind: str  # one of KINDS
    claim: str  # what the article says, paraphrased
    right: str  # what is true
    known: str  # how we know


def errata_file(chapter: str, root: Path | None = None) -> Path:
    """The chapter's `errata.json`."""
    return (root or course_root()) / "solutions" / chapter / "errata.json"


def chapters_with_errata(root: Path | None = None) -> list[str]:
    """The chapters that have an errata file, in course order."""
    return [c for c in CHAPTERS if errata_file(c, root).is_file()]


def load_errata(
    chapter: str, root: Path | None = None
) -> tuple[dict[str, dict[str, Any]], list[Erratum]]:
    """The articles (by key) and the errata of a chapter.

    Raises CourseError for a missing file, a duplicate id, an unknown kind or
    an article that is not described.
    """
    path = errata_file(chapter, root)
    if not path.is_file():
        raise CourseError(f"{path} is missing", "write one, or name another chapter")
    data = json.loads(path.read_text(encoding="utf-8"))
    try:
        errata = [Erratum(**entry) for entry in data["errata"]]
    except TypeError as error:
        raise CourseError(f"{path}: {error}", "every entry has seven keys") from None
    seen: set[str] = set()
    for e in errata:
        if e.id in seen:
            raise CourseError(f"{path}: {e.id} is there twice", "give one another id")
        if e.kind not in KINDS:
            raise CourseError(
                f"{path}: {e.id} is of kind {e.kind!r}", f"kinds: {', '.join(KINDS)}"
            )
        if e.article not in data["articles"]:
            raise CourseError(
                f"{path}: {e.id} names the article {e.article!r}",
                'describe it under "articles"',
            )
        seen.add(e.id)
    return data["articles"], errata


def table(chapter: str, root: Path | None = None) -> str:
    """The errata of a chapter as a MyST list-table."""
    articles, errata = load_errata(chapter, root)
    lines = [
        "````{list-table}",
        ":class: errata",
        ":header-rows: 1",
        ":widths: 30 45 25",
        "",
        "* - The article says",
        "  - In fact",
        "  - How we know",
    ]
    for e in errata:
        title = articles[e.article]["title"]
        lines += [
            f"* - **{e.id}** · {e.kind}",
            "",
            f"    {e.claim}",
            "",
            f"    *{title}*, {e.where}",
            f"  - {e.right}",
            f"  - {e.known}",
        ]
    return "\n".join([*lines, "````"])


def kinds_table() -> str:
    """What the kinds mean, as a MyST list-table."""
    lines = ["````{list-table}", ":widths: 25 75", ""]
    for kind, meaning in KINDS.items():
        lines += [f"* - {kind}", f"  - {meaning}"]
    return "\n".join([*lines, "````"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive `errata` (Sphinx calls this)."""
    from docutils import nodes  # type: ignore[import-untyped]
    from docutils.statemachine import StringList  # type: ignore[import-untyped]
    from sphinx.util.docutils import SphinxDirective

    class ErrataDirective(SphinxDirective):
        """`{errata} CHAPTER` or `{errata} kinds`."""

        required_arguments = 1

        def run(self) -> list[nodes.Node]:
            root = Path(self.env.srcdir)
            name = self.arguments[0]
            if name == "kinds":
                self.env.note_dependency(__file__)
                text = kinds_table()
            else:
                self.env.note_dependency(str(errata_file(name, root)))
                text = table(name, root)
            box = nodes.container()
            self.state.nested_parse(StringList(text.splitlines()), 0, box)
            return list(box.children)

    app.add_directive("errata", ErrataDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
