"""Buttons that open a chapter's exercises somewhere they run.

In a page,

    ```{launch} attention
    ```

becomes what the exercises ask for (how many, points, time) and a row of links to
`exercises/attention/attention.ipynb`: Colab, Binder, JupyterHub, and a download (the
notebook with its expected values, as a zip). All addresses are made from `repository`
and `launch_buttons` in `_config.yml`.

The theme's own buttons in the page header open the page's *source*. For an
exercise that is right. A chapter is a Markdown file, which Colab cannot open: there
the header buttons lead to the chapter's exercises instead. And an exercise's source
is of no use without its expected values: its download is the zip with both.
"""

from __future__ import annotations

import re
import zipfile
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

#: asks for the address of a hub and makes the link; takes the same three words
LINK_MAKER = "https://nbgitpuller.readthedocs.io/en/latest/link.html"
LEVEL = re.compile(r"difficulty (\d)/5 · about (\d+) minutes · ([\d.]+) points?\b")
ICONS = {
    "Colab": "_static/images/logo_colab.png",
    "Binder": "_static/images/logo_binder.svg",
    "JupyterHub": "_static/images/logo_jupyterhub.svg",
}


def notebook(chapter: str) -> str:
    """The exercises of a chapter, from the root of the repository."""
    return f"exercises/{chapter}/{chapter}.ipynb"


def launch_links(options: dict[str, Any], path: str) -> dict[str, str]:
    """Where to open the notebook at `path`: name of the place -> address.

    options : the theme's options, which Jupyter Book fills from `_config.yml`
    """
    url = options["repository_url"].rstrip("/")
    owner, name = url.split("/")[-2:]
    branch = options.get("repository_branch") or "main"
    places = options.get("launch_buttons", {})
    links = {}
    if colab := places.get("colab_url", "").rstrip("/"):
        links["Colab"] = f"{colab}/github/{owner}/{name}/blob/{branch}/{path}"
    if binder := places.get("binderhub_url", "").rstrip("/"):
        links["Binder"] = f"{binder}/v2/gh/{owner}/{name}/{branch}?" + urlencode(
            {"urlpath": f"lab/tree/{path}"}, safe="/"
        )
    hub = places.get("jupyterhub_url", "").rstrip("/")
    pull = f"{hub}/hub/user-redirect/git-pull" if hub else LINK_MAKER
    where = {"repo": url, "branch": branch, "urlpath": f"lab/tree/{name}/{path}"}
    links["JupyterHub"] = f"{pull}?{urlencode(where, safe='/:')}"
    return links


def facts(path: Path) -> str:
    """What a released notebook asks for, "" while there is none.

    Each exercise ends in a line like
    `*Level: by hand · difficulty 2/5 · about 10 minutes · 3 points.*`
    """
    if not path.is_file():
        return ""
    levels = LEVEL.findall(path.read_text(encoding="utf-8"))
    difficulty = [int(level[0]) for level in levels]
    minutes = sum(int(level[1]) for level in levels)
    points = sum(float(level[2]) for level in levels)
    return (
        f"{len(levels)} exercises · {points:g} points · "
        f"about {round(minutes / 60)} hours · "
        f"difficulty {min(difficulty)} to {max(difficulty)} of 5"
    )


def repository(app: Sphinx, config: Config) -> None:
    """`{{ repository_url }}` and `{{ repository_name }}` for the pages."""
    url = config.html_theme_options["repository_url"].rstrip("/")
    config.myst_substitutions = {
        **config.myst_substitutions,
        "repository_url": url,
        "repository_name": url.split("/")[-1],
    }


class LaunchDirective(SphinxDirective):
    """`{launch} CHAPTER`: the row of buttons."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        chapter = self.arguments[0]
        links = launch_links(self.config.html_theme_options, notebook(chapter))
        up = "../" * self.env.docname.count("/")
        links["Download"] = f"{up}_static/{chapter}.zip"
        items = "".join(
            f'<li><a class="launch-link" href="{escape(url)}">{place}</a></li>'
            for place, url in links.items()
        )
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / notebook(chapter)))
        said = f'<p class="launch-facts">{facts(root / notebook(chapter))}</p>'
        row = f'<ul class="launch-row" aria-label="Open the exercises">{items}</ul>'
        return [nodes.raw("", said + row, format="html")]


def header_buttons(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Point the header buttons of a chapter's pages to the chapter's exercises."""
    chapter = PurePosixPath(page).name
    root = Path(app.srcdir)
    buttons = context.get("header_buttons", [])
    groups = [b for b in buttons if b.get("label") == "launch-buttons"]
    if not (root / "exercises" / chapter).is_dir():
        for group in groups:
            buttons.remove(group)
        return
    links = launch_links(app.config.html_theme_options, notebook(chapter))
    if page == notebook(chapter).removesuffix(".ipynb"):
        up = "../" * page.count("/")
        for button in source_buttons(buttons):
            button["url"] = f"{up}_static/{chapter}.zip"
            button["text"] = ".zip"
            button["tooltip"] = "Download the exercises with what a check needs"
    for group in groups:
        group["tooltip"] = "Open this chapter's exercises"
        group["buttons"] = [
            {
                "type": "link",
                "text": place,
                "tooltip": f"Open the exercises on {place}",
                "icon": ICONS[place],
                "url": url,
            }
            for place, url in links.items()
        ]


def source_buttons(buttons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The theme's buttons that download a page's source."""
    return [
        button
        for group in buttons
        if group.get("label") == "download-buttons"
        for button in group["buttons"]
        if button.get("label") == "download-source-button"
    ]


def pack(app: Sphinx, exception: Exception | None) -> None:
    """Write each chapter's download: the released files, nothing else."""
    if exception or app.builder.format != "html":
        return
    for folder in sorted((Path(app.srcdir) / "exercises").glob("*/")):
        target = Path(app.outdir) / "_static" / f"{folder.name}.zip"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
            for file in sorted(folder.glob(f"{folder.name}.*")):
                # a fixed date: the same files give the same zip
                entry = zipfile.ZipInfo(f"{folder.name}/{file.name}")
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                out.writestr(entry, file.read_bytes())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, the header buttons (after the theme's) and the zip."""
    app.add_directive("launch", LaunchDirective)
    app.connect("config-inited", repository)
    app.connect("html-page-context", header_buttons, priority=900)
    app.connect("build-finished", pack)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
