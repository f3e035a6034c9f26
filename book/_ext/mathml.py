"""Formulas as MathML, made when the book is built (see autograder.pages.mathml).

A formula that cannot be read is a warning (so, with `-W`, a failed build), never a
page with a hole.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from autograder.pages import mathml as translation

logger = logging.getLogger(__name__)


def mathml(node: nodes.Element, block: bool) -> str:
    """The node's LaTeX as a `<math>` element."""
    latex = node.astext().strip()
    try:
        return translation.mathml(latex, block)
    except translation.MathError as error:
        logger.warning("cannot translate %r: %s", latex, error, location=node)
        return f"<code>{escape(latex)}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    """`$...$`"""
    self.body.append(f'<span class="math">{mathml(node, block=False)}</span>')
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """`$$...$$`, with its number and permalink when it has a label."""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    formula = mathml(node, block=True)
    self.body.append(f'<div class="math-scroll" tabindex="0">{formula}</div>')
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; `_config.yml` chooses it (`html_math_renderer`)."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
