"""A formula and the full stop after it stay on one line.

A browser may break the line on both sides of `<math>`, even before a comma or after
an opening bracket. Both are taken into a span with the formula, which does not break.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

#: what must not begin a line; what must not end one
AFTER = re.compile(r"[.,;:!?)\]’”…%]+(?:s\b)?")
BEFORE = re.compile(r"[(\[‘“]+$")


def keep_together(doctree: nodes.document) -> None:
    """Wrap every inline formula of a page with the signs that touch it."""
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        if not isinstance(parent, nodes.Element):
            continue
        here = parent.index(formula)
        last, following = parent[here - 1] if here else None, None
        if here + 1 < len(parent):
            following = parent[here + 1]
        head, tail = "", ""
        if isinstance(last, nodes.Text) and (found := BEFORE.search(last)):
            head = found.group()
            parent.replace(last, nodes.Text(str(last)[: -len(head)]))
        if isinstance(following, nodes.Text) and (found := AFTER.match(following)):
            tail = found.group()
            parent.replace(following, nodes.Text(str(following)[len(tail) :]))
        if head or tail:
            whole = nodes.inline(classes=["bh-together"])
            parent.replace(formula, whole)
            whole += [nodes.Text(head), formula, nodes.Text(tail)]


def resolved(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Only where lines are broken by a browser."""
    if app.builder.format == "html":
        keep_together(doctree)


def setup(app: Sphinx) -> dict[str, Any]:
    """After everything that still reads or changes the text."""
    app.connect("doctree-resolved", resolved, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
