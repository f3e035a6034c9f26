"""The list of references names its entries as the text does: author and year.

Two works of one author and year carry a letter in their `year` in references.bib
(2025a, 2025b), so that the text and the list tell them apart in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx


def label(entry: Entry) -> str:
    """`Dey, 2024`, `Rabe and Staats, 2021` or `Dao et al., 2022`."""
    names = [" ".join(p.prelast_names + p.last_names) for p in entry.persons["author"]]
    who = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{who}, {entry.fields['year']}"


class AuthorYearLabels(BaseLabelStyle):
    """The label of every entry of the list."""

    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        """One label per entry, in order."""
        return map(label, sorted_entries)


class AuthorYear(Plain):
    """Entries as in the style `plain`, labels as in the text."""

    default_label_style = AuthorYearLabels


def visit_citation(self: Any, node: nodes.citation) -> None:
    """An item of a list; a role of its own would be one that is no item."""
    if not isinstance(node.previous_sibling(), nodes.citation):
        self.body.append('<div role="list" class="citation-list">\n')
    self.body.append(self.starttag(node, "div", CLASS="citation", role="listitem"))


def depart_citation(self: Any, node: nodes.citation) -> None:
    """The end of the item, and of the list after the last one."""
    self.body.append("</div>\n")
    if not isinstance(node.next_node(descend=False, siblings=True), nodes.citation):
        self.body.append("</div>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the style (`bibtex_default_style`) and the list's markup."""
    register_plugin("pybtex.style.formatting", "author_year", AuthorYear)
    html = (visit_citation, depart_citation)
    app.add_node(nodes.citation, override=True, html=html)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
