"""The worksheet in a notebook: filled in and read back, and as text without one."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import autograder
from autograder import worksheet
from autograder.doctor import BROWSERS
from autograder.errors import CourseError
from autograder.worksheet.data import as_data, dumps
from autograder.worksheet.examples import pooling
from autograder.worksheet.widget import read

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def front_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BY_HAND_TEXT", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)


def python(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ------------------------------------------------------------------------ opening


def test_the_name_is_a_module_and_opens_a_sheet() -> None:
    from autograder.worksheet import Worksheet

    assert autograder.worksheet is worksheet and worksheet.Worksheet is Worksheet
    assert "Self-attention by hand" in repr(worksheet("attention"))


def test_nothing_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, autograder\n"
        "assert 'autograder.worksheet' not in sys.modules\n"
        "from autograder import worksheet\n"
        "heavy = {'anywidget', 'traitlets', 'matplotlib', 'numpy', 'torch'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "worksheet('pooling')\n"
        "print('anywidget' in sys.modules)"
    )
    assert python(code, BY_HAND_TEXT="1") == "False\n"


def test_what_lies_beside_the_notebook_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = as_data(pooling.sheet, 1)
    data["title"] = "Beside the notebook"
    (tmp_path / "pooling.worksheet.json").write_text(dumps(data), encoding="utf-8")
    assert "Beside" not in repr(worksheet("pooling"))
    monkeypatch.chdir(tmp_path)
    assert "Beside the notebook" in repr(worksheet("pooling"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "nothing"}, "no worksheet 'nothing'"),
        ({"name": "pooling", "steps": ["m", "q"]}, "no step 'q'"),
        ({"name": "pooling", "variant": 9}, "no variant 9"),
        ({"name": "pooling", "show": "all"}, "show='all'"),
    ],
)
def test_what_cannot_be_opened_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(CourseError, match=said):
        worksheet(**options)


# ------------------------------------------------------------------- reading back


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("2", 2), ("-1", -1), ("−1", -1), ("+3", 3), (" 4 ", 4), ("", ...), ("  ", ...),
        ("9/46", Fraction(9, 46)), ("−9 / 46", Fraction(-9, 46)), ("6/2", 3),
        ("9⁄46", Fraction(9, 46)), ("1.5/2", Fraction(3, 4)),
        ("0.2", 0.2), (".2", 0.2), ("0,2", 0.2), ("-.5", -0.5), ("1.", 1.0),
        ("two", "two"), ("1/0", "1/0"), ("1/2/3", "1/2/3"), ("1.2.3", "1.2.3"),
    ],
)  # fmt: skip
def test_numbers_as_they_are_typed(typed: str, value: Any) -> None:
    assert read(typed) == value and type(read(typed)) is type(value)


def test_what_was_filled_in_comes_back(front_end: None) -> None:
    pytest.importorskip("anywidget")
    ws = worksheet("attention")
    assert ws.value("Q") == [[...] * 4] * 3
    assert ws.value("W_V")[0] == [10, 0, 0, 0, 0, 0]
    filled = {"A": [["9/46", "0,3", "", "x"]], "Q": [["2"], [], ["3", "2", "2", "1"]]}
    ws.state = {"variant": 0, "filled": filled}
    assert ws.value("Q") == [[2, ..., ..., ...], [...] * 4, [3, 2, 2, 1]]
    assert ws.value("A")[0] == [Fraction(9, 46), 0.3, ..., "x"]
    assert ws.value("A")[3] == [...] * 4
    ws.state = {"variant": 2, "filled": {}}
    assert ws.value("X") != worksheet("attention").value("X")
    with pytest.raises(CourseError, match="no step 'M'"):
        ws.value("M")


def test_the_widget_carries_the_pages_script(front_end: None) -> None:
    pytest.importorskip("anywidget")
    ws = worksheet("attention", ["Q", "S"], show="filled", variant=1)
    script = (ROOT / "autograder" / "worksheet" / "worksheet.js").read_text("utf-8")
    assert ws._esm.startswith(script) and "export default" in ws._esm
    assert ws.html.count("data-step=") == 2 and ws.variant == 1
    bundle = ws._repr_mimebundle_()
    shown = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert shown["text/plain"].startswith("Self-attention by hand")


# ------------------------------------------------------------------------ as text


def test_text_has_given_numbers_and_empty_places() -> None:
    text = python(
        "from autograder import worksheet; print(worksheet('attention', ['Q', 'S']))",
        BY_HAND_TEXT="1",
    )
    assert "W_Q   (3×6, given)" in text and "W_V" not in text
    assert "    1  1  0  0  0  0" in text
    assert "Q = W_Q X   (3×4)   one query per column" in text
    assert text.count("    □  □  □  □\n") == 7
    assert "pip install" not in text


def test_text_filled_in() -> None:
    ws = worksheet("attention", ["A"], show="filled")
    assert "9/46  9/28  9/22  1/12" in repr(ws)
    assert "□" not in repr(ws) and "□" in ws.text()


def test_without_anywidget_the_text_says_how_to_get_it(
    front_end: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n: None if n == "anywidget" else real(n)
    )
    ws = worksheet("pooling")
    assert "pip install anywidget" in repr(ws)
    assert ws.value("m") == [[...], [...], [...]]


def test_grading_does_not_open_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    ws = worksheet("attention")
    assert not hasattr(ws, "_esm") and "pip install" not in repr(ws)


def test_run_without_a_front_end_a_notebook_shows_the_steps(tmp_path: Path) -> None:
    nb = new_notebook()
    nb.cells = [
        new_code_cell("from autograder import worksheet\nws = worksheet('gate')\nws"),
        new_code_cell("ws.value('z')"),
    ]
    env = {k: v for k, v in os.environ.items() if k not in ("NBGRADER_EXECUTION",)}
    NotebookClient(nb, timeout=120, kernel_name="python3", resources={
        "metadata": {"path": str(tmp_path)}
    }).execute(env={**env, "PYTHONPATH": str(ROOT)})  # fmt: skip
    shown = nb.cells[0].outputs[-1].data["text/plain"]
    assert "z = [x; h]   (4×1)   x on top of h" in shown
    assert "Ellipsis" in nb.cells[1].outputs[0].data["text/plain"]


# ----------------------------------------------------------------- in JupyterLab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab on this machine only, with a notebook that opens the sheet."""
    for needed in ("anywidget", "playwright", "jupyterlab"):
        pytest.importorskip(needed)
    home = tmp_path_factory.mktemp("lab")
    nb = new_notebook()
    nb.cells = [
        new_code_cell(
            "from autograder import worksheet\n"
            "ws = worksheet('attention', ['Q', 'A'])\nws"
        ),
        new_code_cell("print('read back:', ws.value('Q')[0])"),
    ]
    nb.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(nb, home / "sheet.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
    }
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
            *("--IdentityProvider.token=", f"--ServerApp.root_dir={home}"),
            "--LabApp.news_url=None",
        ],
        env={**os.environ, **settings},
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=(home / "log").open("w"),
    )
    try:
        for _ in range(120):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, (home / "log").read_text()[-3000:]
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def run_cell(page: Any, number: int, shown: str) -> None:
    """Run a cell until something is shown; a page that has just been opened may
    have no kernel yet, and ask for one."""
    from playwright.sync_api import TimeoutError as TooLate

    for _ in range(6):
        if (accept := page.locator(".jp-Dialog .jp-mod-accept")).count():
            accept.first.click()
        page.click(f".jp-CodeCell >> nth={number} >> .jp-InputArea-editor")
        page.keyboard.press("Shift+Enter")
        with contextlib.suppress(TooLate):
            page.wait_for_selector(shown, timeout=15_000)
            return
    raise AssertionError(f"cell {number} did not show {shown}")


@pytest.mark.slow
def test_filled_in_on_a_notebook_page_and_read_back(lab: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=browser,
            args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, "
                  "EXCLUDE 127.0.0.1"],
        )  # fmt: skip
        page = chromium.new_page(viewport={"width": 1200, "height": 1400})
        page.set_default_timeout(60_000)
        page.goto(f"{lab}/lab/tree/sheet.ipynb?reset")
        page.wait_for_selector(".jp-CodeCell")
        run_cell(page, 0, ".bh-sheet [data-step='Q'] input")
        boxes = page.locator(".bh-sheet [data-step='Q'] input")
        assert boxes.count() == 12
        assert page.locator(".bh-sheet [data-step='K']").count() == 0
        for n, typed in enumerate(("2", "1", "9")):
            boxes.nth(n).click()
            page.keyboard.type(typed)
        page.keyboard.press("Tab")
        page.wait_for_timeout(800)
        page.screenshot(path=str(tmp_path / "lab.png"))
        run_cell(page, 1, "text=read back: [2, 1, 9, Ellipsis]")
        chromium.close()


def test_the_data_is_json_that_a_widget_can_carry() -> None:
    assert json.loads(dumps(as_data(pooling.sheet)))["name"] == "pooling"
