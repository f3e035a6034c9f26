"""HTML from strangers with nothing left but text and plain tables.

It is read once from the left to the right, so that the time it takes grows with its
length alone. (A parser that mends HTML as browsers do needs hours for a page of bad
will.)
"""

from __future__ import annotations

import html
import re

_ALLOWED = (
    "table thead tbody tfoot tr th td caption p b i em strong code pre sub sup "
    "ul ol li dl dt dd div span h1 h2 h3 h4 h5 h6"
)
ALLOWED = frozenset(_ALLOWED.split())
#: they have no end
SINGLE = frozenset({"br", "hr"})
#: what they hold is no text to read
_SILENT = "script style template title textarea iframe noscript svg math object"
SILENT = frozenset(_SILENT.split())
#: tags in tags; deeper ones go, and what is in them stays
DEPTH = 30

_TAG = re.compile(r"<!--|<(/?)([A-Za-z][A-Za-z0-9]*)[^<>]*>|<[!?/][^<>]*>")


def clean(text: str) -> str:
    """HTML of text and tables: no attributes, every tag closed."""
    made: list[str] = []
    still: list[str] = []  # the tags that are open
    small, at = text.lower(), 0
    if len(small) != len(text):  # letters that are longer when they are small
        small = text
    while found := _TAG.search(text, at):
        made.append(_text(text[at : found.start()]))
        at = found.end()
        ends, name = found[1], (found[2] or "").lower()
        if found[0] == "<!--":
            end = text.find("-->", at)
            at = end + 3 if end >= 0 else len(text)
        elif name in SILENT and not ends:
            end = small.find(f"</{name}", at)
            at = end if end >= 0 else len(text)
        elif name in SINGLE:
            made.append(f"<{name}>")
        elif ends and name in still:
            while still[-1] != name:
                made.append(f"</{still.pop()}>")
            made.append(f"</{still.pop()}>")
        elif not ends and name in ALLOWED and len(still) < DEPTH:
            still.append(name)
            made.append(f"<{name}>")
    made.append(_text(text[at:]))
    return "".join(made + [f"</{name}>" for name in reversed(still)])


def _text(text: str) -> str:
    """Text between tags, which may hold entities."""
    return html.escape(html.unescape(text), quote=False)
