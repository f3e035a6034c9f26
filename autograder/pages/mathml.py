"""Formulas as MathML, for the book and for feedback pages.

Browsers have drawn MathML themselves since 2023, so a page needs no script and no
network to show a formula, screen readers can read it, and it prints. The
translation is docutils' own; what it leaves to be wished is mended here.
"""

from __future__ import annotations

import re

from docutils.utils.math import MathError, latex2mathml

__all__ = ["MathError", "mathml"]

#: `\tfrac14`, which docutils does not read
SHORT_FRACTION = re.compile(r"\\([td]?frac)\s*(\d)(\d)")
PRIME = re.compile(r"(<m[in]>[^<]*</m[in]>) <mo>'</mo>")
#: a tilde or hat over a letter with an index is an accent, not a limit
ACCENT = re.compile(
    r"<munderover> <(m\w)>(\w)</\1> (<mrow>.*?</mrow>|<m\w>\w+</m\w>) "
    r'(<mo stretchy="false">[~^¯]</mo>) </munderover>'
)


def mathml(latex: str, block: bool) -> str:
    """A formula as a `<math>` element. Raises MathError when it can't be read."""
    latex = SHORT_FRACTION.sub(r"\\\1{\2}{\3}", latex.strip())
    text = " ".join(latex2mathml.tex2mathml(latex, as_block=block).split())
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
