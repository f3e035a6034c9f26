"""The worksheet in a real browser: the built page, from a file, with no network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.doctor import BROWSERS, mac_browser, program
from autograder.paths import load_worksheet
from autograder.worksheet import sheet as engine
from autograder.worksheet.carried import carry
from autograder.worksheet.data import as_data, step_of
from autograder.worksheet.draw import asked, draw_sheet, origin

sync_api = pytest.importorskip("playwright.sync_api")
axe_package = pytest.importorskip("axe_playwright_python")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "_build" / "html" / "book" / "attention.html"
FOLDER = Path(engine.__file__).parent
AXE = Path(axe_package.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
DATA = carry(as_data(load_worksheet("attention", ROOT).sheet))
STEPS = asked(DATA)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium from this system; nothing is downloaded."""
    found = next(filter(None, map(program, BROWSERS)), None) or mac_browser()
    if not found:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as play:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chromium = play.chromium.launch(executable_path=str(found), args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Opens the page in a fresh profile, and checks what it asked for and said."""
    opened: list[Any] = []
    asked_for: list[str] = []
    errors: list[str] = []

    def go(path: Path = PAGE, dark: bool = False, **context: Any) -> Any:
        if path == PAGE and not PAGE.is_file():
            pytest.skip("the book is not built: make book")
        made = browser.new_context(**context)
        opened.append(made)
        page = made.new_page()
        if dark:
            page.add_init_script(
                "localStorage.setItem('mode','dark');"
                "localStorage.setItem('theme','dark')"
            )
        page.on("request", lambda r: asked_for.append(r.url))
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.set_default_timeout(8000)
        page.goto(path.as_uri())
        return page

    yield go
    for made in opened:
        made.close()
    assert errors == []
    assert [u for u in asked_for if not u.startswith(("file:", "data:"))] == []


def values(name: str, variant: int = 0) -> list[list[str]]:
    return [[c["v"] for c in row] for row in step_of(DATA, name, variant)["cells"]]


def figure(page: Any, name: str) -> Any:
    return page.locator(f"#attention-{name}")


def cell(page: Any, name: str, i: int, j: int) -> Any:
    return figure(page, name).locator(f"table.bh-own tr:nth-child({i}) td").nth(j - 1)


def put(page: Any, name: str, i: int, j: int, text: str) -> str:
    """Type into a cell (counted from 1), press Enter; the state it is in."""
    field = cell(page, name, i, j).locator("input")
    field.fill(text)
    field.press("Enter")
    return str(cell(page, name, i, j).get_attribute("data-state"))


def verdict(page: Any, name: str) -> str:
    return str(figure(page, name).locator(".bh-verdict").inner_text())


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong, in short."""
    page.evaluate(AXE)
    found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations'], preload: false})"
    )
    return [
        f"{v['id']}: {node['html'][:120]}" for v in found["violations"]
        for node in v["nodes"]
    ]  # fmt: skip


# ------------------------------------------------------------------ the whole way


def test_the_whole_page_can_be_filled_in_with_the_keyboard_alone(visit):
    page = visit()
    keys = page.keyboard
    page.locator("body").press("Tab")
    where = (
        "[document.activeElement.closest('[data-step]')?.id, "
        "document.activeElement.tagName]"
    )
    order = page.locator("[id^=attention-][data-step]:not([id*=sheet])")
    names = order.evaluate_all("all => all.map(e => e.dataset.step)")
    assert sorted(names) == sorted(STEPS)
    for name in names:
        for _ in range(120):
            if page.evaluate(where) == [f"attention-{name}", "INPUT"]:
                break
            keys.press("Tab")
        else:
            raise AssertionError(f"Tab never came to {name}")
        for row in values(name):
            for text in row:
                keys.insert_text(text)
                keys.press("Enter")
        states = figure(page, name).locator("td[data-state='right']").count()
        assert states == sum(map(len, values(name))), name
        assert verdict(page, name) == f"{name} is done."
    end = figure(page, "Y").locator("xpath=..").locator(".bh-end")
    assert end.is_visible() and "All 12 steps are right." in end.inner_text()
    assert end.locator("a").count() == 2
    assert page.locator("[data-bar] .bh-set").inner_text() == "12 of 12 steps done"


def test_arrows_go_from_cell_to_cell(visit):
    page = visit()
    cell(page, "Q", 1, 1).locator("input").focus()
    at = "document.activeElement.getAttribute('aria-label')"
    for key, place in [("ArrowRight", (1, 2)), ("ArrowDown", (2, 2)),
                       ("ArrowLeft", (2, 1)), ("ArrowUp", (1, 1)),
                       ("ArrowUp", (1, 1)), ("Tab", (1, 2))]:  # fmt: skip
        page.keyboard.press(key)
        said = page.evaluate(at)
        assert said.startswith(f"Q, row {place[0]}, column {place[1]},"), (key, said)


# --------------------------------------------------------------- right, not right


def test_a_wrong_value_is_marked_by_shape_and_words_and_can_be_mended(visit):
    page = visit()
    assert put(page, "Q", 3, 1, "1") == "wrong"  # 1·0 + 0·… + 1·2 + 1·1
    field = cell(page, "Q", 3, 1).locator("input")
    assert field.get_attribute("aria-invalid") == "true"
    mark = "e => getComputedStyle(e, '::before').content"
    assert cell(page, "Q", 3, 1).evaluate(mark) == '"✗"'
    said = "Row 3, column 1 is not right. Look at 1·2 again: it seems to be missing."
    assert verdict(page, "Q") == said
    assert put(page, "Q", 1, 1, "2") == "right"
    assert verdict(page, "Q") == "Row 1, column 1 is right."
    cell(page, "Q", 3, 1).locator("input").focus()
    assert verdict(page, "Q") == said, "back in the cell, it is said again"
    assert put(page, "Q", 3, 1, "3") == "right"
    assert field.get_attribute("aria-invalid") == "false"
    assert cell(page, "Q", 3, 1).evaluate(mark) == '"✓"'
    assert put(page, "Q", 3, 1, "") == "blank"


def test_nothing_is_wrong_before_one_has_finished_typing(visit):
    page = visit()
    field = cell(page, "V", 1, 1).locator("input")
    field.press("2")
    assert cell(page, "V", 1, 1).get_attribute("data-state") == "blank"
    field.press("0")
    assert cell(page, "V", 1, 1).get_attribute("data-state") == "right"
    field.press("1")
    cell(page, "V", 1, 2).locator("input").focus()
    assert cell(page, "V", 1, 1).get_attribute("data-state") == "wrong"


def test_hints_name_the_mistake(visit):
    page = visit()
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("button", name="Hide H", exact=True).click()
    put(page, "H", 3, 1, "0")
    assert "⌊(−1)/2⌋ again. ⌊ ⌋ rounds down" in verdict(page, "H")
    put(page, "H", 3, 1, "1")
    assert verdict(page, "H").endswith("Look at the sign.")
    page.get_by_role("button", name="Hide K", exact=True).click()
    put(page, "K", 3, 3, "1")
    assert verdict(page, "K").endswith("Look at the sign.")
    page.get_by_role("button", name="Hide S", exact=True).click()
    page.get_by_role("button", name="Show K", exact=True).click()
    put(page, "S", 1, 4, "3")
    assert "That is row 4, column 1" in verdict(page, "S")
    page.get_by_role("button", name="Hide A", exact=True).click()
    for text in ("0.7", "1/2", "9/4"):
        put(page, "A", 1, 1, text)
        assert verdict(page, "A").endswith(
            "Look at 3/(3 + 9 + 1/3 + 3) again. "
            "Divide by the sum that stands in the brackets."
        )
    page.get_by_role("button", name="Hide B", exact=True).click()
    put(page, "B", 1, 1, "0.2")
    assert verdict(page, "B").endswith("Close, but not within 2 decimals.")


TYPED = [
    ("A", 1, 1, "9/46", "right"),
    ("A", 1, 1, "18 / 92", "right"),
    ("A", 1, 1, "0.2", "right"),
    ("A", 1, 1, ".2", "right"),
    ("A", 1, 1, "0,2", "right"),
    ("A", 1, 1, "0.1957", "right"),
    ("A", 1, 1, "0.3", "wrong"),
    ("A", 1, 1, "1/4", "wrong"),
    ("K", 3, 3, "-1", "right"),
    ("K", 3, 3, "−1", "right"),
    ("K", 3, 3, "– 1", "right"),
    ("K", 3, 3, "-1.0", "right"),
    ("K", 3, 3, "-0.99", "wrong"),
    ("K", 3, 3, "minus one", "wrong"),
    ("K", 3, 3, "1/0", "wrong"),
    ("E", 1, 1, "5.65", "right"),
    ("E", 1, 1, "5.64", "right"),  # e^1.73, from the number as it is shown
    ("E", 1, 1, "5.6", "wrong"),
]


def test_fractions_decimals_and_signs(visit):
    page = visit()
    for name, i, j, text, state in TYPED:
        assert put(page, name, i, j, text) == state, (name, text)


# ------------------------------------------------------- looking at where it is from


def test_a_cell_lights_up_what_it_is_made_of_and_writes_out_its_sum(visit):
    page = visit()
    page.get_by_role("button", name="Show all").click()
    for name in STEPS:
        look(page, name)


def look(page: Any, name: str) -> None:
    cells = step_of(DATA, name)["cells"]
    i, j = len(cells) - 1, len(cells[0]) - 1
    one = cells[i][j]
    cell(page, name, i + 1, j + 1).locator("input").focus()
    line = figure(page, name).locator(".bh-sum")
    plain = re.sub(r"\^\(([^()]*)\)|\^", r"\1", one["t"])
    sign = "≈" if "." in one["v"] else "="
    assert (
        line.inner_text() == f"row {i + 1}, column {j + 1}: {plain} {sign} {one['v']}"
    )
    lit = figure(page, name).locator("td.bh-hit")
    assert lit.count() == len(one["s"]) + 1
    page.keyboard.press("ArrowUp")
    assert line.inner_text().startswith(f"row {i}, column {j + 1}: ")
    cell(page, name, 1, 1).hover()
    assert line.inner_text().startswith("row 1, column 1: ")


def test_every_blank_has_a_name_for_a_screen_reader(visit):
    page = visit()
    for name in STEPS:
        labels = (
            figure(page, name)
            .locator("input")
            .evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
        )
        assert labels == [
            f"{name}, row {i}, column {j}, from {origin(c['s'])}"
            for i, row in enumerate(step_of(DATA, name)["cells"], 1)
            for j, c in enumerate(row, 1)
        ]
        status = figure(page, name).locator("[role=status]")
        assert status.count() == 1


def test_a_step_says_what_it_needs_and_offers_it(visit):
    page = visit()
    needs = figure(page, "S").locator(".bh-needs")
    assert "This needs Q and K" in needs.inner_text()
    assert cell(page, "S", 1, 1).locator("input").is_editable()
    cell(page, "S", 1, 1).locator("input").focus()
    assert "0·2" not in figure(page, "S").locator(".bh-sum").inner_text()
    assert put(page, "Q", 1, 1, "2") == "right"
    above = figure(page, "S").locator("table[data-of=Q] td").first
    assert above.inner_text() == "2", "what is found in one step stands in the next"
    needs.get_by_role("button").click()
    assert needs.is_hidden()
    texts = figure(page, "S").locator("table[data-of=K] td").all_inner_texts()
    columns = list(zip(*values("K"), strict=True))
    assert texts == [x for column in columns for x in column]
    shown = cell(page, "K", 1, 1)
    assert shown.get_attribute("data-state") == "shown"
    assert not shown.locator("input").is_editable()


# --------------------------------------------------------------- keeping, forgetting


def test_progress_is_kept_cleared_and_forgotten_on_request(visit):
    page = visit()
    put(page, "Q", 1, 1, "2")
    put(page, "Q", 1, 2, "9")
    page.get_by_role("button", name="Show V", exact=True).click()
    page.reload()
    assert cell(page, "Q", 1, 1).get_attribute("data-state") == "right"
    assert cell(page, "Q", 1, 2).get_attribute("data-state") == "wrong"
    assert cell(page, "V", 1, 1).get_attribute("data-state") == "shown"
    clear = figure(page, "Q").get_by_role("button", name="Clear Q")
    clear.click()
    assert cell(page, "Q", 1, 1).locator("input").input_value() == ""
    figure(page, "Q").get_by_role("button", name="Undo Q").click()
    assert cell(page, "Q", 1, 1).locator("input").input_value() == "2"
    page.locator("[data-bar]").get_by_role("button", name="Forget my answers").click()
    page.reload()
    assert page.locator("td[data-state='right'], td[data-state='shown']").count() == 0
    assert cell(page, "Q", 1, 1).locator("input").input_value() == ""


def test_two_tabs_of_the_page_do_not_forget_for_each_other(visit):
    page = visit()
    other = page.context.new_page()
    other.goto(PAGE.as_uri())
    put(page, "Q", 1, 1, "2")
    other.wait_for_selector("#attention-Q td[data-state=right]")
    put(other, "Q", 1, 2, "1")
    page.wait_for_selector("#attention-Q td[data-state=right] >> nth=1")
    page.reload()
    states = [cell(page, "Q", 1, j).get_attribute("data-state") for j in (1, 2)]
    assert states == ["right", "right"]


@pytest.mark.parametrize(
    "kept",
    [
        {"sets": {"0": {"filled": {"Q": [["2"]], "K": "x"}, "shown": {}}}},
        {"sets": {"0": {}}},
        {"sets": 5},
        [],
    ],
)
def test_what_is_kept_from_another_sheet_does_no_harm(visit, kept):
    page = visit()
    page.evaluate(
        "kept => localStorage.setItem(`by-hand ${location.pathname} attention`, kept)",
        json.dumps(kept),
    )
    page.reload()
    assert put(page, "Q", 3, 1, "3") == "right"
    assert put(page, "K", 3, 3, "-1") == "right"
    page.reload()
    assert cell(page, "Q", 3, 1).get_attribute("data-state") == "right"


def test_new_numbers_come_from_the_data_and_each_set_keeps_its_own(visit):
    page = visit()
    sheet = page.locator(".bh-several")
    first = sheet.locator("#attention-sheet-Q")
    given = first.locator("table[data-of=X] td")

    def expect(variant: int) -> None:
        flat = [x for row in values("X", variant) for x in row]
        assert given.all_inner_texts() == flat
        other = "The numbers of the text" if variant == 0 else f"Numbers {variant} of 5"
        assert sheet.locator(".bh-set").inner_text() == other

    expect(1)
    field = first.locator("table.bh-own input").first
    field.fill(values("Q", 1)[0][0])
    more = sheet.get_by_role("button", name="New numbers")
    for variant in (2, 3, 4, 5, 0, 1):
        more.click()
        expect(variant)
        if variant == 2:
            assert field.input_value() == ""
    assert field.input_value() == values("Q", 1)[0][0]
    assert cell(page, "Q", 1, 1).locator("input").input_value() == ""
    more.click()
    page.reload()
    expect(2)


def test_the_whole_sheet_goes_step_by_step_to_its_end(visit):
    page = visit()
    sheet = page.locator(".bh-several")
    for k, name in enumerate(STEPS):
        step = sheet.locator(f"#attention-sheet-{name}")
        assert step.is_visible()
        assert sheet.locator("figure:visible").count() == 1
        chip = sheet.locator(".bh-chip").nth(k)
        assert chip.get_attribute("aria-current") == "step"
        fields = step.locator("table.bh-own input")
        fields.first.focus()
        for text in (x for row in values(name, 1) for x in row):
            page.keyboard.insert_text(text)
            page.keyboard.press("Enter")
        label = chip.get_attribute("aria-label")
        assert label == f"{name}: done", label
        if name != STEPS[-1]:
            assert sheet.locator(f"#attention-sheet-{STEPS[k + 1]}").is_hidden()
            page.keyboard.press("Enter")
    end = sheet.locator(".bh-end")
    assert end.is_visible() and "All 12 steps are right." in end.inner_text()


def test_show_all_is_not_called_an_achievement(visit):
    page = visit()
    page.get_by_role("button", name="Show all").click()
    assert page.locator(".bh-end:visible").count() == 0
    page.get_by_role("button", name="Hide all").click()
    assert page.locator("td[data-state='shown']").count() == 0


# -------------------------------------------------------- phones, dark, no script


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_no_violation_in_any_state(visit, dark, width):
    page = visit(dark=dark, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.dataset.theme") == (
        "dark" if dark else "light"
    )
    put(page, "Q", 1, 1, "2")
    put(page, "Q", 1, 2, "5")
    for name in ("K", "A", "Y"):
        page.get_by_role("button", name=f"Show {name}", exact=True).click()
    cell(page, "A", 1, 2).locator("input").focus()
    assert violations(page) == []


def test_a_phone_shows_it_all_without_scrolling_sideways(visit):
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    page.get_by_role("button", name="Show all").tap()
    for name in STEPS:
        spare = figure(page, name).evaluate("e => e.scrollWidth - e.clientWidth")
        assert spare <= 0, name
        box = cell(page, name, 1, 1).locator("input").bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24, name
        clipped = (
            figure(page, name)
            .locator("input")
            .evaluate_all(
                "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
            )
        )
        assert clipped == 0, name


def test_touch_has_a_keypad_and_keys_for_minus_and_fractions(visit):
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    keys = figure(page, "K").locator(".bh-keys button")
    field = cell(page, "K", 3, 3).locator("input")
    assert field.get_attribute("inputmode") == "decimal" and not keys.first.is_visible()
    field.tap()
    keys.first.tap()
    page.keyboard.type("1")
    assert cell(page, "K", 3, 3).get_attribute("data-state") == "right"


def test_without_a_script_the_figures_are_there(visit):
    page = visit(java_script_enabled=False)
    for name in STEPS:
        assert figure(page, name).is_visible()
        own = figure(page, name).locator("table.bh-own td")
        assert set(own.all_text_contents()) == {"blank"}
        assert re.search(
            r"= \?|≈ \?", figure(page, name).locator(".bh-sum").inner_text()
        )
    assert page.locator("[data-bar]").is_hidden()
    assert page.locator(".bh-sheet input").count() == 0


def test_on_paper_the_buttons_are_gone_and_every_step_is_there(visit):
    page = visit()
    page.emulate_media(media="print")
    assert page.locator(".bh-sheet button:visible").count() == 0
    assert page.locator(".bh-sheet figure:visible").count() == 2 * len(STEPS)


# ------------------------------------------------------------ the script by itself


def test_the_script_and_the_style_are_small_and_fetch_nothing():
    texts = [(FOLDER / n).read_text("utf-8") for n in ("worksheet.js", "worksheet.css")]
    assert sum(len(t.encode()) for t in texts) < 40_000
    for text in texts:
        assert not re.search(
            r"https?://|\bfetch\(|\bimport\b[^\w ]|@import|eval\(", text
        )


def test_mount_serves_a_notebook(visit, tmp_path):
    html = tmp_path / "bare.html"
    html.write_text(
        "<!doctype html><meta charset=utf-8><title>x</title><div id=a></div>"
    )
    page = visit(html)
    page.add_style_tag(path=str(FOLDER / "worksheet.css"))
    page.add_script_tag(path=str(FOLDER / "worksheet.js"))
    page.evaluate(
        """([sheet, html]) => {
          globalThis.kept = null; globalThis.states = [];
          globalThis.ws = ByHand.mount(document.querySelector("#a"), sheet, {
            html, steps: ["Q", "K"], show: "blank", variant: 2,
            store: {load: () => globalThis.kept,
                    save: (k) => { globalThis.kept = JSON.parse(JSON.stringify(k)); }},
            onChange: (state) => globalThis.states.push(state),
          });
        }""",
        [json.loads(json.dumps(DATA)), draw_sheet(DATA, variant=2)],
    )
    names = "all => all.map(e => e.dataset.step)"
    assert page.locator("figure").evaluate_all(names) == ["Q", "K"]
    field = page.locator("figure[data-step=Q] input").first
    field.fill("2")
    state = page.evaluate("ws.state()")
    assert state["variant"] == 2 and state["filled"]["Q"][0] == ["2", "", "", ""]
    assert page.evaluate("states.at(-1)") == state
    assert page.evaluate("kept.sets['2'].filled.Q[0][0]") == "2"
    page.evaluate("ws.reveal('K')")
    shown = page.locator("figure[data-step=K] input").evaluate_all(
        "all => all.map(e => e.value)"
    )
    assert shown == [x for row in values("K", 2) for x in row]
    assert page.evaluate("Object.keys(ws.state().filled)") == ["Q"]
    page.evaluate("ws.clear()")
    assert page.evaluate("ws.state().filled") == {}
    page.evaluate("ws.setVariant(0)")
    assert page.evaluate("ws.state().variant") == 0
    with pytest.raises(sync_api.Error, match="no steps here"):
        page.evaluate("ByHand.mount(document.createElement('div'), {variants: []})")
