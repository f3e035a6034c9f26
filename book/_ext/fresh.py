"""Executed pages follow the numbers and programs that they show.

A page's cells are run once and kept (`execute_notebooks: cache`), and the cache
knows only the text of the cells. But the cells read `worksheet.py`, recorded
results and this project's code. So the cache is kept per state of those files,
and a page is read again when they have changed.

The kernels of the pages import `autograder` from this checkout, installed or not.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

#: what executed pages read, beside their own text
INPUTS = (
    "autograder/checking/*.py",
    "autograder/pages/figures.py",
    "autograder/paths.py",
    "autograder/pages/plots.py",
    "autograder/worksheet/*.py",
    "solutions/*/worksheet.py",
    "solutions/*/stated.json",
    "solutions/*/results/*.json",
)


def digest(root: Path) -> str:
    """A short name for the present state of the inputs."""
    state = hashlib.sha256()
    for pattern in INPUTS:
        for path in sorted(root.glob(pattern)):
            state.update(path.relative_to(root).as_posix().encode())
            state.update(path.read_bytes())
    return state.hexdigest()[:12]


def choose_cache(app: Sphinx) -> None:
    """One cache of executed cells per state of the inputs."""
    caches = Path(app.outdir).parent / ".jupyter_cache"
    app.config.nb_execution_cache_path = str(caches / digest(Path(app.srcdir)))
    root = str(Path(app.srcdir).resolve())
    paths = [root, os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(p for p in paths if p)


def outdated(
    app: Sphinx, env: BuildEnvironment, added: set, changed: set, removed: set
) -> list[str]:
    """The executed pages, when an input has changed since the last build."""
    now = digest(Path(app.srcdir))
    before = getattr(env, "by_hand_inputs", now)
    env.by_hand_inputs = now  # type: ignore[attr-defined]
    if before == now:
        return []
    return [d for d in env.found_docs if "kernelspec" in env.metadata.get(d, {})]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the two steps; the cache must be chosen before myst-nb reads it."""
    app.connect("builder-inited", choose_cache, priority=100)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
