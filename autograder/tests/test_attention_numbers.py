"""The attention chapter's numbers: by hand as stated, and where the articles err.

`stated.json` holds what article and workbooks say; what they say rightly must come
out of our worksheet, and each erratum is recomputed here (E12 to E14, E36 to E40).
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from autograder import randn
from autograder.authoring.reference import given_names
from autograder.authoring.source import read
from autograder.paths import course_root, load_module, load_worksheet, source_file

FOLDER = course_root() / "solutions" / "attention"


def stated(*path: str):
    """A value of stated.json, which only tests and errata read."""
    data = json.loads((FOLDER / "stated.json").read_text(encoding="utf-8"))
    for key in path:
        data = data[key]
    return data["value"] if isinstance(data, dict) and "value" in data else data


@pytest.fixture(scope="module")
def ours():
    """Every name of the solved notebook."""
    return SimpleNamespace(**given_names(read("attention")))


@pytest.fixture(scope="module")
def wrong():
    """The chapter's wrong answers, as functions."""
    return load_module(source_file("attention").with_name("misconceptions.py"))


def close(a, b, atol=1e-5):
    """Equal within the tolerance, and of the same shape."""
    a, b = (torch.as_tensor(x, dtype=torch.float64) for x in (a, b))
    assert a.shape == b.shape
    torch.testing.assert_close(a, b, rtol=1e-5, atol=atol, equal_nan=True)


# --- the by-hand numbers --------------------------------------------------------


def test_the_notebook_uses_the_worksheet(ours):
    for name, table in load_worksheet("attention").GIVEN.items():
        assert getattr(ours, name).tolist() == table


@pytest.mark.parametrize("name", ["Q", "K", "V", "S"])
def test_integer_tables_are_the_stated_ones(ours, name):
    assert getattr(ours, name) == stated(name)


def test_floor_weights_are_exact_fractions(ours):
    assert stated("floor", "scaled") == ours.H
    first = [row[0] for row in ours.A_floor]
    assert first == [Fraction(x) for x in stated("floor_first_column")]
    assert all(sum(column) == 1 for column in zip(*ours.A_floor, strict=True))
    close([[float(a) for a in row] for row in ours.A_floor], stated("floor", "A"), 1e-6)


def test_true_softmax_and_z_are_the_stated_ones(ours):
    Z = ours.attention_columns(*ours.WORKED)
    close(Z, stated("exact", "Z"), atol=1e-4)
    # with values that make V the identity, Z is the weight matrix itself
    A = ours.attention_columns(*ours.WORKED[:3], torch.linalg.pinv(ours.WORKED[0]))
    close(A, stated("exact", "A"), atol=1e-5)


def test_columns_and_rows_tell_the_same_story(ours):
    X, W_Q, W_K, W_V = ours.WORKED
    q, k, v = (ours.project_in_rows(X[None], W) for W in (W_Q, W_K, W_V))
    close(ours.attention(q, k, v)[0].T, ours.attention_columns(*ours.WORKED))


def test_one_query_agrees_with_its_own_rule(ours):
    E, q, k, v = (np.array(x) for x in (ours.E, ours.query, ours.keys, ours.values))
    powers = 2.0 ** (k @ q)
    a = powers / powers.sum()
    assert ours.one_scores == (k @ q).tolist()
    close(ours.one_weights, a)
    close(ours.one_delta, a @ v)
    close(ours.one_refined, E + a @ v)


def test_wrong_answers_give_the_measured_values(ours, wrong):
    assert stated("exact", "Z")[0][0] == pytest.approx(10.3076, abs=1e-4)
    rows = wrong.softmax_along_rows(*ours.WORKED)
    turned = wrong.transposes_the_weights(*ours.WORKED)
    assert float(rows[0, 0]) == pytest.approx(16.407, abs=1e-3)
    assert float(turned[0, 0]) == pytest.approx(6.684, abs=1e-3)
    identity = torch.linalg.pinv(ours.WORKED[0])
    unscaled = wrong.leaves_out_the_scale(*ours.WORKED[:3], identity)
    by_d = wrong.divides_by_d_in_columns(*ours.WORKED[:3], identity)
    assert float(unscaled[1, 3]) == pytest.approx(0.948, abs=1e-3)
    assert float(by_d[1, 3]) == pytest.approx(0.558, abs=1e-3)


def test_gpt3_counts_are_the_stated_ones(ours):
    assert ours.gpt3_total == stated("gpt3", "parameters")
    assert ours.gpt3_w_q == stated("gpt3", "W_Q")
    assert ours.gpt3_d_head == stated("gpt3", "d_head")
    assert ours.gpt3_divisor == pytest.approx(11.3137, abs=1e-4)
    assert ours.gpt3_score_bytes == 805_306_368


# --- errata ----------------------------------------------------------------------


def one_decimal_sums(A):
    """Column sums of the weights rounded to one decimal; a 5 goes up."""
    tenths = [[math.floor(10 * a + Fraction(1, 2)) for a in row] for row in A]
    return [sum(column) / 10 for column in zip(*tenths, strict=True)]


def weights_by(rule, S):
    powers = [[Fraction(3) ** rule(Fraction(s, 2)) for s in row] for row in S]
    sums = [sum(column) for column in zip(*powers, strict=True)]
    return [[p / t for p, t in zip(row, sums, strict=True)] for row in powers]


def test_e12_where_the_first_column_misses_one(ours):
    floor = weights_by(math.floor, stated("S"))
    trunc = weights_by(math.trunc, stated("S"))
    assert [row[0] for row in trunc] == [
        Fraction(x) for x in stated("truncated_first_column")
    ]
    assert one_decimal_sums(floor) == stated("floor", "A_1dp_column_sums")
    assert one_decimal_sums(trunc) == stated("truncated", "A_1dp_column_sums")
    assert ours.floor_sums == pytest.approx(stated("floor", "A_1dp_column_sums"))
    assert ours.trunc_sums == pytest.approx(stated("truncated", "A_1dp_column_sums"))
    assert (ours.floor_sums[0] == 1, ours.trunc_sums[0] == 1) == (True, False)
    assert ours.rule_in_picture == "trunc"
    exact = torch.tensor(stated("exact", "A"))
    close(exact.sum(dim=0), torch.ones(4), atol=3e-6)


def test_e13_floor_is_not_truncation(ours):
    for x, expected in stated("floor_examples"):
        assert math.floor(x) == expected == math.trunc(x)
    assert (math.floor(-1 / 2), math.trunc(-1 / 2)) == (-1, 0)
    assert ours.H[2][:3] == [-1, -1, -1]
    assert stated("truncated", "scaled")[2][:3] == [0, 0, -1]


def test_e14_a_dot_product_is_no_angle(ours):
    q, k = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [3.0, 4.0]])
    dots, cosines = (q @ k.T)[0], ours.cosine_scores(q, k)[0]
    assert dots.argmax() == 1 and cosines.argmax() == 0
    assert dots.tolist() == [1, 3]
    close(cosines, [1, 0.6])
    # for vectors of length 1 the two are the same
    q, k = F.normalize(randn(3, 5, seed=1)), F.normalize(randn(4, 5, seed=2))
    close(ours.cosine_scores(q, k), q @ k.T)


def test_e36_the_root_keeps_the_variance_at_one(ours):
    for d in (4, 64, 1024):
        variance = float(
            ours.score_stats(randn(400, d, seed=d), randn(400, 16, d, seed=1))[0]
        )
        assert variance == pytest.approx(d, rel=0.1)
    raw, scaled = ours.score_stats(
        randn(2000, 128, seed=2), randn(2000, 64, 128, seed=3)
    )[1:]
    assert float(raw) == pytest.approx(0.85, abs=0.02)
    assert float(scaled) == pytest.approx(0.11, abs=0.01)
    # saturated weights have almost no slope
    mild, wild = randn(64, seed=5), 11.3 * randn(64, seed=5)
    assert (
        ours.softmax_jacobian(wild).abs().sum()
        < ours.softmax_jacobian(mild).abs().sum()
    )


def test_e37_the_sum_needs_its_own_index(ours, wrong):
    E, context = torch.zeros(2), randn(2, 3, seed=1)
    eye = torch.eye(2)
    every_weight_one = wrong.sums_over_its_own_index(E, context, eye, eye, eye)
    close(every_weight_one, context.sum(dim=1))
    close(ours.refine(E, context, eye, eye, eye), context.mean(dim=1))


def test_e38_heads_are_mixed_before_they_are_added(ours, wrong):
    x, weights = randn(1, 4, 6, seed=1), randn(4, 6, 6, seed=2)
    plain = wrong.leaves_out_the_output_matrix(x, *weights, 3)
    close(ours.multi_head_attention(x, *weights, 3), plain @ weights[3].T, atol=1e-4)
    close(ours.multi_head_attention(x, *weights[:3], torch.eye(6), 3), plain, atol=1e-4)


def test_e39_layer_norm_is_not_linear():
    x, y = randn(1, 5, seed=1), randn(1, 5, seed=2)
    norm = nn.LayerNorm(5)
    with torch.no_grad():
        assert not torch.allclose(norm(2 * x), 2 * norm(x), atol=0.1)
        assert not torch.allclose(norm(x + y), norm(x) + norm(y), atol=0.1)


def test_e40_gpt_is_causal(ours, wrong):
    x, weights = randn(1, 5, 4, seed=1), randn(4, 4, 4, seed=2)
    causal = ours.multi_head_attention(x, *weights, 2)
    open_ended = wrong.forgets_to_be_causal(x, *weights, 2)
    close(causal[:, -1], open_ended[:, -1], atol=1e-4)  # the last token sees all
    assert not torch.allclose(causal[:, 0], open_ended[:, 0], atol=0.1)
    close(causal[:, 0], x[:, 0] @ weights[2].T @ weights[3].T)  # the first only itself
