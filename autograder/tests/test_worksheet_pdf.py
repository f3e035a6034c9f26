"""The printed worksheet: pages, vectors, and the numbers of its key read back."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pypdf
import pytest

from autograder.errors import CourseError
from autograder.worksheet import Worksheet, concat, exp, mean, pdf, relu, total
from autograder.worksheet.command import maker, numbered
from autograder.worksheet.data import draw
from autograder.worksheet.paper import Block, Matrix, blocks
from autograder.worksheet.trace import written
from autograder.worksheet.typeset import lines, runs, width

SMALL = ("perceptron", "gate", "pooling")
ALL = ("attention", *SMALL)


def printed(name: str, folder: Path, variant: int = 0, **options: object) -> Path:
    path = folder / f"{name}.pdf"
    pdf.write(numbered(name, variant), path, **options)
    return path


def tokens(path: Path) -> list[str]:
    pages = pypdf.PdfReader(path).pages
    return " ".join(page.extract_text() for page in pages).split()


def expected(step: object) -> list[str]:
    """What the key must show for a step, in reading order."""
    found = []
    for row in step.values:
        for x in row:
            if isinstance(x, Fraction) and x.denominator > 1:
                found += [str(abs(x.numerator)), str(x.denominator)]
                found += ["−"] * (x < 0)
                found.append(written(float(x), max(step.digits, 2)))
            else:
                found.append(written(x, step.digits))
    return found


def holds(said: list[str], run: list[str]) -> bool:
    return any(said[i : i + len(run)] == run for i in range(len(said) - len(run) + 1))


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("name", ALL)
def test_the_key_holds_every_number(name: str, paper: str, tmp_path: Path) -> None:
    sheet = draw(maker(name), 0)
    said = tokens(printed(name, tmp_path, key=True, paper=paper))
    for step in sheet.steps:
        assert holds(said, expected(step)), step.name


@pytest.mark.parametrize("variant", [1, 2, 673813])
def test_the_key_of_a_variant_has_its_numbers(variant: int, tmp_path: Path) -> None:
    sheet = draw(maker("attention"), variant)
    said = tokens(printed("attention", tmp_path, variant, key=True))
    assert all(holds(said, expected(step)) for step in sheet.steps)
    assert not holds(said, expected(draw(maker("attention"), 0)["S"]))


def test_a_wrong_number_would_be_seen(tmp_path: Path) -> None:
    sheet = draw(maker("attention"), 0)
    said = tokens(printed("attention", tmp_path, key=True))
    run = expected(sheet["S"])
    run[5] = "7"
    assert not holds(said, run)


@pytest.mark.parametrize("name", ALL)
def test_the_blank_has_the_given_numbers_and_no_other(
    name: str, tmp_path: Path
) -> None:
    sheet = draw(maker(name), 0)
    said = tokens(printed(name, tmp_path))
    for step in sheet.steps:
        if step.asked and len(expected(step)) > 4:
            assert not holds(said, expected(step)), step.name
        elif not step.asked:
            assert holds(said, expected(step)), step.name


def numbers_in(path: Path) -> int:
    return sum(bool(re.fullmatch(r"−?[\d.]+", t)) for t in tokens(path))


def test_a_blank_prints_fewer_numbers_than_its_key(tmp_path: Path) -> None:
    blank = numbers_in(printed("attention", tmp_path))
    asked = sum(
        s.shape[0] * s.shape[1] for s in draw(maker("attention"), 0).steps if s.asked
    )
    key = numbers_in(printed("attention", tmp_path, key=True))
    assert key >= blank + asked


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("name", ALL)
def test_pages_paper_and_vectors(name: str, paper: str, tmp_path: Path) -> None:
    reader = pypdf.PdfReader(printed(name, tmp_path, paper=paper))
    assert len(reader.pages) == (2 if name == "attention" else 1)
    size = {"a4": (595, 842), "letter": (612, 792)}[paper]
    for page in reader.pages:
        assert (round(page.mediabox.width), round(page.mediabox.height)) == size
        assert len(page.images) == 0
        assert "/FontFile2" in str(
            [
                f.get_object()
                for font in page["/Resources"]["/Font"].values()
                for d in [font.get_object()]
                for f in _descriptors(d)
            ]
        )


def _descriptors(font: dict) -> list:
    inner = font.get("/DescendantFonts", [font])
    return [f.get_object()["/FontDescriptor"] for f in inner]


@pytest.mark.parametrize("key", [False, True])
def test_what_a_teacher_looks_for_is_there(key: bool, tmp_path: Path) -> None:
    path = printed(
        "attention", tmp_path, 7, key=key, owner="Ada", address="https://a.org/b"
    )
    first, second = [p.extract_text() for p in pypdf.PdfReader(path).pages]
    assert "Self-attention by hand" in first and "By Hand, at Scale" in first
    assert "variant 7 · Ada" in first and "variant 7 · Ada" in second
    assert "CC BY 4.0  ·  a.org/b" in first and "page 2 of 2" in second
    assert ("Name" in first and "Date" in first) is not key
    assert ("KEY" in first and "KEY" in second) is key
    assert "one query per column" in first and "3×4" in first
    pencil = second.index("The pencil rule: halve and round down, powers of 3")
    assert pencil < second.index("The true softmax: divide by √3, powers of e")


def test_the_same_sheet_gives_the_same_bytes(tmp_path: Path) -> None:
    once = printed("pooling", tmp_path).read_bytes()
    assert printed("pooling", tmp_path).read_bytes() == once
    assert b"CreationDate" not in once and len(once) < 200_000


def test_an_unknown_paper_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="a5"):
        printed("pooling", tmp_path, paper="a5")


# -------------------------------------------------------------------- the layout


def laid(ws: Worksheet) -> list[Block]:
    return blocks(ws, (9, 8), 180, solved=True)


def find(made: list[Block], name: str, kind: str = "asked") -> Matrix:
    return next(m for b in made for m in b.matrices if (m.name, m.kind) == (name, kind))


def test_a_product_meets_where_row_and_column_meet() -> None:
    made = laid(draw(maker("attention"), 0))
    X, W, Q = find(made, "X", "given"), find(made, "W_Q", "given"), find(made, "Q")
    assert Q.x == X.x and Q.y > X.bottom and Q.right == X.right
    assert Q.y == W.y and W.right < Q.x and Q.bottom == W.bottom
    K, V = find(made, "K"), find(made, "V")
    assert Q.x == K.x == V.x and Q.bottom < K.y and K.bottom < V.y
    turned = find(made, "Kᵀ", "copy")
    assert turned.shape == (4, 3) and turned.y == find(made, "S").y


def test_steps_entry_by_entry_stand_in_a_row() -> None:
    made = laid(draw(maker("attention"), 0))
    H, P, A, Z = (find(made, n) for n in "HPAZ")
    assert H.y == P.y == A.y and H.right < P.x and P.right < A.x
    assert Z.x == A.x and Z.y > A.bottom


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("key", [False, True])
def test_nothing_overlaps_and_all_is_on_the_page(name: str, key: bool) -> None:
    for variant in range(4):
        ws = draw(maker(name), variant)
        for paper, (wide, tall) in pdf.PAPERS.items():
            for page in pdf._pages(ws, pdf.Look(key, paper)):
                spots = []
                for item, x, y in page:
                    if isinstance(item, str):
                        spots.append((x, y - 4, x + width(item, 10.5, "strong"), y + 1))
                        continue
                    left, top, *_ = item.box()
                    inside = [(m.x, m.y, m.right, m.bottom) for m in item.matrices]
                    for w in item.words:
                        long = width(w.text, w.size, w.style)
                        start = w.x - w.shift * long
                        inside.append((start, w.y - 1.5, start + long, w.y))
                    dx, dy = x - left, y - top
                    spots += [(a + dx, b + dy, c + dx, d + dy) for a, b, c, d in inside]
                for n, a in enumerate(spots):
                    assert a[0] >= pdf.MARGIN - 6 and a[2] <= wide - pdf.MARGIN + 0.2
                    assert a[1] >= pdf.MARGIN and a[3] <= tall - pdf.FOOT
                    for b in spots[n + 1 :]:
                        across = min(a[2], b[2]) - max(a[0], b[0])
                        down = min(a[3], b[3]) - max(a[1], b[1])
                        assert across < 0.2 or down < 0.2, (name, variant, a, b)


@pytest.mark.parametrize("name", ALL)
def test_the_head_and_foot_stay_within_the_margins(name: str) -> None:
    assert width(pdf.FRACTIONS, 7.5) < 210 - 2 * pdf.MARGIN
    assert width(numbered(name, 0).title, 17, "title") < 210 - 2 * pdf.MARGIN - 25


def test_every_kind_of_step_finds_its_place(tmp_path: Path) -> None:
    ws = Worksheet("t", title="Everything")
    x = ws.given("x", [[1, 2], [0, -1]])
    w = ws.given("W", [[1, 1], [2, 0], [0, 1]], role="weight")
    b = ws.given("b", [[1], [0], [-1]], role="bias", rows=("p", "q", "r"))
    y = ws.step("y", relu(w @ x + b))
    ws.step("t", total(y, "columns"))
    z = ws.step("z", y.T @ y)
    ws.step("d", z - x)
    ws.step("c", concat(z, x))
    ws.step("u", x * z + z * 2)
    ws.step("m", mean(y, "rows"))
    ws.step("e", exp(x) * z + mean(z, "rows"), digits=1)
    made = laid(ws)
    asked = [m.name for b in made for m in b.matrices if m.kind == "asked"]
    assert asked == [s.name for s in ws.steps if s.asked]
    signs = [w.text for b in made for w in b.words if w.size == 11]
    assert "−" in signs and "·" in signs and "+" in signs and "=" in signs
    assert pdf.write(ws, tmp_path / "t.pdf", key=True) <= 2


def test_words_are_broken_and_raised() -> None:
    assert runs("W_Q X") == [("W", 0), ("Q", -1), (" X", 0)]
    assert runs("3^(−1)·e^R") == [("3", 0), ("−1", 1), ("·e", 0), ("R", 1)]
    broken = lines("one two three four", 10, 18)
    assert " ".join(broken) == "one two three four" and len(broken) > 1
    assert all(width(line, 10) <= 18 for line in broken)
