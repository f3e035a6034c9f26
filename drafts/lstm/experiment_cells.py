"""The cells of this chapter's experiments: mLSTM in three forms, sLSTM, and a model.

Written from the formulas of Beck et al. (2024), "xLSTM: Extended Long Short-Term
Memory". Shapes are those of torch code: (B, T, C) between layers, (B, H, T, D)
inside a head. `i` and `f` are the input and the forget gate *before* their
activation: the input gate is exp(i), the forget gate sigmoid(f).

Why a stabiliser m: exp(i) overflows a float32 from i = 89 on. Memory C and
normaliser n are therefore both kept divided by exp(m), where m follows the largest
exponent so far. h is a quotient of the two, so m cancels: any m gives the same h.

What is left out of the paper's blocks: the widening projections around the mLSTM,
the feed-forward layer after the sLSTM, the learnable skips, the gates' special start
(a layer here starts with the forget bias alone). The causal convolution is optional.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

# %% mLSTM: one memory, three ways to read it ----------------------------------
# q, k, v: (B, H, T, D)   i, f: (B, H, T)   result: (B, H, T, D)


def mlstm_recurrent(q, k, v, i, f):
    """Token after token, the memory C in hand: T steps, each O(D^2)."""
    B, H, _, D = q.shape
    k, logf = k / math.sqrt(D), F.logsigmoid(f)
    C = q.new_zeros(B, H, D, D)  # rows: of the value, columns: of the key
    n = q.new_zeros(B, H, D)
    m = q.new_full((B, H), -math.inf)
    out = []
    steps = (x.unbind(2) for x in (q, k, v, i, logf))
    for qt, kt, vt, it, ft in zip(*steps, strict=True):  # (B, H, D), gates (B, H)
        m_new = torch.maximum(ft + m, it)
        keep = (ft + m - m_new).exp()[..., None]  # f', (B, H, 1)
        write = (it - m_new).exp()[..., None] * kt  # i' k, (B, H, D)
        C = keep[..., None] * C + vt[..., None] * write[..., None, :]  # v k^T
        n = keep * n + write
        m = m_new
        above = (C @ qt[..., None])[..., 0]  # (B, H, D)
        below = (n * qt).sum(-1, keepdim=True).abs()  # (B, H, 1)
        out.append(above / torch.maximum(below, (-m)[..., None].exp()))
    return torch.stack(out, 2)


def mlstm_parallel(q, k, v, i, f):
    """All tokens at once, as attention does it: a (T, T) matrix, no loop.

    What token s wrote has, when token t reads it, been through the forget gates of
    s+1..t. Summed in logarithms: log_d[t, s] = i_s + sum of log f over s+1..t.
    """
    T, D = q.shape[-2:]
    summed = F.logsigmoid(f).cumsum(-1)  # (B, H, T)
    log_d = summed[..., :, None] - summed[..., None, :] + i[..., None, :]  # (B,H,T,T)
    future = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1)
    log_d = log_d.masked_fill(future, -math.inf)
    m = log_d.amax(-1, keepdim=True)  # (B, H, T, 1): the recurrent form's m_t
    weights = q @ (k / math.sqrt(D)).mT * (log_d - m).exp()
    below = weights.sum(-1, keepdim=True).abs()
    return weights @ v / torch.maximum(below, (-m).exp())


def mlstm_chunkwise(q, k, v, i, f, chunk=64):
    """Parallel inside a chunk, recurrent from chunk to chunk: T/chunk steps.

    A token reads two things: the memory as the chunks before left it (C, n, at
    scale exp(m)), and the tokens of its own chunk, as in the parallel form.
    """
    B, H, _, D = q.shape
    k, logf = k / math.sqrt(D), F.logsigmoid(f)
    C = q.new_zeros(B, H, D, D)
    n = q.new_zeros(B, H, D, 1)
    m = q.new_full((B, H, 1), -math.inf)
    out = []
    parts = (x.split(chunk, 2) for x in (q, k, v, i, logf))
    for qc, kc, vc, ic, fc in zip(*parts, strict=True):
        L = qc.shape[2]  # the last chunk may be shorter
        summed = fc.cumsum(-1)  # (B, H, L)
        future = torch.ones(L, L, dtype=torch.bool, device=q.device).triu(1)
        log_d = summed[..., :, None] - summed[..., None, :] + ic[..., None, :]
        log_d = log_d.masked_fill(future, -math.inf)  # (B, H, L, L)
        before = summed + m  # (B, H, L): exponent of the old memory at each token
        top = torch.maximum(log_d.amax(-1), before)[..., None]  # (B, H, L, 1)
        weights = qc @ kc.mT * (log_d - top).exp()
        aged = (before[..., None] - top).exp() * qc  # (B, H, L, D)
        above = weights @ vc + aged @ C.mT
        below = (weights.sum(-1, keepdim=True) + aged @ n).abs()
        out.append(above / torch.maximum(below, (-top).exp()))
        # the memory that this chunk leaves: the old one aged, each token added
        log_w = summed[..., -1:] - summed + ic  # (B, H, L)
        m_new = torch.maximum(summed[..., -1:] + m, log_w.amax(-1, keepdim=True))
        keep = (summed[..., -1:] + m - m_new).exp()[..., None]  # (B, H, 1, 1)
        write = (log_w - m_new).exp()[..., None] * kc  # (B, H, L, D)
        C = keep * C + vc.mT @ write
        n = keep * n + write.sum(-2)[..., None]
        m = m_new
    return torch.cat(out, 2)


# %% sLSTM ---------------------------------------------------------------------


def slstm(pre, R):
    """A scalar memory per unit, and what mLSTM has not: gates that see h_{t-1}.

    pre: (B, T, 4 C), what the input gives to i, f, z, o (in this order).
    R  : (C, 4 C), what h_{t-1} gives to them; zero between different heads.
    result: (B, T, C)
    """
    B, C = pre.shape[0], R.shape[0]
    h = c = n = pre.new_zeros(B, C)
    m = pre.new_full((B, C), -math.inf)
    out = []
    for x in pre.unbind(1):
        i, f, z, o = torch.addmm(x, h, R).chunk(4, -1)  # x + h R, cut: (B, C) each
        aged = F.logsigmoid(f) + m
        m = torch.maximum(aged, i)
        keep, write = (aged - m).exp(), (i - m).exp()  # f', i'
        c = keep * c + write * z.tanh()
        n = keep * n + write
        h = o.sigmoid() * c / n
        out.append(h)
    return torch.stack(out, 1)


# %% Layers: (B, T, C) -> (B, T, C) --------------------------------------------


class CausalConv(nn.Module):
    """Each channel mixed with its own last `width` values, then SiLU."""

    def __init__(self, d, width=4):
        super().__init__()
        self.conv = nn.Conv1d(d, d, width, groups=d, padding=width - 1)

    def forward(self, x):
        return F.silu(self.conv(x.mT)[..., : x.shape[1]].mT)


class MLSTM(nn.Module):
    """mLSTM: q, k, v and an output gate per unit, input and forget gate per head."""

    def __init__(self, d, heads, conv=False, form=mlstm_parallel):
        super().__init__()
        self.heads, self.form = heads, form
        self.conv = CausalConv(d) if conv else nn.Identity()  # for q and k, not v
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.gates = nn.Linear(d, 2 * heads)
        with torch.no_grad():  # forget gates from .95 to .998: memories of many ages
            self.gates.bias[heads:] = torch.linspace(3, 6, heads)
        self.norm = nn.GroupNorm(heads, d)  # every head by itself
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        mixed = self.conv(x)
        q, k, v = (
            y.view(B, T, self.heads, -1).transpose(1, 2)  # (B, H, T, D)
            for y in (self.q(mixed), self.k(mixed), self.v(x))
        )
        i, f = self.gates(x).mT.chunk(2, 1)  # (B, H, T)
        h = self.form(q, k, v, i, f)  # (B, H, T, D)
        h = self.norm(h.transpose(1, 2).reshape(B * T, d)).view(B, T, d)
        return self.out(self.o(x).sigmoid() * h)


class SLSTM(nn.Module):
    """sLSTM; `recurrent=False` cuts the one path from h_{t-1} to the gates."""

    def __init__(self, d, heads, conv=False, recurrent=True):
        super().__init__()
        self.conv = CausalConv(d) if conv else nn.Identity()  # for i and f
        self.i_f, self.z_o = nn.Linear(d, 2 * d), nn.Linear(d, 2 * d)
        D = d // heads
        R = torch.randn(4, heads, D, D) / math.sqrt(D)  # one block per gate and head
        self.R = nn.Parameter(R if recurrent else 0 * R, requires_grad=recurrent)
        with torch.no_grad():
            self.i_f.bias[d:] = torch.linspace(3, 6, d)
        self.norm = nn.GroupNorm(heads, d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        pre = torch.cat([self.i_f(self.conv(x)), self.z_o(x)], -1)  # (B, T, 4 d)
        R = torch.cat([torch.block_diag(*gate) for gate in self.R], 1)  # (d, 4 d)
        h = slstm(pre, R)  # (B, T, d)
        return self.out(self.norm(h.reshape(B * T, d)).view(B, T, d))


# %% Models: tokens (B, T) -> logits (B, T, symbols) ---------------------------


class XLSTM(nn.Module):
    """Pre-LayerNorm residual blocks around mLSTM ("m") and sLSTM ("s") layers."""

    def __init__(self, symbols, d, heads, blocks, conv=False, recurrent=True):
        super().__init__()
        self.embed = nn.Embedding(symbols, d)
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in blocks)
        self.layers = nn.ModuleList(
            MLSTM(d, heads, conv) if b == "m" else SLSTM(d, heads, conv, recurrent)
            for b in blocks
        )
        self.head = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, symbols))

    def forward(self, tokens):
        x = self.embed(tokens)  # (B, T, d)
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x = x + layer(norm(x))
        return self.head(x)


class LSTM(nn.Module):
    """torch's own LSTM between an embedding and a linear head."""

    def __init__(self, symbols, d, hidden, layers=1):
        super().__init__()
        self.embed = nn.Embedding(symbols, d)
        self.lstm = nn.LSTM(d, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, symbols)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0])


def parameters(model):
    """How many numbers training may change."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
