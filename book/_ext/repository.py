"""The course's address in the guides, also inside their commands.

`{{ repository_url }}` and `{{ repository_name }}` in a page become what
`_config.yml` says under `repository: url:`, before the page is parsed. So a fork
changes one line, and the guides tell its students to clone the fork.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def fill_in(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the two names in the text of a page."""
    url = app.config.html_theme_options.get("repository_url", "").rstrip("/")
    name = url.rpartition("/")[2]
    text = source[0].replace("{{ repository_url }}", url)
    source[0] = text.replace("{{ repository_name }}", name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the replacement (Sphinx calls this)."""
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
