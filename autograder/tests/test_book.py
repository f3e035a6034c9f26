"""The book: its configuration, its pages, its figures, and what stays offline."""

from __future__ import annotations

import importlib
import json
import re
import sys
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from autograder.pages.figures import Matrix, chain, side_by_side, symbol
from autograder.pages.plots import INK, beside, canvas, heat_map, plots
from autograder.worksheet.data import chapter_sheet

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ext():
    """Imports a module of `book/_ext` by name."""
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    yield importlib.import_module
    sys.path.remove(str(ROOT / "book" / "_ext"))


def toc_files(node: object) -> list[str]:
    """Every `file` and the `root` of a table of contents, at any depth."""
    if isinstance(node, list):
        return [f for item in node for f in toc_files(item)]
    if isinstance(node, dict):
        own = [node[key] for key in ("root", "file") if key in node]
        return own + [f for value in node.values() for f in toc_files(value)]
    return []


def page(name: str) -> Path:
    """The source of a page of the table of contents."""
    found = [ROOT / f"{name}{end}" for end in (".md", ".ipynb")]
    return next((path for path in found if path.is_file()), found[0])


PAGES = [page(name) for name in toc_files(TOC)]
MARKDOWN = [path for path in PAGES if path.suffix == ".md"]


# ---------------------------------------------------------------- configuration


def test_only_the_pages_of_the_toc_are_built_and_environments_are_not_searched():
    assert CONFIG["only_build_toc_files"] is True
    assert {".venv", "solutions", "class", "_build"} <= set(CONFIG["exclude_patterns"])


def test_a_failing_cell_fails_the_build_and_exercises_are_not_run():
    run = CONFIG["execute"]
    assert run["execute_notebooks"] == "cache" and run["allow_errors"] is False
    assert CONFIG["sphinx"]["config"]["nb_execution_raise_on_error"] is True
    # patterns are matched from the right, part by part
    exercise = Path("/anywhere/exercises/attention/attention.ipynb")
    assert any(exercise.match(pattern) for pattern in run["exclude_patterns"])
    chapter = Path("/anywhere/book/attention.md")
    assert not any(chapter.match(pattern) for pattern in run["exclude_patterns"])


def test_the_address_of_the_course_stands_in_the_configuration_only():
    url = CONFIG["repository"]["url"]
    for path in MARKDOWN:
        assert url not in path.read_text(encoding="utf-8"), path.name


# ------------------------------------------------------------------------ pages


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_every_page_of_the_toc_exists(path):
    assert path.is_file()


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda p: p.name)
def test_a_page_has_one_title_and_a_kernel_where_it_computes(path):
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"^(`{3,}|:{3,})[\s\S]*?^\1", "", text, flags=re.MULTILINE)
    assert len(re.findall(r"^# \S", prose, flags=re.MULTILINE)) == 1
    computes = "\n```{code-cell}" in text
    assert text.startswith("---\n") or not computes
    assert ("kernelspec:" in text) is computes


def test_every_citation_is_in_the_bibliography():
    bib = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    keys = set(re.findall(r"@\w+\{([\w-]+),", bib))
    cited = {
        key
        for path in MARKDOWN
        for group in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", path.read_text("utf-8"))
        for key in group.split(",")
    }
    assert cited and cited <= keys


def test_every_number_glued_into_a_sentence_is_computed():
    text = (ROOT / "book" / "attention.md").read_text(encoding="utf-8")
    used = set(re.findall(r"\{glue:text\}`(\w+)`", text))
    made = set(re.findall(r"\b(\w+)=", text))
    assert used and used <= made


def test_the_chapters_ask_the_same_on_the_front_page_and_in_the_readme():
    front = (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    asked = re.findall(r"^\* - (\d)\n  - .+\n  - (.+)$", front, flags=re.MULTILINE)
    table = r"^\| (\d) \| [^|]+ \| ([^|]+) \|"
    assert len(asked) == 9
    assert re.findall(table, readme, flags=re.MULTILINE) == asked


# ------------------------------------------------------------------- references


def test_an_entry_is_called_as_in_the_text(ext):
    from pybtex.database import parse_file

    entries = parse_file(str(ROOT / "book" / "references.bib")).entries
    labels = [ext("references").label(entry) for entry in entries.values()]
    assert len(set(labels)) == len(labels)
    assert {"Dey, 2024", "Rabe and Staats, 2021", "Dao et al., 2022"} <= set(labels)
    assert {"Milewski, 2025a", "Milewski, 2025b"} <= set(labels)
    assert not any("$" in e.fields["title"] for e in entries.values())


# --------------------------------------------------------------- nothing remote


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in sorted((ROOT / "book").rglob("*"))
        if p.suffix in {".css", ".svg", ".html", ".js"}
    ],
    ids=lambda p: p.name,
)
def test_own_assets_load_nothing_from_elsewhere(path):
    text = path.read_text(encoding="utf-8")
    text = text.replace("http://www.w3.org/", "")  # names of namespaces, not addresses
    assert not re.search(r"(?:src|href|url\(|@import)[^>\n]{0,9}(?:https?:)?//", text)


def test_the_style_sheet_names_only_files_that_are_there():
    static = ROOT / "book" / "_static"
    css = (static / "by-hand.css").read_text(encoding="utf-8")
    for name in re.findall(r'url\("([^"]+)"\)', css):
        assert (static / name).is_file(), name


@pytest.mark.parametrize(
    ("html", "remote"),
    [
        ('<script src="https://cdn.example/x.js"></script>', True),
        ('<link rel="stylesheet" href="//fonts.example/f.css">', True),
        ("<style>@import url('https://fonts.example/f.css')</style>", True),
        ('<img alt="x" src="http://example.org/a.png">', True),
        ('<a href="https://example.org">a link is fine</a>', False),
        ('<link rel="canonical" href="https://example.org/page">', False),
        ('<script src="../_static/x.js"></script>', False),
    ],
)
def test_a_remote_asset_is_seen(ext, html, remote):
    assert bool(ext("offline").remote_assets(html)) is remote


@pytest.mark.parametrize(
    "path", sorted((ROOT / "book" / "pictures").iterdir()), ids=lambda p: p.name
)
def test_a_picture_is_well_formed_and_says_what_it_shows(path):
    text = path.read_text(encoding="utf-8")
    tree = ET.fromstring(text)
    if tree.tag == "svg":
        assert tree.get("role") == "img" and tree.find("title") is not None
    else:  # small drawings beside words that say the same
        assert all(s.get("aria-hidden") == "true" for s in tree.iter("svg"))


# --------------------------------------------------------------------- formulas


class Node(dict):
    """What the renderer asks of a docutils node."""

    def __init__(self, latex: str) -> None:
        self.latex = latex

    def astext(self) -> str:
        return self.latex


@pytest.mark.parametrize(
    ("latex", "there", "absent"),
    [
        (r"\frac{1}{\sqrt{d_k}}", "<msqrt>", "<code>"),
        (r"\tfrac14", "<mn>1</mn> <mn>4</mn>", "<code>"),
        (r"\tilde{s}_{ij}", "<msub>", "munderover"),
        (r"e' = e", ">′</mo>", "<mo>'</mo>"),
        (r"\{0, 1\}", 'stretchy="false">{', "<code>"),
        (r"\left\lfloor \frac{s}{2} \right\rfloor", "<mo>⌊</mo>", "<code>"),
    ],
)
def test_formulas_become_mathml(ext, latex, there, absent):
    text = ext("mathml").mathml(Node(latex), block=True)
    ET.fromstring(text.replace("&ApplyFunction;", ""))
    assert there in text and absent not in text


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("as ", ". Then", ".|Then"),
        ("as ", "), so", "),|so"),
        ("(", " here", "(|"),
        ("(", ")", "()|"),
        ("as ", " is", "|"),
        ("", "", "|"),
    ],
)
def test_a_formula_keeps_the_signs_that_touch_it(ext, before, after, kept):
    from docutils import nodes, utils

    page = utils.new_document("page")
    text = nodes.paragraph()
    text += [nodes.Text(before), nodes.math("x", "x"), nodes.Text(after)]
    page += text
    ext("together").keep_together(page)
    assert text.astext() == f"{before}x{after}"
    together = [n.astext() for n in page.findall(nodes.inline)]
    signs = kept.partition("|")[0]
    assert [t.replace("x", "") for t in together] == ([signs] if signs else [])


# ---------------------------------------------------------------- launch buttons


def options(**launch: str) -> dict:
    return {
        "repository_url": "https://github.com/some/course",
        "repository_branch": "main",
        "launch_buttons": launch,
    }


def test_launch_links_open_the_notebook(ext):
    launch = ext("launch")
    path = launch.notebook("attention")
    assert (ROOT / path).is_file()
    links = launch.launch_links(
        options(
            colab_url="https://colab.research.google.com",
            binderhub_url="https://mybinder.org/",
            jupyterhub_url="https://hub.school.edu",
        ),
        path,
    )
    assert links == {
        "Colab": "https://colab.research.google.com/github/some/course/blob/main/"
        "exercises/attention/attention.ipynb",
        "Binder": "https://mybinder.org/v2/gh/some/course/main?urlpath=lab/tree/"
        "exercises/attention/attention.ipynb",
        "JupyterHub": "https://hub.school.edu/hub/user-redirect/git-pull?"
        "repo=https://github.com/some/course&branch=main&urlpath=lab/tree/course/"
        "exercises/attention/attention.ipynb",
    }


def test_without_a_hub_the_link_maker_is_filled_in(ext):
    launch = ext("launch")
    links = launch.launch_links(options(), launch.notebook("attention"))
    assert list(links) == ["JupyterHub"]
    assert links["JupyterHub"].startswith(launch.LINK_MAKER + "?repo=https://github")


def test_the_card_counts_what_the_notebook_holds(ext):
    launch = ext("launch")
    path = ROOT / launch.notebook("attention")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    points = sum(c["metadata"].get("nbgrader", {}).get("points", 0) for c in cells)
    assert f" {points:g} points" in launch.facts(path)
    assert launch.facts(path.with_name("none.ipynb")) == ""


# ------------------------------------------------------------------- freshness


def test_a_changed_input_changes_the_digest(ext, tmp_path):
    digest = ext("fresh").digest
    sheet = tmp_path / "solutions" / "attention" / "worksheet.py"
    sheet.parent.mkdir(parents=True)
    sheet.write_text("GIVEN = 1")
    before = digest(tmp_path)
    assert digest(tmp_path) == before
    sheet.write_text("GIVEN = 2")
    assert digest(tmp_path) != before


# ---------------------------------------------------------------------- figures

A = Matrix("A", [[1, -2], [0, 3]], "query", cols=["a_1", "a_2"])


def test_a_matrix_is_a_table_with_caption_headings_and_real_minus_signs():
    tree = ET.fromstring(A.table().replace("&thinsp;", " "))
    assert [th.get("scope") for th in tree.iter("th")] == ["col", "col"]
    assert "".join(tree.find("caption").itertext()).split() == ["A", "2", "×", "2"]
    assert [td.text for td in tree.find("tbody").iter("td")] == ["1", "−2", "0", "3"]


def test_fractions_stay_exact():
    assert ">1/4<" in Matrix("H", [[Fraction(1, 4)]], digits=3).table()


def test_shares_are_tinted_and_sums_stand_below():
    M = Matrix(
        "A", [[0.25], [0.75]], "share", digits=2, shade=True, foot=("sum", [1.0])
    )
    table = M.table()
    assert "--bh-share:0.750" in table and 'aria-label="sum"' in table
    assert ">1.00<" in table


def test_names_carry_indices_and_are_escaped():
    assert symbol("W_Q") == "W<sub>Q</sub>"
    assert symbol("3^S") == "3<sup>S</sup>"
    assert symbol("a<b") == "a&lt;b"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Matrix("M", [[1, 2], [3]]),
        lambda: Matrix("M", [[1]], "colour"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make):
    with pytest.raises(ValueError):
        make()


def test_chains_and_rows_show_every_matrix():
    assert chain(A, ("÷ 2", A)).markup.count("<table") == 2
    assert "÷ 2" in chain(A, ("÷ 2", A)).markup
    assert side_by_side(A, A, A, caption="three").markup.count("<table") == 3


def test_the_by_hand_numbers_equal_what_the_sources_state():
    sheet = chapter_sheet("attention", root=ROOT)
    path = ROOT / "solutions" / "attention" / "stated.json"
    stated = json.loads(path.read_text(encoding="utf-8"))
    for name in ("Q", "K", "V", "S"):
        assert sheet.value(name) == stated[name]["value"], name


# ------------------------------------------------------------------------ plots


def drawn() -> str:
    fig, ax = canvas()
    ax.plot([1, 2], [3, 4], label="line")
    ax.set(xlabel="tokens")
    return plots((fig, "A line", "It rises."), caption="why").markup


def test_a_plot_follows_the_page_and_is_described():
    markup = drawn()
    assert "<title>A line</title><desc>It rises.</desc>" in markup
    assert "currentColor" in markup and INK not in markup
    ids = re.findall(r'\bid="([^"]+)"', markup)
    assert len(ids) == len(set(ids)) and all(i.startswith("a-line-") for i in ids)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', markup)
    assert set(used) <= set(ids)


def test_a_plot_is_the_same_every_time():
    assert drawn() == drawn()


def test_a_heat_map_has_a_cell_per_pair():
    svg = heat_map(["a", "b<"], [[1, 0], [0.25, 0.75]], "Map", "Two tokens.", mark=1)
    tree = ET.fromstring(svg)
    cells = [r for r in tree.iter("rect") if r.get("class") is None]
    assert [r.find("title").text for r in cells] == [
        "a → a: 1.00",
        "a → b<: 0.00",
        "b< → a: 0.25",
        "b< → b<: 0.75",
    ]
    assert beside(svg, svg).markup.count("<svg") == 2
