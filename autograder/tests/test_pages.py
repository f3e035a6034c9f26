"""The built book in a browser without a network: pages render, scripts run."""

from __future__ import annotations

import http.server
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from autograder.doctor import BROWSERS

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
#: sphinx-thebe, which the theme brings along, declares this name twice: harmless
KNOWN = "Uncaught SyntaxError: Identifier 'THEBE_JS_URL' has already been declared"


def pages() -> list[str]:
    """Every page that _toc.yml names."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found: list[str] = []

    def walk(entry: object) -> None:
        if isinstance(entry, dict):
            for key, value in entry.items():
                if key in ("root", "file"):
                    found.append(re.sub(r"\.(md|ipynb)$", "", str(value)))
                else:
                    walk(value)
        elif isinstance(entry, list):
            for item in entry:
                walk(item)

    walk(toc)
    return found


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The book, served on this machine only."""
    if not (HTML / "index.html").is_file():
        pytest.skip("the book is not built: make book")
    handler = partial(Quiet, directory=str(HTML))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def browse(url: str, profile: Path) -> subprocess.CompletedProcess[str]:
    """The page's DOM after its scripts ran, and its console on stderr."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("Chromium is not installed")
    flags = [
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--no-first-run", "--disable-background-networking", "--disable-sync"),
        *("--disable-component-update", f"--user-data-dir={profile}"),
        *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",),
        *("--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom"),
    ]
    return subprocess.run(
        [browser, *flags, url], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("page", pages())
def test_a_page_renders_without_errors(address: str, page: str, tmp_path: Path) -> None:
    done = browse(f"{address}/{page}.html", tmp_path)
    assert "<h1" in done.stdout, done.stderr[-2000:]
    console = re.findall(r"CONSOLE[:(]\d+\)?\] \"(.*)\", source", done.stderr)
    wrong = [line for line in console if re.search(r"Uncaught|Error|Failed", line)]
    assert [line for line in wrong if line != KNOWN] == []


def test_a_broken_page_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<h1>x</h1><script>nothing.here()</script>")
    done = browse(page.as_uri(), tmp_path / "profile")
    assert re.search(r"CONSOLE[:(]\d+\)?\] \"Uncaught ReferenceError", done.stderr)
