"""The recorded experiments of the chapter `lstm`: cells, functions, files."""

from __future__ import annotations

import datetime
import json
import math
from functools import partial

import pytest
import torch
from torch import nn

from autograder.pages import experiments
from autograder.paths import course_root, load_module

HOME = course_root() / "solutions" / "lstm"
experiment = load_module(HOME / "experiment.py")
TEXT = load_module(HOME / "experiment_text.py")
cells = experiment.cells

TINY = {
    "parity": {"seeds": 1, "steps": 2, "batch": 4, "test": 8},
    "text": {
        "steps": 2,
        "batch": 2,
        "length": 16,
        "sampled": 5,
        "characters": 3000,
    },
    "speed": {
        "sizes": {
            "d": 8,
            "heads": 2,
            "chunk": 4,
            "lengths": [8, 16],
            "chunks": [4, 16],
        }
    },
}


def random_inputs(B: int, H: int, T: int, D: int, seed: int = 0) -> list[torch.Tensor]:
    """q, k, v, i, f in float64."""
    rng = torch.Generator().manual_seed(seed)
    draw = partial(torch.randn, generator=rng, dtype=torch.float64)
    return [draw(B, H, T, D) for _ in range(3)] + [2 * draw(B, H, T) for _ in range(2)]


def plain_mlstm(q, k, v, i, f) -> torch.Tensor:
    """The paper's formulas without a stabiliser, one head at a time."""
    B, H, T, D = q.shape
    h = torch.empty_like(v)
    for b in range(B):
        for head in range(H):
            at = b, head
            C, n = torch.zeros(D, D).double(), torch.zeros(D).double()
            for t in range(T):
                forget, write = f[at][t].sigmoid(), i[at][t].exp()
                key = k[at][t] / math.sqrt(D)
                C = forget * C + write * torch.outer(v[at][t], key)
                n = forget * n + write * key
                below = max(abs(float(n @ q[at][t])), 1.0)
                h[at][t] = C @ q[at][t] / below
    return h


def plain_slstm(pre, R) -> torch.Tensor:
    """The same for sLSTM; i, f, z, o stacked in this order."""
    B, T, C = pre.shape[0], pre.shape[1], R.shape[0]
    h = torch.empty(B, T, C).double()
    for b in range(B):
        c, n, last = (torch.zeros(C).double() for _ in range(3))
        for t in range(T):
            i, f, z, o = (pre[b, t] + last @ R).view(4, C)
            c = f.sigmoid() * c + i.exp() * z.tanh()
            n = f.sigmoid() * n + i.exp()
            last = h[b, t] = o.sigmoid() * c / n
    return h


# --- the cells -------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 4, 64])
@pytest.mark.parametrize(
    ("B", "H", "T", "D"), [(1, 1, 1, 1), (2, 3, 7, 5), (1, 2, 8, 4), (2, 1, 33, 8)]
)
def test_the_three_forms_are_the_unstabilised_mlstm(
    B: int, H: int, T: int, D: int, chunk: int
) -> None:
    inputs = random_inputs(B, H, T, D, seed=T)
    expected = plain_mlstm(*inputs)
    for form in experiment.forms(chunk).values():
        torch.testing.assert_close(form(*inputs), expected, rtol=1e-10, atol=1e-12)


def test_the_three_forms_have_the_same_gradients() -> None:
    grads = []
    for form in experiment.forms(4).values():
        inputs = [x.requires_grad_() for x in random_inputs(2, 2, 11, 3)]
        grads.append(torch.autograd.grad(form(*inputs).sin().sum(), inputs))
    for other in grads[1:]:
        for mine, yours in zip(grads[0], other, strict=True):
            assert mine.isfinite().all()
            torch.testing.assert_close(mine, yours, rtol=1e-8, atol=1e-10)


def test_large_gates_stay_finite_and_equal() -> None:
    q, k, v, i, f = (x.float() for x in random_inputs(1, 2, 20, 4))
    outs = [form(q, k, v, i + 200, f) for form in experiment.forms(8).values()]
    assert outs[0].isfinite().all()
    for other in outs[1:]:
        torch.testing.assert_close(other, outs[0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("B", "T", "C"), [(1, 1, 1), (2, 9, 6), (3, 17, 4)])
def test_slstm_is_the_unstabilised_one(B: int, T: int, C: int) -> None:
    rng = torch.Generator().manual_seed(T)
    pre = 2 * torch.randn(B, T, 4 * C, generator=rng, dtype=torch.float64)
    R = torch.randn(C, 4 * C, generator=rng, dtype=torch.float64)
    got = cells.slstm(pre, R)
    torch.testing.assert_close(got, plain_slstm(pre, R), rtol=1e-10, atol=1e-12)
    pre[..., :C] += 800  # exp(800) is no float64
    assert cells.slstm(pre, R).isfinite().all()


def test_slstm_heads_do_not_see_each_other() -> None:
    torch.manual_seed(0)
    layer = cells.SLSTM(6, 3).double()
    seen = []
    layer.norm.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    x = torch.randn(1, 5, 6, dtype=torch.float64)
    layer(x)
    with torch.no_grad():
        layer.R[:, 0] += 1  # the first head's two units
    layer(x)
    moved = (seen[0] != seen[1]).any(0)
    assert moved.tolist() == [True, True, False, False, False, False]


@pytest.mark.parametrize("conv", [False, True])
@pytest.mark.parametrize("blocks", ["m", "s", "ms"])
def test_models_are_causal(blocks: str, conv: bool) -> None:
    torch.manual_seed(1)
    model = cells.XLSTM(5, 8, 2, blocks, conv=conv).eval()
    tokens = torch.randint(5, (2, 12))
    changed = tokens.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % 5
    before, after = model(tokens), model(changed)
    assert torch.equal(before[:, :7], after[:, :7])
    assert not torch.allclose(before[:, 7:], after[:, 7:])


def test_a_blind_slstm_learns_everything_but_the_recurrence() -> None:
    model = experiment.PARITY_MODELS["slstm_blind"]()
    held = [name for name, p in model.named_parameters() if not p.requires_grad]
    assert held == ["layers.0.R", "layers.1.R"]
    assert not any(layer.R.any() for layer in model.layers)


# --- parity ----------------------------------------------------------------------


def test_strings_carry_the_parity_of_every_prefix() -> None:
    bits, parity = experiment.strings(20, 9, torch.Generator().manual_seed(0))
    for t in range(9):
        ones = bits[:, : t + 1].sum(1)
        assert torch.equal(parity[:, t], ones % 2)


def test_accuracies_know_right_from_wrong() -> None:
    class Oracle(nn.Module):
        def forward(self, bits):
            return nn.functional.one_hot(bits.cumsum(1) % 2, 2).float()

    rng = torch.Generator().manual_seed(0)
    right = experiment.accuracies(Oracle(), 50, rng)
    assert right == [1.0] * experiment.LONG
    first = lambda bits: nn.functional.one_hot(bits, 2).float()  # noqa: E731
    guessed = experiment.accuracies(first, 4000, rng)
    assert guessed[0] == 1
    assert guessed[15] == pytest.approx(0.5, abs=0.04)


# --- text ------------------------------------------------------------------------


def test_topics_are_plain_and_no_paragraph_comes_twice() -> None:
    text = TEXT.topics()
    assert text.isascii()
    assert text == text.lower()
    assert 200_000 < len(text) < 1_000_000
    long = [" ".join(p.split()) for p in text.split("\n\n") if len(p) > 200]
    assert len(set(long)) == len(long)


def test_bits_per_character_counts_the_second_halves() -> None:
    class Knows(nn.Module):  # the next symbol is the last one plus 1, modulo 4
        def forward(self, x):
            sure = nn.functional.one_hot((x + 1) % 4, 4).float() * 50
            sure[:, : x.shape[1] // 2] = 0  # and knows nothing before the middle
            return sure

    data = torch.arange(100) % 4
    assert TEXT.bits_per_character(Knows(), data, 8) == pytest.approx(0, abs=1e-6)

    class Uniform(nn.Module):
        def forward(self, x):
            return torch.zeros(*x.shape, 4)

    assert TEXT.bits_per_character(Uniform(), data, 8) == pytest.approx(2)


def test_unigram_and_compressors() -> None:
    assert TEXT.unigram_bits("ab" * 5000, "abab") == pytest.approx(1, abs=1e-3)
    rows = TEXT.compressor_bits("the same text. " * 300, "the same text. " * 30)
    assert [r["name"] for r in rows] == ["gzip", "bz2", "lzma"]
    for row in rows:
        assert row["after_training_text"] < row["alone"] < 8


# --- speed -----------------------------------------------------------------------


def test_agreement_is_within_its_tolerance() -> None:
    rows = experiment.agreement(45, d=16, heads=2, chunk=8, device="cpu", seed=3)
    assert [r["form"] for r in rows] == ["recurrent", "parallel", "chunkwise"]
    assert all(r["within"] for r in rows)


def test_layers_of_all_forms_have_the_same_weights() -> None:
    x = torch.randn(1, 10, 8)
    outs = [
        experiment.make_layer(name, 8, 2, 4, "cpu", 0)(x)
        for name in experiment.forms(4)
    ]
    for other in outs[1:]:
        torch.testing.assert_close(other, outs[0], rtol=1e-4, atol=1e-5)


def test_overtaking_counts_from_the_long_end() -> None:
    def rows(form: str, taken: list[int]) -> list[dict]:
        pairs = zip([8, 16, 32, 64], taken, strict=False)
        return [{"form": form, "length": T, "s": s} for T, s in pairs]

    slow = rows("b", [2, 2, 5, 9])
    assert experiment.overtakes(rows("a", [1, 3, 4, 4]) + slow, "a", "b", "s") == 32
    assert experiment.overtakes(rows("a", [1, 1, 1, 9]) + slow, "a", "b", "s") is None
    assert experiment.overtakes(rows("a", [1, 1]) + slow, "a", "b", "s") == 8


def test_a_gpu_that_is_too_small_leaves_a_gap(monkeypatch) -> None:
    def full(**point: object) -> dict:
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(experiment, "measure", full)
    rows, skipped = [], []
    point = {"name": "parallel", "T": 8, "chunk": 4, "device": "cpu"}
    experiment.attempt(rows, skipped, point)
    assert not rows
    assert "too small" in skipped[0]["why"]


# --- the command -----------------------------------------------------------------


def test_all_writes_three_files_where_it_is_told(tmp_path, monkeypatch) -> None:
    threads = torch.get_num_threads()
    for name, small in TINY.items():
        whole = getattr(experiment, name)
        monkeypatch.setattr(experiment, name, partial(whole, **small))
    try:
        assert experiment.main(["all", "--seed", "5", "--out", str(tmp_path)]) == 0
    finally:
        torch.set_num_threads(threads)
    for name in TINY:
        told = json.loads((tmp_path / f"{name}.json").read_text())
        recorded = experiments.load("lstm", name)
        assert told["command"].endswith(f"{name} --seed 5 --device cpu")
        assert str(tmp_path) not in json.dumps(told)
        assert told["results"].keys() == recorded["results"].keys()
        first, before = told["results"]["rows"][0], recorded["results"]["rows"][0]
        assert first.keys() == before.keys()


def test_without_a_gpu_nothing_is_pretended(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    line = ["speed", "--device", "cuda", "--out", str(tmp_path)]
    assert experiment.main(line) == 0
    assert capsys.readouterr().out == "no CUDA device: nothing was measured\n"
    assert not list(tmp_path.iterdir())


# --- the recorded files ----------------------------------------------------------


@pytest.mark.parametrize("name", ["parity", "text", "speed"])
def test_a_recorded_file_says_where_it_comes_from(name: str) -> None:
    told = experiments.load("lstm", name)
    assert set(told) == {"command", "seed", "machine", "recorded", "results"}
    start = f"python solutions/lstm/experiment.py {name} --seed {told['seed']}"
    assert told["command"].startswith(start)
    datetime.date.fromisoformat(told["recorded"])
    assert {"cpu", "cores", "threads", "python", "torch"} <= set(told["machine"])


def test_recorded_parity_needs_a_recurrence_of_h() -> None:
    told = experiments.load("lstm", "parity")["results"]
    rows = told["rows"]
    asked = {(m, s) for m in experiment.PARITY_MODELS for s in range(told["seeds"])}
    assert {(r["model"], r["seed"]) for r in rows} == asked
    for row in rows:
        assert len(row["by_length"]) == told["long_length"] == 40
        assert row["by_length"][15] == row["accuracy_16"]
        assert row["by_length"][39] == row["accuracy_40"]
        assert [p[0] for p in row["curve"]] == sorted(p[0] for p in row["curve"])
        assert row["curve"][-1][0] <= told["steps"]
        assert row["seconds"] > 0
        if row["model"] in ("lstm", "slstm"):
            assert min(row["by_length"]) >= 0.99
        elif row["model"] == "mlstm":
            assert row["accuracy_16"] < 0.75
        if row["model"] in ("mlstm", "slstm_blind"):  # nothing carries beyond training
            assert row["accuracy_40"] == pytest.approx(0.5, abs=0.06)


def test_recorded_models_are_of_one_size() -> None:
    for name in ("parity", "text"):
        rows = experiments.load("lstm", name)["results"]["rows"]
        sizes = [row["parameters"] for row in rows]
        assert max(sizes) <= 1.05 * min(sizes)
    parity = experiments.load("lstm", "parity")["results"]["rows"]
    for row in parity:
        model = experiment.PARITY_MODELS[row["model"]]()
        assert cells.parameters(model) == row["parameters"]
    told = experiments.load("lstm", "text")["results"]
    for row in told["rows"]:
        model = TEXT.MODELS[row["model"]](len(told["alphabet"]))
        assert cells.parameters(model) == row["parameters"]


def test_recorded_text_is_complete() -> None:
    told = experiments.load("lstm", "text")["results"]
    steps = told["steps"]
    runs = [(row["model"], row["steps"]) for row in told["rows"]]
    assert runs == [("lstm", steps), ("xlstm", steps), ("lstm", TEXT.LONGER * steps)]
    assert told["held_out"] == pytest.approx(told["characters"] / 10, abs=1)
    assert told["uniform_bits"] == pytest.approx(math.log2(len(told["alphabet"])))
    for row in told["rows"]:
        assert row["curve"][-1][0] == row["steps"]
        assert row["curve"][-1][2] == row["bits_per_character"]
        assert row["bits_per_character"] < told["unigram_bits"] < told["uniform_bits"]
        assert len(row["sample"]) == told["sampled"] == 300
        assert set(row["prompt"] + row["sample"]) <= set(told["alphabet"])
    assert [r["name"] for r in told["compressors"]] == ["gzip", "bz2", "lzma"]


def test_recorded_speed_is_complete_and_agrees() -> None:
    told = experiments.load("lstm", "speed")["results"]
    names = ["recurrent", "parallel", "chunkwise", "lstm"]
    asked = {(m, T) for m in names for T in told["lengths"]}
    assert {(r["form"], r["length"]) for r in told["rows"]} == asked
    assert [r["chunk"] for r in told["by_chunk"]] == told["chunks"]
    assert not told["skipped"]
    for row in told["rows"] + told["by_chunk"]:
        for what in ("forward", "both"):
            assert 0 < row[f"{what}_fastest"] <= row[f"{what}_seconds"]
            assert row[f"{what}_peak_bytes"] > 0
    assert len(told["agreement"]) == 6
    for row in told["agreement"]:
        assert row["within"]
        assert row["max_difference"] <= row["tolerance"] * row["largest_value"]
    assert any(row["length"] % told["chunk"] for row in told["agreement"])


def test_recorded_memory_grows_as_the_forms_say() -> None:
    told = experiments.load("lstm", "speed")["results"]
    peak = {(r["form"], r["length"]): r["both_peak_bytes"] for r in told["rows"]}
    for T in told["lengths"]:
        if T >= 1024:
            assert 3.4 < peak["parallel", T] / peak["parallel", T // 2] < 4.2
            for form in ("recurrent", "chunkwise", "lstm"):
                assert 1.5 < peak[form, T] / peak[form, T // 2] < 2.4
