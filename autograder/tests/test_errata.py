"""The errata: well formed, rendered, and each number in them recomputed."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from autograder.errors import CourseError
from autograder.pages.errata import KINDS, chapters_with_errata, load_errata, table
from autograder.paths import load_worksheet

ROOT = Path(__file__).parents[2]


def entry(**changes: str) -> dict[str, str]:
    good = {
        "id": "E1",
        "article": "a",
        "where": "step 1",
        "kind": "typo",
        "claim": "1 + 1 = 3",
        "right": "1 + 1 = 2",
        "known": "arithmetic",
    }
    return good | changes


def write(root: Path, *entries: dict[str, str]) -> Path:
    folder = root / "solutions" / "attention"
    folder.mkdir(parents=True)
    data = {"articles": {"a": {"title": "An Article"}}, "errata": list(entries)}
    (folder / "errata.json").write_text(json.dumps(data), encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([entry(), entry()], "twice"),
        ([entry(kind="silly")], "silly"),
        ([entry(article="b")], "'b'"),
        ([entry(extra="x")], "extra"),
    ],
)
def test_a_bad_file_is_named(tmp_path, entries, says):
    with pytest.raises(CourseError, match=says):
        load_errata("attention", write(tmp_path, *entries))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CourseError, match="missing"):
        table("attention", tmp_path)


def test_the_table_shows_every_part(tmp_path):
    text = table("attention", write(tmp_path, entry(), entry(id="E2")))
    for part in ("**E1** · typo", "**E2**", "1 + 1 = 3", "1 + 1 = 2", "arithmetic"):
        assert part in text
    assert "*An Article*, step 1" in text


@pytest.mark.parametrize("chapter", chapters_with_errata(ROOT))
def test_every_chapter_s_file_is_sound(chapter):
    articles, errata = load_errata(chapter, ROOT)
    assert errata
    assert {e.article for e in errata} <= set(articles)
    assert {e.kind for e in errata} <= set(KINDS)


def test_attention_lists_the_errata_that_the_chapter_needs():
    _, errata = load_errata("attention", ROOT)
    listed = {e.id for e in errata}
    assert {"E12", "E13", "E14"} | {f"E{n}" for n in range(36, 41)} <= listed


# --- the numbers that the errata of `attention` state ---------------------------


def right(number: str) -> str:
    _, errata = load_errata("attention", ROOT)
    return next(e.right for e in errata if e.id == number)


def scores() -> np.ndarray:
    given = {k: np.array(v) for k, v in load_worksheet("attention", ROOT).GIVEN.items()}
    return (given["W_K"] @ given["X"]).T @ (given["W_Q"] @ given["X"])


def weights(halve) -> list[list[Fraction]]:
    """The columns of A, exactly, with powers of 3."""
    columns = []
    for column in scores().T:
        powers = [Fraction(3) ** halve(int(s) / 2) for s in column]
        columns.append([p / sum(powers) for p in powers])
    return columns


def printed_sums(columns: list[list[Fraction]]) -> list[float]:
    return [round(sum(round(float(a), 1) for a in c), 1) for c in columns]


def test_e12_floor():
    columns = weights(math.floor)
    assert columns[0] == [Fraction(n, 46) for n in (9, 27, 1, 9)]
    assert all(sum(c) == 1 for c in columns)
    assert printed_sums(columns) == [1.0, 0.9, 0.9, 1.1]
    assert "1.0, 0.9, 0.9 and 1.1" in right("E12")


def test_e13_cutting_off_is_not_floor():
    assert (scores() == -1).sum() == 2
    assert (math.floor(-0.5), math.trunc(-0.5)) == (-1, 0)
    columns = weights(math.trunc)
    assert columns[0] == [Fraction(n, 16) for n in (3, 9, 1, 3)]
    assert printed_sums(columns)[0] == 1.1


def test_e14_the_scores_are_no_cosines():
    assert (scores().min(), scores().max()) == (-2, 5)
    assert "from $-2$ to $5$" in right("E14")


def test_e36_the_scale_keeps_softmax_awake():
    rng = np.random.default_rng(0)
    largest = {"plain": [], "scaled": []}
    for _ in range(2000):
        s = rng.standard_normal((64, 128)) @ rng.standard_normal(128)
        for name, z in (("plain", s), ("scaled", s / math.sqrt(128))):
            e = np.exp(z - z.max())
            largest[name].append((e / e.sum()).max())
    assert np.mean(largest["plain"]) == pytest.approx(0.85, abs=0.01)
    assert np.mean(largest["scaled"]) == pytest.approx(0.11, abs=0.01)
    assert np.mean(np.array(largest["plain"]) > 0.99) == pytest.approx(1 / 3, abs=0.05)
    assert "0.85" in right("E36") and "0.11" in right("E36")


def test_e39_layer_norm_is_not_linear():
    torch = pytest.importorskip("torch")
    x = torch.randn(5, 16, generator=torch.Generator().manual_seed(0))
    once, twice = (torch.layer_norm(v, (16,)) for v in (x, 2 * x))
    assert torch.allclose(once, twice, atol=1e-4)
