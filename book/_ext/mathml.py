"""Formulas as MathML, made when the book is built.

Browsers have drawn MathML themselves since 2023, so a page needs no script and no
network to show a formula, screen readers can read it, and it prints. The
translation is docutils' own. A formula it cannot read is a warning (so, with `-W`,
a failed build), never a page with a hole.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


#: `\tfrac14`, which docutils does not read
SHORT_FRACTION = re.compile(r"\\([td]?frac)\s*(\d)(\d)")
PRIME = re.compile(r"(<m[in]>[^<]*</m[in]>) <mo>'</mo>")
#: a tilde or hat over a letter with an index is an accent, not a limit
ACCENT = re.compile(
    r"<munderover> <(m\w)>(\w)</\1> (<mrow>.*?</mrow>|<m\w>\w+</m\w>) "
    r'(<mo stretchy="false">[~^¯]</mo>) </munderover>'
)


def mathml(node: nodes.Element, block: bool) -> str:
    """The node's LaTeX as a `<math>` element."""
    latex = SHORT_FRACTION.sub(r"\\\1{\2}{\3}", node.astext().strip())
    try:
        tree = latex2mathml.tex2mathml(latex, as_block=block)
    except MathError as error:
        logger.warning("cannot translate %r: %s", latex, error, location=node)
        return f"<code>{escape(latex)}</code>"
    text = " ".join(tree.split())
    text = ACCENT.sub(
        r'<msub> <mover accent="true"> <\1>\2</\1> \4 </mover> \3 </msub>', text
    )
    text = PRIME.sub(r'\1<mo lspace="0" rspace="0">′</mo>', text)
    # TeX sets a slash without space around it
    text = text.replace(
        '<mo stretchy="false">/</mo>',
        '<mo stretchy="false" lspace="0" rspace="0">/</mo>',
    )
    if r"\left" not in latex:  # then no bracket was asked to grow
        text = re.sub(
            r"<mo( class=\"math\w+\")?>([{}⌊⌋⌈⌉‖|])</mo>",
            r'<mo\1 stretchy="false">\2</mo>',
            text,
        )
    return text


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
