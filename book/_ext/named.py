"""Names for what the theme leaves without: the folds of the list of pages.

A screen reader says what a control is called. The theme's folding arrows beside the
chapters have no name; here they get one. (`book/_templates` does the same for the
logo, which stands outside every named part of the page.)
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

FOLD = '<summary aria-label="Pages below this one">'


def name_folds(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Wrap the theme's function that makes the list of pages."""
    for key in ("generate_toctree_html", "toctree"):
        if callable(make := context.get(key)):
            context[key] = _naming(make)


def _naming(make: Any) -> Any:
    def named(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        text = str(made)
        return text.replace("<summary>", FOLD) if "<summary>" in text else made

    return named


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect after the theme."""
    app.connect("html-page-context", name_folds, priority=960)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
