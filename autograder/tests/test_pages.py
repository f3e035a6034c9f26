"""The built book in a browser without a network: pages render, scripts run.

And they can be read: in the light, in the dark, on a phone and on paper.
"""

from __future__ import annotations

import http.server
import re
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium with a driver, for what needs more than a page's DOM."""
    sync_api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("Chromium is not installed")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=flags)
        yield running
        running.close()


@contextmanager
def opened(browser: Any, url: str, theme: str, width: int = 1280) -> Iterator[Any]:
    """A page as a reader sees it who has chosen the light or the dark."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.add_init_script(
        f"localStorage.setItem('mode', '{theme}');"
        f"localStorage.setItem('theme', '{theme}')"
    )
    page.goto(url)
    yield page
    page.close()


#: what axe finds in a page: one line per element
FAULTS = """rules => axe.run({runOnly: rules, resultTypes: ["violations"]}).then(
  found => found.violations.flatMap(v => v.nodes.map(
    n => `${v.id}: ${n.html.slice(0, 120)} ${n.any[0] ? n.any[0].message : ""}`)))"""
RULES = [
    *("color-contrast", "empty-table-header", "summary-name", "label"),
    *("aria-required-children", "aria-allowed-role", "aria-deprecated-role"),
    *("image-alt", "svg-img-alt", "link-name", "button-name", "list", "listitem"),
]


def faults(page: Any) -> list[str]:
    """What axe finds, with its own rules for contrast, names and roles."""
    axe = pytest.importorskip("axe_playwright_python")
    script = Path(axe.__file__).with_name("axe.min.js")
    page.evaluate(script.read_text(encoding="utf-8"))
    return page.evaluate(FAULTS, RULES)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", pages())
def test_a_page_can_be_read_by_everybody(
    address: str, browser: Any, page: str, theme: str
) -> None:
    with opened(browser, f"{address}/{page}.html", theme) as shown:
        assert shown.evaluate("document.documentElement.dataset.theme") == theme
        assert faults(shown) == []


def test_text_that_cannot_be_read_would_be_seen(browser: Any) -> None:
    page = browser.new_page()
    page.set_content("<body style='background:#222;color:#333'>the sum</body>")
    assert "color-contrast" in faults(page)[0]
    page.close()


#: is there, and not only in the source
SHOWN = "es => es.every(e => e.offsetHeight > 0 && getComputedStyle(e).opacity > 0)"
COLOUR = "e => getComputedStyle(e).color"


def test_a_dark_page_is_printed_light_with_every_tab(
    address: str, browser: Any
) -> None:
    with opened(browser, f"{address}/book/attention.html", "dark") as page:
        dark = page.locator("article p").first.evaluate(COLOUR)
        page.emulate_media(media="print")
        page.wait_for_function("document.documentElement.dataset.theme == 'light'")
        assert page.locator("article p").first.evaluate(COLOUR) != dark
        for part in (".sd-tab-label", ".sd-tab-content"):
            found = page.locator(f"article {part}")
            assert found.count() >= 2 and found.evaluate_all(SHOWN)
        page.emulate_media(media="screen")
        page.wait_for_function("document.documentElement.dataset.theme == 'dark'")


#: inline formulas whose next sign stands on the line below
LONELY = """() => [...document.querySelectorAll("article span.math")].filter(m => {
  const next = m.nextSibling;
  if (!next || next.nodeType !== 3 || !/^[.,;:!?)]/.test(next.data)) return false;
  const range = document.createRange();
  range.setStart(next, 0);
  range.setEnd(next, 1);
  return range.getBoundingClientRect().left < m.getBoundingClientRect().left;
}).map(m => m.textContent + m.nextSibling.data.slice(0, 9))"""


@pytest.mark.parametrize("page", pages())
def test_a_page_fits_a_phone(address: str, browser: Any, page: str) -> None:
    with opened(browser, f"{address}/{page}.html", "light", width=360) as shown:
        wide = "document.documentElement.scrollWidth - innerWidth"
        assert shown.evaluate(wide) <= 0
        assert shown.evaluate(LONELY) == []


def test_an_exercise_is_downloaded_with_what_its_checks_need(address: str) -> None:
    page = (HTML / "exercises/attention/attention.html").read_text(encoding="utf-8")
    assert 'href="../../_static/attention.zip"' in page
    assert not re.search(r'href="[^"]*_sources/[^"]*\.ipynb"', page)
    with zipfile.ZipFile(HTML / "_static" / "attention.zip") as packed:
        names = {Path(name).name for name in packed.namelist()}
    assert {"attention.ipynb", "attention.expected.json"} <= names


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
