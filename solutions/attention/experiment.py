"""The recorded experiments of the chapter `attention`.

    python solutions/attention/experiment.py all      # cost, map and scale
    python solutions/attention/experiment.py cost     # seconds and bytes against T
    python solutions/attention/experiment.py cost --device cuda    # at GPT-3's widths
    python solutions/attention/experiment.py map      # experiment_map.py
    python solutions/attention/experiment.py scale    # why sqrt(d_k)

Each writes `results/<name>.json` beside this file; the page plots them.
Shapes are those of torch code: (B, H, T, D), one row per token.

**How time is measured.** The median of repeated calls, after one to warm up. On a CPU
one thread works, and its processor seconds are counted: on a machine with nothing
else to do they are the seconds of the clock. On a GPU it is the clock, from one
synchronisation to the next.

**How memory is measured.** What counts is the most that is in use at one moment of
the call, beyond the inputs; the output is part of it. `peak_bytes` is the allocator's
own book of that, on a CPU (through torch's profiler) as on a GPU
(`torch.cuda.max_memory_allocated`), so the two can be compared. On a Linux CPU
`os_peak_bytes` is beside it: how far the operating system saw the process grow. That
mark is one per process, hence every (method, T) runs in a process of its own.
`autograder/pages/measure.py` says more.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))  # `autograder`, even where it is not installed

from autograder.pages.experiments import record  # noqa: E402
from autograder.pages.measure import peak_bytes, resident_peak, seconds  # noqa: E402

# %% Three ways to the same causal attention -----------------------------------


def naive(q, k, v):
    """Causal attention as the formula says it: the (T, T) scores exist."""
    T, D = q.shape[-2:]
    future = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1)
    scores = (q / math.sqrt(D)) @ k.mT  # (B, H, T, T)
    scores = scores.masked_fill(future, -math.inf)
    return scores.softmax(-1) @ v  # (B, H, T, D)


def blockwise(q, k, v, block=128):
    """Causal attention one (block, block) tile of scores at a time.

    The online softmax: each row keeps its largest score so far (`top`), the sum
    of its exponentials (`total`) and its weighted values (`out`). A larger score
    shrinks what was gathered before by exp(old top - new top).
    """
    B, H, T, D = q.shape
    result = torch.empty_like(q)
    wide = torch.promote_types(q.dtype, torch.float32)  # sums: at least float32
    for i in range(0, T, block):
        rows = q[:, :, i : i + block] / math.sqrt(D)  # (B, H, n, D)
        n = rows.shape[2]
        top = torch.full((B, H, n, 1), -math.inf, dtype=wide, device=q.device)
        total = torch.zeros_like(top)
        out = torch.zeros(B, H, n, D, dtype=wide, device=q.device)
        for j in range(0, i + n, block):  # tiles right of the diagonal: all future
            keys, values = k[:, :, j : j + block], v[:, :, j : j + block]
            scores = (rows @ keys.mT).to(wide)  # (B, H, n, m)
            if j == i:  # the tile on the diagonal is half future
                future = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
                scores = scores.masked_fill(future, -math.inf)
            new_top = torch.maximum(top, scores.amax(-1, keepdim=True))
            shrink = (top - new_top).exp()
            weights = (scores - new_top).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            out = out * shrink + weights.to(v.dtype) @ values
            top = new_top
        result[:, :, i : i + n] = out / total
    return result


def sdpa(q, k, v):
    """The same from the library, which chooses a fused kernel where it has one."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


# %% cost: seconds and bytes against T -----------------------------------------

# CPU: 4 heads as wide as GPT-3's. GPU: all 96 heads of one GPT-3 layer.
SIZES = {
    "cpu": {
        "heads": 4,
        "d_head": 128,
        "block": 128,
        "dtypes": ["float32"],
        "lengths": [128, 256, 512, 1024, 2048, 4096, 8192, 16384],
    },
    "cuda": {
        "heads": 96,
        "d_head": 128,
        "block": 512,  # fewer, larger kernels
        "dtypes": ["bfloat16", "float32"],
        "lengths": [512, 1024, 2048, 4096, 8192, 16384, 32768],
    },
}
CPU_LIMIT = 4 * 2**30  # a naive run that needs more bytes than this is skipped
# Largest allowed |difference| from a float64 reference, inputs from N(0, 1). A
# bfloat16 keeps 8 significant bits, so a value near 4 is off by up to 0.008 as stored.
TOLERANCE = {"float32": 1e-5, "bfloat16": 4e-2}


def make_inputs(heads, T, d_head, dtype, device, seed):
    """q, k, v of shape (1, heads, T, d_head), each entry from N(0, 1)."""
    rng = torch.Generator(device).manual_seed(seed)
    how = {"generator": rng, "device": device, "dtype": getattr(torch, dtype)}
    return [torch.randn(1, heads, T, d_head, **how) for _ in range(3)]


def methods(block):
    """The three, each a function of q, k, v."""
    return {"naive": naive, "blockwise": partial(blockwise, block=block), "sdpa": sdpa}


def measure(method, T, heads, d_head, block, dtype, device, seed):
    """One row of the result: a method at one length (on a CPU: in its own process)."""
    fn = methods(block)[method]
    q, k, v = make_inputs(heads, T, d_head, dtype, device, seed)
    size = q.element_size()
    row = {
        "method": method,
        "dtype": dtype,
        "length": T,
        "score_bytes": heads * T * T * size,  # one (T, T) matrix per head
        "output_bytes": heads * T * d_head * size,
        "flops": 4 * heads * T * T * d_head,  # two products over all T x T pairs
    }
    call = lambda: fn(q, k, v)  # noqa: E731
    with torch.inference_mode():
        fn(*(x[:, :, :64] for x in (q, k, v)))  # libraries load what they need
        # the operating system first: its mark must not see the profiler
        if device == "cpu":
            row["os_peak_bytes"] = resident_peak(call)
        if device == "cpu":  # one thread: its own seconds, whoever else is busy
            taken = seconds(call, most=50, patience=3, clock=time.process_time)
        else:
            taken = seconds(call, device, most=50, patience=1)
        row["peak_bytes"] = peak_bytes(call, device)
    row["seconds"] = round(statistics.median(taken), 6)
    row["fastest"] = round(min(taken), 6)
    row["repeats"] = len(taken)
    return row


def measure_apart(**point):
    """`measure` in a fresh process: a clean high-water mark for every row."""
    ask = [sys.executable, str(HERE / "experiment.py"), "point", json.dumps(point)]
    done = subprocess.run(ask, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{point} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def agreement(T, heads, d_head, block, dtype, device, seed):
    """Each method's largest difference from the formula in float64."""
    rows, tolerance = [], TOLERANCE[dtype]
    inputs = make_inputs(heads, T, d_head, dtype, device, seed)
    with torch.inference_mode():
        exact = naive(*(x.double() for x in inputs))
        for name, fn in methods(block).items():
            difference = (fn(*inputs).double() - exact).abs().max().item()
            within = difference <= tolerance
            print(
                f"  {name:10} {dtype:9} T={T:6}  differs from float64 by"
                f" {difference:.1e}  ({'within' if within else 'NOT WITHIN'} {tolerance})"
            )
            rows.append(
                {
                    "method": name,
                    "dtype": dtype,
                    "length": T,
                    "max_difference": float(f"{difference:.3g}"),
                    "tolerance": tolerance,
                    "within": within,
                }
            )
    return rows


def attempt(point):
    """`measure`, or the reason (a string) why there is no row."""
    T, dtype = point["T"], getattr(torch, point["dtype"])
    need = 2 * point["heads"] * T * T * dtype.itemsize  # scores before, after softmax
    if point["device"] == "cpu":
        if point["method"] == "naive" and need > CPU_LIMIT:
            return f"would need {need / 2**30:.0f} GiB, above the limit set here"
        return measure_apart(**point)
    try:
        return measure(**point)
    except torch.OutOfMemoryError:
        return "the GPU's memory is too small"
    finally:
        torch.cuda.empty_cache()


def cost(device="cpu", seed=0, sizes=None):
    """Seconds and peak bytes of the three methods for growing T."""
    sizes = dict(sizes or SIZES[device])
    lengths, dtypes = sizes.pop("lengths"), sizes.pop("dtypes")
    torch.set_float32_matmul_precision("highest")  # no TF32: float32 means float32
    started = time.perf_counter()
    print(f"cost on {device}: {sizes['heads']} heads x {sizes['d_head']}, causal")
    agree, rows, skipped = [], [], []
    for dtype in dtypes:
        setting = sizes | {"dtype": dtype, "device": device, "seed": seed}
        odd = min(1000, max(lengths) - 1)  # no multiple of the block
        agree += agreement(odd, **setting)
        for name in methods(1):
            for T in lengths:
                row = attempt({"method": name, "T": T} | setting)
                label = f"  {name:10} {dtype:9} T={T:6}"
                if isinstance(row, str):
                    print(f"{label}  {row}")
                    gap = {"method": name, "dtype": dtype, "length": T, "why": row}
                    skipped.append(gap)
                    continue
                rows.append(row)
                print(
                    f"{label}  {row['seconds']:9.4f} s"
                    f"  {row['peak_bytes'] / 2**20:9.1f} MiB"
                    f"  (T x T: {row['score_bytes'] / 2**20:.1f} MiB)",
                    flush=True,
                )
    print(f"  {time.perf_counter() - started:.0f} s in all")
    clock = "processor seconds of one thread" if device == "cpu" else "wall clock"
    told = {
        "clock": clock,
        "batch": 1,
        **sizes,
        "causal": True,
        "dtypes": dtypes,
        "lengths": lengths,
    }
    return told | {"agreement": agree, "rows": rows, "skipped": skipped}


# %% scale: why sqrt(d_k) ------------------------------------------------------


def scale(seed=0, widths=(4, 8, 16, 32, 64, 128, 256, 512, 1024), seeds=5, queries=500):
    """Scores of random queries and keys, and what softmax makes of them.

    Every entry of q and k is drawn from N(0, 1). A query meets 64 keys. Per width
    and seed: the variance of q.k, the mean largest softmax weight, the mean Frobenius
    norm of the softmax Jacobian diag(p) - p p^T (what a gradient is multiplied by on
    its way back through the softmax), and the share of saturated queries: those that
    give more than 0.99 of their weight to one key.
    """
    n_keys, rows = 64, []
    print(f"scale: {queries} queries x {n_keys} keys, {seeds} seeds")
    for d in widths:
        runs = []
        for s in range(seed, seed + seeds):
            rng = torch.Generator().manual_seed(s)
            q = torch.randn(queries, 1, d, generator=rng)
            k = torch.randn(queries, n_keys, d, generator=rng)
            dots = (q * k).sum(-1)  # (queries, n_keys)
            run = {"variance": dots.var().item()}
            for name, x in (("unscaled", dots), ("scaled", dots / math.sqrt(d))):
                p = x.softmax(-1)
                square = p.pow(2).sum(-1)
                norm = (square - 2 * p.pow(3).sum(-1) + square**2).clamp(min=0).sqrt()
                run[f"max_weight_{name}"] = p.amax(-1).mean().item()
                run[f"jacobian_{name}"] = norm.mean().item()
                run[f"saturated_{name}"] = (p.amax(-1) > 0.99).float().mean().item()
            runs.append(run)
        row = {"d": d}
        for key in runs[0]:
            values = [run[key] for run in runs]
            row[key] = round(statistics.mean(values), 4)
            row[f"{key}_sd"] = round(statistics.stdev(values), 4)
        rows.append(row)
        print(
            f"  d={d:5}  Var(q.k) {row['variance']:8.2f}  largest weight"
            f"  unscaled {row['max_weight_unscaled']:.3f}"
            f"  scaled {row['max_weight_scaled']:.3f}"
        )
    return {"keys": n_keys, "queries": queries, "seeds": seeds, "rows": rows}


# %% The command line ----------------------------------------------------------


def main(argv=None):
    parser = argparse.ArgumentParser(
        description="Run the recorded experiments of the chapter attention.",
        epilog="Example: python solutions/attention/experiment.py cost --device cpu",
    )
    parser.add_argument("name", choices=["all", "cost", "map", "scale", "point"])
    parser.add_argument("point", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=HERE / "results", help="folder of the result files"
    )
    args = parser.parse_args(argv)
    torch.set_num_threads(1)  # a row is then about the method, not about the cores

    if args.name == "point":  # one row, asked for by measure_apart
        print(json.dumps(measure(**json.loads(args.point))))
        return 0
    if args.device == "cuda" and not torch.cuda.is_available():
        print("no CUDA device: nothing was measured")
        return 0

    for name in ["scale", "map", "cost"] if args.name == "all" else [args.name]:
        file, device = name, "cpu"
        command = f"python solutions/attention/experiment.py {name} --seed {args.seed}"
        if name == "cost":
            device = args.device
            command += f" --device {device}"
            file = "cost" if device == "cpu" else f"cost_{device}"
            results = cost(device, args.seed)
        elif name == "map":
            from experiment_map import attention_map

            results = attention_map()
        else:
            results = scale(args.seed)
        target = args.out / f"{file}.json"
        record(target, results, command=command, seed=args.seed, device=device)
        print(f"  written: {target.parent.name}/{target.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
