"""Two character models of one size: the experiment `text` of this chapter.

The text is what `help("topics")` shows: English prose about Python, part of every
CPython (other releases, slightly other texts: the result says which was read). Many
of its paragraphs stand in several topics. Each is kept once: else much of the end,
which is held out, would stand in the part that the models learn from.

torch's LSTM and a small xLSTM get as many parameters (within 5 %), the same pieces of
text in the same order, and the same optimiser for as many steps. A step of the xlstm
takes several times as long here (its sLSTM is a loop in Python, the LSTM is one call
into C++), so the LSTM also runs a third time, for LONGER times the steps, which is
about as many seconds. Beside their bits
per character stand two kinds of yardstick: what counting characters gives, and what
compressors need for the same characters. A compressor is measured twice: on the
held-out text alone, and on how much longer its file gets when the held-out text
follows the text that the models have learned from.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import math
import re
import time
from collections import Counter
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from autograder.paths import load_module

cells = load_module(Path(__file__).resolve().with_name("experiment_cells.py"))

MODELS = {
    "lstm": lambda symbols: cells.LSTM(symbols, 64, 172),
    "xlstm": lambda symbols: cells.XLSTM(symbols, 120, 4, "ms", conv=True),
}
LONGER = 4
PROMPT = 'the "with" statement '

# %% The text ------------------------------------------------------------------


def topics():
    """All paragraphs of pydoc's topics, each once; lower case, plain ASCII."""
    from pydoc_data.topics import topics

    seen, kept = set(), []
    for paragraph in re.split(r"\n\s*\n", "\n\n".join(topics.values())):
        words = " ".join(paragraph.split())
        if words and words not in seen:
            seen.add(words)
            kept.append(paragraph)
    quotes = str.maketrans("‘’“”–—", "''\"\"--")
    text = "\n\n".join(kept).lower().translate(quotes)
    return text.encode("ascii", "ignore").decode()


def unigram_bits(train, held):
    """Bits per character when only the frequencies in `train` are known."""
    count = Counter(train)
    total = len(train) + len(set(train + held))  # add one: none is impossible
    return -sum(math.log2((count[c] + 1) / total) for c in held) / len(held)


def compressor_bits(train, held):
    """Bits per held-out character of three compressors, alone and after `train`."""
    tools = {
        "gzip": lambda data: gzip.compress(data, 9, mtime=0),
        "bz2": lambda data: bz2.compress(data, 9),
        "lzma": lambda data: lzma.compress(data, preset=9 | lzma.PRESET_EXTREME),
    }
    rows = []
    for name, squeeze in tools.items():
        alone = len(squeeze(held.encode()))
        after = len(squeeze((train + held).encode())) - len(squeeze(train.encode()))
        bits = [round(8 * size / len(held), 4) for size in (alone, after)]
        rows.append({"name": name, "alone": bits[0], "after_training_text": bits[1]})
    return rows


# %% Training, testing, writing ------------------------------------------------


def bits_per_character(model, data, length, device="cpu"):
    """On pieces of `length` characters, of which the second half is counted: every
    character that counts has at least length/2 before it. data: (N,)"""
    half = length // 2
    pieces = data.unfold(0, length + 1, half)  # (pieces, length + 1), overlapping
    total = 0.0
    model.eval()
    with torch.inference_mode():
        for piece in pieces.split(64):
            piece = piece.to(device)
            logits = model(piece[:, :-1])[:, half:]  # (B, half, symbols)
            target = piece[:, 1 + half :]
            total += F.cross_entropy(
                logits.flatten(0, 1), target.flatten(), reduction="sum"
            ).item()
    model.train()
    return total / (len(pieces) * half) / math.log(2)


def sample(model, prompt, count, alphabet, seed, device="cpu", context=128):
    """`count` characters after the prompt, each drawn as likely as the model says."""
    rng = torch.Generator().manual_seed(seed)
    written = [alphabet.index(c) for c in prompt]
    model.eval()
    with torch.inference_mode():
        for _ in range(count):  # reads all again for each character: short, not fast
            seen = torch.tensor([written[-context:]], device=device)
            p = model(seen)[0, -1].softmax(-1).cpu()
            written.append(torch.multinomial(p, 1, generator=rng).item())
    model.train()
    return "".join(alphabet[w] for w in written[len(prompt) :])


def train_text(name, steps, train, held, alphabet, seed, setting, device="cpu"):
    """One model from one seed: its curve, its bits per character, a sample."""
    batch, length = setting["batch"], setting["length"]
    torch.manual_seed(seed)
    model = MODELS[name](len(alphabet)).to(device)
    adam = torch.optim.AdamW(model.parameters(), setting["learning_rate"])
    warm = max(1, steps // 20)  # the rate rises, then falls along a cosine to a tenth
    plan = torch.optim.lr_scheduler.LambdaLR(
        adam,
        lambda s: min((s + 1) / warm, 0.55 + 0.45 * math.cos(math.pi * s / steps)),
    )
    rng = torch.Generator().manual_seed(1000 + seed)  # the same pieces for both
    curve, taken, losses = [], 0.0, []
    for step in range(1, steps + 1):
        began = time.process_time()
        starts = torch.randint(len(train) - length, (batch, 1), generator=rng)
        piece = train[starts + torch.arange(length + 1)].to(device)  # (batch, length+1)
        logits = model(piece[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), piece[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        plan.step()
        taken += time.process_time() - began
        losses.append(loss.item())
        if step % max(1, steps // 8) == 0:
            now = bits_per_character(model, held, length, device)
            seen = sum(losses) / len(losses) / math.log(2)
            curve.append([step, round(seen, 4), round(now, 4), round(taken, 2)])
            losses = []
            print(
                f"  {name:6} step {step:5}  {now:.3f} bits  {taken:.0f} s", flush=True
            )
    return {
        "model": name,
        "seed": seed,
        "steps": steps,
        "parameters": cells.parameters(model),
        "bits_per_character": curve[-1][2],
        "seconds": round(taken, 2),
        "curve": curve,
        "prompt": PROMPT,
        "sample": sample(model, PROMPT, setting["sampled"], alphabet, seed, device),
    }


def text(
    device="cpu",
    seed=0,
    steps=600,
    batch=24,
    length=128,
    rate=4e-3,
    sampled=300,
    characters=None,
):
    """Bits per character of both models; `characters` cuts the text short."""
    whole = topics()[:characters]
    cut = len(whole) * 9 // 10
    train, held = whole[:cut], whole[cut:]
    alphabet = "".join(sorted(set(whole + PROMPT)))
    place = {c: i for i, c in enumerate(alphabet)}
    codes = torch.tensor([place[c] for c in whole])
    setting = {"steps": steps, "batch": batch, "length": length}
    setting |= {"optimizer": "AdamW", "learning_rate": rate, "sampled": sampled}
    print(f"text: {len(whole)} characters, {len(alphabet)} symbols, {steps} steps")
    rows = [
        train_text(name, n, codes[:cut], codes[cut:], alphabet, seed, setting, device)
        for name, n in (("lstm", steps), ("xlstm", steps), ("lstm", LONGER * steps))
    ]
    unigram = round(unigram_bits(train, held), 4)
    compressors = compressor_bits(train, held)
    for row in rows:
        print(
            f"  {row['model']:6} {row['parameters']} parameters, {row['steps']} steps"
            f"  {row['bits_per_character']:.3f} bits per character"
            f"  {row['seconds']:.0f} s"
        )
    print(f"  single characters: {unigram:.3f}")
    for row in compressors:
        print(f"  {row['name']}: {row['alone']}, {row['after_training_text']}")
    return {
        "text": "pydoc_data.topics, every paragraph once",
        "sha256": hashlib.sha256(whole.encode()).hexdigest(),
        "characters": len(whole),
        "held_out": len(held),
        "alphabet": alphabet,
        **setting,
        "curve_columns": ["step", "train_bits", "held_out_bits", "seconds"],
        "unigram_bits": unigram,
        "uniform_bits": round(math.log2(len(alphabet)), 4),
        "compressors": compressors,
        "rows": rows,
    }
