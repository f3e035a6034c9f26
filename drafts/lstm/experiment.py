"""The recorded experiments of the chapter `lstm`.

    python solutions/lstm/experiment.py all       # parity, text and speed
    python solutions/lstm/experiment.py parity    # what only a recurrence of h can do
    python solutions/lstm/experiment.py text      # experiment_text.py
    python solutions/lstm/experiment.py speed     # three forms of one mLSTM layer
    python solutions/lstm/experiment.py speed --device cuda    # wider, longer

Each writes `results/<name>.json` beside this file; the page plots them. The cells and
the models are in `experiment_cells.py`. Shapes are those of torch code: (B, T, C).

**How time is measured.** On a CPU one thread works, and its processor seconds are
counted: on a machine with nothing else to do they are the seconds of the clock. On a
GPU it is the clock, from one synchronisation to the next.

**How memory is measured.** The most that is in use at one moment of the call, beyond
the inputs and the weights, by the book of torch's own allocator.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))  # `autograder`, even where it is not installed

from autograder.pages.experiments import record  # noqa: E402
from autograder.pages.measure import peak_bytes, seconds  # noqa: E402
from autograder.paths import load_module  # noqa: E402

cells = load_module(HERE / "experiment_cells.py")
text = load_module(HERE / "experiment_text.py").text

# %% parity: what only a recurrence of h can do --------------------------------

TRAIN, LONG = 16, 40  # longest string in training, longest in the test
PARITY_MODELS = {
    "lstm": lambda: cells.LSTM(2, 2, 32),
    "mlstm": lambda: cells.XLSTM(2, 20, 2, "mm"),
    "slstm": lambda: cells.XLSTM(2, 18, 3, "ss"),
    # the same, its gates blind to h_{t-1} (and wider: R's parameters are gone)
    "slstm_blind": lambda: cells.XLSTM(2, 20, 2, "ss", recurrent=False),
}


def strings(count, length, rng):
    """Random bits (count, length), and at each place the parity up to there."""
    bits = torch.randint(2, (count, length), generator=rng)
    return bits, bits.cumsum(1) % 2


def accuracies(model, count, rng, device="cpu"):
    """Of fresh strings of each length 1..LONG: how often the parity is right."""
    bits, parity = strings(count, LONG, rng)
    with torch.inference_mode():
        right = model(bits.to(device)).argmax(-1).cpu() == parity  # (count, LONG)
    return [round(x, 4) for x in right.float().mean(0).tolist()]


def train_parity(name, seed, steps, batch, test, rate, device="cpu"):
    """One model from one seed: its curve, and its accuracy at every length.

    A string of 16 bits asks 16 questions, one for each string that it starts with:
    all models are causal, so the answer at place t knows nothing of what follows.
    """
    torch.manual_seed(seed)
    model = PARITY_MODELS[name]().to(device)
    adam = torch.optim.Adam(model.parameters(), rate)
    rng = torch.Generator().manual_seed(1000 + seed)  # the same strings for all
    curve, window, began = [], [], time.process_time()
    for step in range(1, steps + 1):
        bits, parity = (x.to(device) for x in strings(batch, TRAIN, rng))
        logits = model(bits)  # (batch, TRAIN, 2)
        loss = F.cross_entropy(logits.flatten(0, 1), parity.flatten())
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        last = (logits[:, -1].argmax(-1) == parity[:, -1]).float().mean()
        window.append((loss.item(), last.item()))
        if step % max(1, steps // 40) == 0:  # means since the last point
            means = [round(statistics.mean(x), 4) for x in zip(*window, strict=True)]
            curve.append([step, *means])
            window = []
    taken = time.process_time() - began
    model.eval()
    right = accuracies(model, test, torch.Generator().manual_seed(2000 + seed), device)
    return {
        "model": name,
        "seed": seed,
        "parameters": cells.parameters(model),
        "accuracy_16": right[TRAIN - 1],
        "accuracy_40": right[LONG - 1],
        "seconds": round(taken, 2),
        "by_length": right,  # lengths 1..40
        "curve": curve,  # [step, loss, accuracy at length 16]
    }


def parity(device="cpu", seed=0, seeds=3, steps=1500, batch=64, test=4096, rate=5e-3):
    """LSTM and mLSTM on parity; sLSTM with and without h_{t-1} says why."""
    print(f"parity: {steps} steps of {batch} strings of {TRAIN} bits, {seeds} seeds")
    rows = []
    for name in PARITY_MODELS:
        for s in range(seed, seed + seeds):
            row = train_parity(name, s, steps, batch, test, rate, device)
            rows.append(row)
            print(
                f"  {name:12} seed {s}  {row['parameters']} parameters"
                f"  right at 16: {row['accuracy_16']:.3f}"
                f"  at 40: {row['accuracy_40']:.3f}  {row['seconds']:.1f} s",
                flush=True,
            )
    return {
        "train_length": TRAIN,
        "long_length": LONG,
        "seeds": seeds,
        "steps": steps,
        "batch": batch,
        "test_strings": test,
        "optimizer": "Adam",
        "learning_rate": rate,
        "curve_columns": ["step", "loss", "accuracy_16"],
        "rows": rows,
    }


# %% speed: three forms of one mLSTM layer -------------------------------------

SIZES = {
    "cpu": {
        "d": 128,
        "heads": 4,
        "chunk": 64,
        "lengths": [64, 128, 256, 512, 1024, 2048, 4096],
        "chunks": [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    },
    "cuda": {
        "d": 1024,
        "heads": 8,
        "chunk": 128,
        "lengths": [256, 512, 1024, 2048, 4096, 8192, 16384],
        "chunks": [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384],
    },
}
# Largest allowed |difference| of a form in float32 from the recurrent one in float64,
# as a share of the largest |value| of h. The parallel form takes differences of sums
# of up to T logarithms, and loses digits as T grows: hence not 1e-6.
TOLERANCE = 1e-4


def forms(chunk):
    """The three, each a function of q, k, v, i, f."""
    return {
        "recurrent": cells.mlstm_recurrent,
        "parallel": cells.mlstm_parallel,
        "chunkwise": partial(cells.mlstm_chunkwise, chunk=chunk),
    }


def agreement(T, d, heads, chunk, device, seed):
    """Each form's largest difference from the recurrent one in float64.

    Inputs from N(0, 1), forget gates as a layer starts with them.
    """
    rng = torch.Generator(device).manual_seed(seed)
    draw = partial(torch.randn, generator=rng, device=device)
    q, k, v = (draw(1, heads, T, d // heads) for _ in range(3))
    i, f = draw(1, heads, T), draw(1, heads, T)
    f = f + torch.linspace(3, 6, heads, device=device)[:, None]
    rows = []
    with torch.inference_mode():
        exact = cells.mlstm_recurrent(*(x.double() for x in (q, k, v, i, f)))
        largest = exact.abs().max().item()
        for name, form in forms(chunk).items():
            off = (form(q, k, v, i, f).double() - exact).abs().max().item()
            within = off <= TOLERANCE * largest
            print(
                f"  {name:10} T={T:6}  differs from float64 by {off:.1e}, values up to"
                f" {largest:.0f}  ({'within' if within else 'NOT WITHIN'} {TOLERANCE})"
            )
            rows.append(
                {
                    "form": name,
                    "length": T,
                    "max_difference": float(f"{off:.3g}"),
                    "largest_value": float(f"{largest:.3g}"),
                    "tolerance": TOLERANCE,
                    "within": within,
                }
            )
    return rows


def make_layer(name, d, heads, chunk, device, seed):
    """A layer (1, T, d) -> (1, T, d): an mLSTM in one form, or torch's LSTM."""
    torch.manual_seed(seed)  # every form gets the same weights
    if name == "lstm":
        return nn.LSTM(d, d, batch_first=True).to(device)
    return cells.MLSTM(d, heads, form=forms(chunk)[name]).to(device)


def measure(name, T, d, heads, chunk, device, seed):
    """One row: seconds and peak bytes, forward alone and with the way back."""
    layer = make_layer(name, d, heads, chunk, device, seed)
    rng = torch.Generator(device).manual_seed(seed)
    x = torch.randn(1, T, d, generator=rng, device=device)

    def forward():
        with torch.inference_mode():
            y = layer(x)
            return y[0] if name == "lstm" else y

    def both():
        y = layer(x)
        (y[0] if name == "lstm" else y).square().mean().backward()
        layer.zero_grad()

    row = {"form": name, "length": T, "chunk": chunk}
    if name != "chunkwise":
        del row["chunk"]
    clock = time.process_time if device == "cpu" else time.perf_counter
    for what, call in (("forward", forward), ("both", both)):
        taken = seconds(call, device, most=20, patience=0.5, clock=clock)
        row[f"{what}_seconds"] = round(statistics.median(taken), 6)
        row[f"{what}_fastest"] = round(min(taken), 6)
        row[f"{what}_peak_bytes"] = peak_bytes(call, device)
    return row


def show(row):
    label = row["form"] + (f" ({row['chunk']})" if "chunk" in row else "")
    print(
        f"  {label:16} T={row['length']:6}  forward {row['forward_seconds']:8.4f} s"
        f" {row['forward_peak_bytes'] / 2**20:8.1f} MiB   and back"
        f" {row['both_seconds']:8.4f} s {row['both_peak_bytes'] / 2**20:8.1f} MiB",
        flush=True,
    )


def overtakes(rows, fast, slow, key):
    """The length from which on `fast` takes less than `slow`; None: not at the end."""
    per = {
        n: {r["length"]: r[key] for r in rows if r["form"] == n} for n in (fast, slow)
    }
    since = None
    for T in sorted(per[fast].keys() & per[slow].keys(), reverse=True):
        if per[fast][T] >= per[slow][T]:
            break
        since = T
    return since


def attempt(rows, skipped, point):
    """Measure, or write down the reason why there is no row."""
    try:
        rows.append(measure(**point))
        show(rows[-1])
    except torch.OutOfMemoryError:
        gap = {"form": point["name"], "length": point["T"], "chunk": point["chunk"]}
        skipped.append(gap | {"why": "the GPU's memory is too small"})
        print(f"  {point['name']:16} T={point['T']:6}  {skipped[-1]['why']}")
    if point["device"] != "cpu":
        torch.cuda.empty_cache()


def speed(device="cpu", seed=0, sizes=None):
    """Seconds and bytes of the forms for growing T, then for growing chunks."""
    sizes = dict(sizes or SIZES[device])
    lengths, chunks = sizes.pop("lengths"), sizes.pop("chunks")
    torch.set_float32_matmul_precision("highest")  # no TF32: float32 means float32
    setting = sizes | {"device": device, "seed": seed}
    print(f"speed on {device}: width {sizes['d']}, {sizes['heads']} heads")
    odd = min(1000, max(lengths) - 1)  # no multiple of the chunk
    agree = agreement(odd, **setting) + agreement(max(lengths), **setting)
    rows, by_chunk, skipped = [], [], []
    for name in ("recurrent", "parallel", "chunkwise", "lstm"):
        for T in lengths:
            attempt(rows, skipped, setting | {"name": name, "T": T})
    print("  chunkwise, the longest input, by chunk:")
    for chunk in chunks:
        point = setting | {"name": "chunkwise", "T": max(lengths), "chunk": chunk}
        attempt(by_chunk, skipped, point)
    pairs = [("parallel", "recurrent"), ("chunkwise", "recurrent")]
    pairs += [("chunkwise", "parallel"), ("chunkwise", "lstm")]
    return {
        "clock": "processor seconds of one thread" if device == "cpu" else "wall clock",
        "batch": 1,
        "dtype": "float32",
        **sizes,
        "lengths": lengths,
        "chunks": chunks,
        "agreement": agree,
        "rows": rows,
        "by_chunk": by_chunk,
        "faster_from": [  # the length from which on the first takes less than the second
            {"form": a, "than": b}
            | {w: overtakes(rows, a, b, f"{w}_seconds") for w in ("forward", "both")}
            for a, b in pairs
        ],
        "skipped": skipped,
    }


# %% The command line ----------------------------------------------------------


def main(argv=None):
    parser = argparse.ArgumentParser(
        description="Run the recorded experiments of the chapter lstm.",
        epilog="Example: python solutions/lstm/experiment.py speed --device cpu",
    )
    parser.add_argument("name", choices=["all", "parity", "text", "speed"])
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=HERE / "results", help="folder of the result files"
    )
    args = parser.parse_args(argv)
    torch.set_num_threads(1)  # a row is then about the method, not about the cores
    if args.device == "cuda" and not torch.cuda.is_available():
        print("no CUDA device: nothing was measured")
        return 0

    for name in ["parity", "text", "speed"] if args.name == "all" else [args.name]:
        began = time.perf_counter()
        run = {"parity": parity, "text": text, "speed": speed}[name]
        results = run(args.device, args.seed)
        print(f"  {time.perf_counter() - began:.0f} s in all")
        command = f"python solutions/lstm/experiment.py {name} --seed {args.seed}"
        command += f" --device {args.device}"
        target = args.out / (
            f"{name}.json" if args.device == "cpu" else f"{name}_{args.device}.json"
        )
        record(target, results, command=command, seed=args.seed, device=args.device)
        print(f"  written: {target.parent.name}/{target.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
