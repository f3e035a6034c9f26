"""The book reads without a network: no page loads anything from elsewhere.

After the build every page is searched for scripts, styles, images and fonts with a
remote address; one of them fails the build. Links that a reader clicks are fine.

Extensions that Jupyter Book loads and this book does not use (live code through
thebe) leave their scripts in every page; they are taken out here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

REMOTE = re.compile(
    r"<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=[\"'](?:https?:)?//[^\"']+"
    r"|<link\b(?![^>]*rel=[\"'](?:canonical|license|author|search)[\"'])"
    r"[^>]*\bhref=[\"'](?:https?:)?//[^\"']+"
    r"|(?:@import|url\()\s*[\"']?(?:https?:)?//[^\"')]+"
)


def remote_assets(html: str) -> list[str]:
    """What a page would fetch from elsewhere as it is opened."""
    return [found.group(0)[-120:] for found in REMOTE.finditer(html)]


def drop_unused(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Take scripts out that serve what this book does not use."""
    context["script_files"] = [
        script
        for script in context.get("script_files", [])
        if "thebe" not in str(getattr(script, "filename", script) or "")
        and "THEBE" not in str(getattr(script, "attributes", {}).get("body", ""))
    ]


def check(app: Sphinx, exception: Exception | None) -> None:
    """Fail the build when a page needs the network."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    bad = [
        f"{path.relative_to(out)}: {asset}"
        for path in sorted([*out.rglob("*.html"), *out.glob("_static/*.css")])
        for asset in remote_assets(path.read_text(encoding="utf-8"))
    ]
    if bad:
        raise SphinxError("pages that need the network:\n  " + "\n  ".join(bad))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect both steps, after everything else."""
    app.connect("html-page-context", drop_unused, priority=950)
    app.connect("build-finished", check, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
