"""`python -m autograder worksheet`: whose numbers, which paper, and what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pypdf
import pytest

from autograder.cli import main
from autograder.errors import CourseError
from autograder.worksheet.command import NAMED, maker, numbered, variant


def text_of(path: Path) -> str:
    return "\n".join(p.extract_text() for p in pypdf.PdfReader(path).pages)


def test_it_writes_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.pdf"
    assert main(["worksheet", "attention", "-o", str(out)]) == 0
    assert capsys.readouterr().out == (
        f"{out}: Self-attention by hand, blank, variant 0, 2 pages\n"
    )
    foot = text_of(out)
    assert "CC BY 4.0" in foot and "github.com" in foot


def test_a_name_has_its_own_numbers_on_both_sheets(tmp_path: Path) -> None:
    blank, key, other = (tmp_path / f"{n}.pdf" for n in "bko")
    main(["worksheet", "pooling", "--variant", "Ada Lin", "-o", str(blank)])
    main(["worksheet", "pooling", "--variant", "ada  lin", "--key", "-o", str(key)])
    main(["worksheet", "pooling", "--variant", "Chen", "-o", str(other)])
    number = variant("ada lin")[0]
    assert f"variant {number} · Ada Lin" in text_of(blank)
    assert f"variant {number} · ada lin" in text_of(key)
    assert "KEY" in text_of(key) and "KEY" not in text_of(blank)
    assert f"variant {number}" not in text_of(other)
    main(["worksheet", "pooling", "--variant", str(number), "--key", "-o", str(other)])
    assert text_of(other).split() == text_of(key).replace(" · ada lin", "").split()


def test_a_name_is_printed_as_it_is_typed(tmp_path: Path) -> None:
    out = tmp_path / "a.pdf"
    main(["worksheet", "attention", "--variant", "s_12^x $y$", "-o", str(out)])
    for page in pypdf.PdfReader(out).pages:
        assert "· s_12^x $y$" in page.extract_text()


def test_a_sheet_prints_before_its_chapter_has_an_assignment(tmp_path: Path) -> None:
    folder = tmp_path / "solutions" / "vectordb"
    folder.mkdir(parents=True)
    (folder / "worksheet.py").write_text(
        "from autograder.worksheet.examples.pooling import sheet\n", encoding="utf-8"
    )
    assert numbered("vectordb", 0, tmp_path).name == "pooling"


def test_a_page_of_the_book_links_to_its_sheets() -> None:
    html = Path(__file__).resolve().parents[2] / "_build" / "html"
    page = html / "book" / "attention.html"
    if not page.is_file():
        pytest.skip("the book is not built: make book")
    links = re.findall(
        r'href="([^"]+\.pdf)">([^<]+)</a>', page.read_text(encoding="utf-8")
    )
    assert [words for _, words in links] == [
        *("blank sheet (A4)", "blank sheet (Letter)", "key (A4)", "key (Letter)")
    ]
    for link, words in links:
        path = page.parent / link
        assert ("KEY" in text_of(path)) is words.startswith("key")
        tall = 842 if "A4" in words else 792
        assert round(pypdf.PdfReader(path).pages[0].mediabox.height) == tall


def test_letter(tmp_path: Path) -> None:
    out = tmp_path / "a.pdf"
    main(["worksheet", "gate", "--paper", "letter", "-o", str(out)])
    assert round(pypdf.PdfReader(out).pages[0].mediabox.height) == 792


def test_names_become_numbers_that_stay() -> None:
    assert variant("0") == (0, "") and variant("12") == (12, "")
    assert variant("Ada") == (variant("ada")[0], "Ada")
    # printed sheets must be found again next year: this number never changes
    assert variant("ada lin")[0] == 673813
    # e with its dots as one sign or as two is the same letter
    assert variant("Zo\u00eb") == variant("Zoe\u0308")
    drawn = {variant(f"student {n}")[0] for n in range(300)}
    assert len(drawn) >= 295 and min(drawn) >= 100 and max(drawn) < NAMED


@pytest.mark.parametrize("bad", ["-1", "", "  "])
def test_what_is_no_variant(bad: str) -> None:
    with pytest.raises(CourseError, match="no variant"):
        variant(bad)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing", "-o", "x.pdf"], "there is no worksheet 'nothing'"),
        (["gate", "-o", "x.txt"], "not a PDF's name"),
        (["gate", "-o", "nowhere/x.pdf"], "no folder nowhere"),
        (["gate", "--variant", "-2", "-o", "x.pdf"], "variant"),
        (["gate"], "-o"),
    ],
)
def test_unusable_arguments(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["worksheet", *arguments])
    except SystemExit as stop:  # argparse's own
        code = int(stop.code or 0)
    assert code == 2
    assert said in capsys.readouterr().err


def test_what_there_is_gets_named() -> None:
    with pytest.raises(CourseError, match="nothing") as caught:
        maker("nothing")
    mend = str(caught.value.mend)
    assert all(n in mend for n in ("attention", "gate", "perceptron", "pooling"))
