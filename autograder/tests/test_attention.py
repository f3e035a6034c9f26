"""The attention chapter's reference answers, against judges that know none of them.

The judges are torch's own attention, autograd, and plain loops. Shapes are odd on
purpose: one token, one text, nothing square. The last part reads the notebook as a
text: every exercise says what it asks, and the points add up.
"""

from __future__ import annotations

import itertools
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from autograder import randn
from autograder.authoring.misconceptions import load as load_answers
from autograder.authoring.reference import given_names
from autograder.authoring.source import read


@pytest.fixture(scope="module")
def assignment():
    return read("attention")


@pytest.fixture(scope="module")
def ours(assignment):
    """Every name of the solved notebook."""
    return SimpleNamespace(**given_names(assignment))


def close(a, b, atol=1e-5):
    """Equal within the tolerance, and of the same shape."""
    a, b = (torch.as_tensor(x, dtype=torch.float64) for x in (a, b))
    assert a.shape == b.shape
    torch.testing.assert_close(a, b, rtol=1e-5, atol=atol, equal_nan=True)


def keep_at_random(B, T_q, T_k, seed):
    """A bool mask in which every query may see at least one key."""
    return (randn(B, T_q, T_k, seed=seed) > 0) | (torch.arange(T_k) == 0)


# --- reference answers against independent judges --------------------------------


@pytest.mark.parametrize(("C", "N", "d"), [(4, 3, 2), (3, 1, 5), (1, 6, 1)])
def test_refine_is_one_row_of_attention_plus_the_residual(ours, C, N, d):
    E, context = randn(C, seed=1), randn(C, N, seed=2)
    W_Q, W_K, W_V = randn(d, C, seed=3), randn(d, C, seed=4), randn(C, C, seed=5)
    delta = F.scaled_dot_product_attention(
        (W_Q @ E)[None], (W_K @ context).T, (W_V @ context).T, scale=1.0
    )
    close(ours.refine(E, context, W_Q, W_K, W_V), E + delta[0])


@pytest.mark.parametrize(
    ("C", "T", "d", "d_v"), [(6, 4, 3, 3), (3, 1, 2, 5), (2, 7, 5, 1)]
)
def test_attention_columns(ours, C, T, d, d_v):
    X, W_Q, W_K = randn(C, T, seed=1), randn(d, C, seed=2), randn(d, C, seed=3)
    W_V = randn(d_v, C, seed=4)
    judge = F.scaled_dot_product_attention(*((W @ X).T for W in (W_Q, W_K, W_V)))
    close(ours.attention_columns(X, W_Q, W_K, W_V), judge.T)


@pytest.mark.parametrize(
    ("B", "C", "T", "d"), [(1, 2, 3, 2), (3, 4, 1, 5), (2, 1, 4, 1)]
)
def test_project_in_rows_is_a_linear_layer(ours, B, C, T, d):
    X, layer = randn(B, C, T, seed=1), nn.Linear(C, d, bias=False)
    turned = torch.stack([X[b].T for b in range(B)])
    with torch.no_grad():
        close(ours.project_in_rows(X, layer.weight), layer(turned))


@pytest.mark.parametrize("shape", [(1,), (5,), (1, 4), (3, 2), (2, 3, 4)])
def test_softmax(ours, shape):
    for dim, scale in itertools.product(range(len(shape)), (1, 1000)):
        scores = scale * randn(*shape, seed=1)
        close(ours.softmax(scores, dim), torch.softmax(scores.double(), dim))


def test_softmax_at_the_edges(ours):
    s = torch.tensor([[1e4, 1e4 + 1, -math.inf], [-1e4, -math.inf, -math.inf]])
    close(ours.softmax(s, 1), torch.softmax(s.double(), 1))


@pytest.mark.parametrize(
    ("lead", "T_q", "T_k", "d", "d_v"),
    [((1,), 1, 1, 1, 1), ((2, 3), 5, 7, 4, 6), ((), 3, 2, 8, 1), ((4,), 1, 9, 2, 3)],
)
def test_attention(ours, lead, T_q, T_k, d, d_v):
    q, k = randn(*lead, T_q, d, seed=1), randn(*lead, T_k, d, seed=2)
    v = randn(*lead, T_k, d_v, seed=3)
    for scale in (1, 30):
        judge = F.scaled_dot_product_attention(scale * q, scale * k, v)
        close(ours.attention(scale * q, scale * k, v), judge, atol=2e-5)


@pytest.mark.parametrize(("B", "T_q", "T_k"), [(1, 1, 1), (2, 3, 5), (3, 4, 2)])
def test_masked_attention(ours, B, T_q, T_k):
    q, k = randn(B, T_q, 4, seed=1), randn(B, T_k, 4, seed=2)
    v, keep = randn(B, T_k, 3, seed=3), keep_at_random(B, T_q, T_k, seed=4)
    judge = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
    close(ours.masked_attention(q, k, v, keep), judge)
    assert torch.equal(keep, keep_at_random(B, T_q, T_k, seed=4))


@pytest.mark.parametrize(("lengths", "T"), [([1], 1), ([2, 5, 3], 5), ([4], 6)])
def test_causal_padding_mask_entry_by_entry(ours, lengths, T):
    keep = ours.causal_padding_mask(torch.tensor(lengths), T)
    assert keep.dtype == torch.bool
    expected = [
        [[j <= i and j < n for j in range(T)] for i in range(T)] for n in lengths
    ]
    assert keep.tolist() == expected


@pytest.mark.parametrize(
    ("T_q", "T_k", "w"), [(1, 1, 1), (4, 4, 2), (2, 5, 3), (1, 6, 99), (3, 3, 1)]
)
def test_window_mask_entry_by_entry(ours, T_q, T_k, w):
    keep = ours.window_mask(T_q, T_k, w)
    for i, j in itertools.product(range(T_q), range(T_k)):
        back = i + T_k - T_q - j  # how far key j lies behind query i
        assert bool(keep[i, j]) == (0 <= back < w)


def test_one_cached_query_sees_more_than_is_causal_lets_it(ours):
    assert ours.window_mask(1, 5, 99).tolist() == [[True] * 5]
    q, k, v = randn(1, 1, 2, seed=1), randn(1, 5, 2, seed=2), randn(1, 5, 2, seed=3)
    top_left = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    close(top_left[0, 0], v[0, 0])


@pytest.mark.parametrize(
    ("B", "T", "H", "D"), [(1, 1, 1, 1), (2, 5, 3, 2), (3, 1, 2, 4)]
)
def test_split_and_merge_entry_by_entry(ours, B, T, H, D):
    x = torch.arange(B * T * H * D).reshape(B, T, H * D)
    heads = ours.split_heads(x, H)
    assert heads.shape == (B, H, T, D)
    for b, t, h, c in itertools.product(range(B), range(T), range(H), range(D)):
        assert heads[b, h, t, c] == x[b, t, h * D + c]
    assert torch.equal(ours.merge_heads(heads), x)


@pytest.mark.parametrize(
    ("B", "T", "C", "H"), [(1, 1, 4, 2), (2, 5, 6, 3), (1, 9, 8, 1), (3, 2, 3, 3)]
)
def test_multi_head_attention(ours, B, T, C, H):
    x, weights = randn(B, T, C, seed=1), randn(4, C, C, seed=2)
    judge = nn.MultiheadAttention(C, H, bias=False, batch_first=True)
    judge.load_state_dict(
        {"in_proj_weight": weights[:3].reshape(3 * C, C), "out_proj.weight": weights[3]}
    )
    leave_out = torch.ones(T, T, dtype=torch.bool).triu(1)
    with torch.no_grad():
        theirs = judge(x, x, x, attn_mask=leave_out, need_weights=False)[0]
    close(ours.multi_head_attention(x, *weights, H), theirs, atol=1e-4)


def test_score_stats(ours):
    q, k = randn(50, 7, seed=1), randn(50, 4, 7, seed=2)
    s = np.einsum("nd,ntd->nt", q.numpy(), k.numpy(), dtype=np.float64)
    tops = []
    for divisor in (1, math.sqrt(7)):
        p = np.exp(s / divisor)
        tops.append((p.max(1) / p.sum(1)).mean())
    close(ours.score_stats(q, k), [s.var(), *tops])
    assert ours.score_stats(q, k[:, :1])[1:].tolist() == [1, 1]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_softmax_jacobian_against_autograd(ours, n):
    for scale in (1, 10):
        z = scale * randn(n, seed=n)
        judge = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), z)
        close(ours.softmax_jacobian(z), judge, atol=1e-6)
        close(ours.softmax_jacobian(z).sum(dim=1), torch.zeros(n), atol=1e-6)


@pytest.mark.parametrize(("T_q", "T_k", "d"), [(1, 1, 1), (3, 4, 5), (2, 7, 2)])
def test_cosine_scores(ours, T_q, T_k, d):
    q, k = 3 * randn(T_q, d, seed=1), randn(T_k, d, seed=2)
    judge = F.cosine_similarity(q[:, None], k[None], dim=-1)
    close(ours.cosine_scores(q, k), judge)


@pytest.mark.parametrize(
    ("B", "T", "S", "C", "C_ctx"), [(1, 1, 1, 1, 2), (2, 3, 5, 4, 6)]
)
def test_cross_attention(ours, B, T, S, C, C_ctx):
    x, context = randn(B, T, C, seed=1), randn(B, S, C_ctx, seed=2)
    W_Q, W_K, W_V = (
        randn(4, C, seed=3),
        randn(4, C_ctx, seed=4),
        randn(4, C_ctx, seed=5),
    )
    judge = nn.MultiheadAttention(
        4, 1, bias=False, kdim=C_ctx, vdim=C_ctx, batch_first=True
    )
    eye = torch.eye(4)
    judge.load_state_dict(
        {"q_proj_weight": eye, "k_proj_weight": W_K, "v_proj_weight": W_V,
         "out_proj.weight": eye}
    )  # fmt: skip
    with torch.no_grad():
        theirs = judge(x @ W_Q.T, context, context, need_weights=False)[0]
    close(ours.cross_attention(x, context, W_Q, W_K, W_V), theirs)


@pytest.mark.parametrize(("T_q", "T_k"), [(1, 1), (3, 7), (5, 64), (2, 100)])
@pytest.mark.parametrize("block", [1, 2, 7, 32, 1000])
def test_online_attention(ours, T_q, T_k, block):
    q, k, v = randn(T_q, 6, seed=1), randn(T_k, 6, seed=2), randn(T_k, 3, seed=3)
    for scale in (1, 40):
        judge = F.scaled_dot_product_attention(scale * q, scale * k, v)
        close(ours.online_attention(scale * q, scale * k, v, block), judge, atol=1e-4)


def test_online_attention_keeps_its_promise_about_memory(ours):
    def all_at_once(q, k, v, block):
        return torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=1) @ v

    for T in (100, 400):
        inputs = (*randn(3, T, 8, seed=T), 5)
        assert ours.largest_tensor(all_at_once, *inputs) == T * T
        assert ours.largest_tensor(ours.online_attention, *inputs) == T * 8


def test_gpt3_counts_by_building_it_without_memory(ours):
    d = 12288
    with torch.device("meta"):
        layer = nn.ModuleList(
            [nn.MultiheadAttention(d, 96), nn.Linear(d, 4 * d), nn.Linear(4 * d, d),
             nn.LayerNorm(d), nn.LayerNorm(d)]
        )  # fmt: skip
        rest = nn.ModuleList(
            [nn.Embedding(50257, d), nn.Embedding(2048, d), nn.LayerNorm(d)]
        )

    def size(module):
        return sum(p.numel() for p in module.parameters())

    assert ours.gpt3_layer == size(layer)
    assert ours.gpt3_total == 96 * size(layer) + size(rest)


# --- properties that need no answer key ------------------------------------------


def test_causality(ours):
    x, weights = randn(1, 6, 4, seed=1), randn(4, 4, 4, seed=2)
    before = ours.multi_head_attention(x, *weights, 2)
    changed = x.clone()
    changed[0, 4] += 1
    after = ours.multi_head_attention(changed, *weights, 2)
    close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_without_a_mask_the_order_of_keys_does_not_matter(ours):
    q, k, v = randn(3, 4, seed=1), randn(6, 4, seed=2), randn(6, 2, seed=3)
    order = torch.tensor([3, 1, 5, 0, 4, 2])
    close(ours.attention(q, k, v), ours.attention(q, k[order], v[order]))
    close(
        ours.online_attention(q, k, v, 2),
        ours.online_attention(q, k[order], v[order], 2),
    )


# --- the notebook as a text -------------------------------------------------------


def exercise_texts(assignment):
    return [c.text for c in assignment.cells if re.match(r"## \d+\.", c.text)]


LEVEL = re.compile(
    r"\n\*Level: (by hand|numpy/torch|against the library|at size) · difficulty "
    r"([1-5])/5 · about (\d+) minutes · (\d+) points\.\*$"
)


def test_every_exercise_says_what_it_asks(assignment):
    texts = exercise_texts(assignment)
    graded = assignment.by_role("check") + assignment.by_role("written")
    graded.sort(key=lambda c: c.line)
    assert len(texts) == len(graded) == 24
    for number, (text, cell) in enumerate(zip(texts, graded, strict=True), 1):
        assert text.startswith(f"## {number}. ")
        assert text.count("\nPredict first: ") == 1, cell.id
        level = LEVEL.search(text)
        assert level, cell.id
        assert int(level[4]) == cell.points, cell.id


def test_the_table_of_parts_adds_up(assignment):
    title = assignment.cells[0].text
    rows = re.findall(r"\| (\d+)(?: to (\d+))? \| (\d+) \|", title)
    points = [int(LEVEL.search(t)[4]) for t in exercise_texts(assignment)]
    start = 0
    for first, last, total in rows:
        assert int(first) == start + 1
        end = int(last or first)
        assert sum(points[start:end]) == int(total)
        start = end
    assert start == len(points)
    assert sum(points) == assignment.points == 60
    minutes = sum(int(LEVEL.search(t)[3]) for t in exercise_texts(assignment))
    assert 270 <= minutes <= 330  # "about five hours"


def test_answers_are_short(assignment):
    for cell in assignment.by_role("answer"):
        inside = cell.text.split("### BEGIN SOLUTION\n")[1].split("### END SOLUTION")[0]
        lines = [line for line in inside.splitlines() if line.strip()]
        assert len(lines) <= 15, cell.id


def test_every_hint_is_a_sentence_and_no_code():
    for answer in load_answers("attention"):
        if not answer.right:
            assert answer.hint.rstrip().endswith((".", "?", ")")), answer.name
            assert 40 <= len(answer.hint) <= 200, answer.name
            assert " = torch." not in answer.hint, answer.name
