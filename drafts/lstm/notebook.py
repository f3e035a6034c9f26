# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # LSTM and xLSTM: exercises
#
# A machine that reads one symbol after the other cannot look back. What it will need
# later it must carry along, in a memory of fixed size. So at every step it has to decide
# **what to keep**: what to forget of the old, what to write of the new, what to say
# aloud. Three numbers between 0 and 1 decide, for each cell of the memory: three
# *gates*. This notebook builds such a memory from pencil and paper up to its newest
# form, the xLSTM, whose memory is a matrix and whose steps can all be done at once.
#
# | part | you build | exercises | points |
# |---|---|---|---|
# | By hand | three steps of an LSTM on small numbers | 1 to 3 | 8 |
# | The machine | a cell, gate orders, a sequence, pieces of a sequence | 4 to 7 | 12 |
# | What the gates keep | a product of gates, the forget bias, half-lives | 8 to 10 | 8 |
# | xLSTM | exponential gates, a matrix memory, a bug to find | 11 to 13 | 10 |
# | All at once | the decay matrix, the parallel form, chunks | 14 to 16 | 11 |
# | What recurrence is for | parity, trained and explained; the price | 17 to 19 | 10 |
#
# **How to work.** Under every exercise stands a *Predict first* line. Answer it in your
# head before you type. Then fill in the cell, run it, and run the check below it. A check
# shows which cases pass, and, where it recognises a mistake, what may have been
# misunderstood. (Exercise 18 is answered in words and read by a person.) No check
# depends on an earlier answer, so skip what you are stuck on. Some checks have
# further cases that run only when the work is graded. Everything together is about
# five hours.
#
# **What you may use.** Anything in `torch` and `numpy`, unless the exercise is to
# write that very thing. Never change an argument in place.

# %% id="setup"
import math
from contextlib import suppress

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, randn, worksheet

# %% [markdown]
# ## By hand: three inputs, two memories
#
# In this first part a vector stands upright, as a column. The memory $C$ has two cells;
# so has the *hidden state* $h$, which is what the machine says aloud at each step.
#
# Each step joins the new input $x_t$ and what was said last to one column
# $z_t = \begin{pmatrix} x_t \\ h_{t-1} \end{pmatrix}$, and does this:
#
# $$f_t = \sigma(W_f z_t) \quad i_t = \sigma(W_i z_t) \quad o_t = \sigma(W_o z_t)
# \quad g_t = \tanh(W_g z_t)$$
#
# $$C_t = f_t \odot C_{t-1} + i_t \odot g_t \qquad h_t = o_t \odot \tanh(C_t)$$
#
# The products with a $W$ are matrix products; $\odot$ multiplies entry by entry. The
# **forget gate** $f$ says how much of the memory is kept (1: all of it), the **input
# gate** $i$ how much of the candidate $g$ is written, the **output gate** $o$ how much
# of the memory is said.

# %% id="given" include="GIVEN"

# %% [markdown]
# All three steps are also a sheet that you fill in box by box: a wrong number says so at
# once. It gives no points, and needs no code. (Nothing to type into below? Then take
# the sheet on the chapter's page, or the one to print.)

# %% id="by_hand_sheet"
sheet = worksheet("lstm", ["F_1", "I_1", "O_1", "G_1", "f_1", "i_1", "o_1", "g_1", "C_1", "u_1", "h_1"])
sheet

# %% [markdown]
# ## 1. The first step, with the pencil
#
# A sigmoid is not for the head. The paper version rounds: gates to **0 or 1**, everything
# else to **one decimal**, and it goes on with the rounded numbers. That is coarse and
# shows the idea: a gate is a door that is open or shut, the *hard* form of what
# the machine does softly.
#
# The first entry, in full. $z_1 = (1, 2, 1, 1, 1)$, so the first sum of the forget gate
# is $0\cdot1 - 1\cdot2 + 0 + 0 - 2\cdot1 = -4$. Since $\sigma(-4) = 0.018$, the gate is 0:
# forget.
#
# Fill in, for $t = 1$: the gates `f_1`, `i_1`, `o_1`, the candidate `g_1`, the memory
# `C_1` and the hidden state `h_1`. Each is a column of two numbers.
#
# Predict first: both forget gates are shut. What is $C_1$ made of, then?
#
# *Level: by hand · difficulty 1/5 · about 15 minutes · 3 points.*

# %% id="first_step" role="answer" fill=["f_1", "i_1", "o_1", "g_1", "C_1", "h_1"]

# %% id="first_step-check" role="check" points=3
check("the forget gate", lambda: f_1)
check("the input gate", lambda: i_1)
check("the output gate", lambda: o_1)
check("the candidate", lambda: g_1, tol=0.04)
check("the memory", lambda: C_1, tol=0.04)
check("the hidden state", lambda: h_1, tol=0.04)

# %% [markdown]
# ## 2. Two more steps
#
# What was said, $h_1 = (0.7, 0)$, goes into $z_2$; what is remembered, $C_1$, into $C_2$.
# Do $t = 2$ and $t = 3$ in the same way. ($\sigma$ of a sum above 0 rounds to 1, of a sum
# below 0 to 0. You need $\tanh 0.8 = 0.66$ and $\tanh 1 = 0.76$.)
#
# Fill in the forget gate, the memory and the hidden state of both steps.
#
# Predict first: at $t = 3$ one forget gate opens. What two numbers meet in that cell?
#
# *Level: by hand · difficulty 2/5 · about 20 minutes · 3 points.*

# %% id="more_steps" role="answer" fill=["f_2", "C_2", "h_2", "f_3", "C_3", "h_3"]

# %% id="more_steps-check" role="check" points=3
check("forget gate, t = 2", lambda: f_2)
check("memory, t = 2", lambda: C_2, tol=0.04)
check("hidden state, t = 2", lambda: h_2, tol=0.04)
check("forget gate, t = 3", lambda: f_3)
check("memory, t = 3", lambda: C_3, tol=0.04)
check("hidden state, t = 3", lambda: h_3, tol=0.04)

# %% [markdown]
# ## 3. What the rounding hides
#
# Suppose that somebody forgets the term $f_t \odot C_{t-1}$ altogether. With the pencil's
# numbers nothing shows at $t = 1$: the gates are 0. Now keep the decimals.
#
# - `exact_C`: the memory $C_1$, and `exact_h`: the hidden state $h_1$, three decimals
#   each, from the exact sigmoids (a calculator or a line of torch is allowed);
# - `lost_C`: what $C_1$ becomes without the term $f_1 \odot C_0$, four decimals;
# - `shows_at`: the first $t$ (1, 2 or 3) at which, **with the pencil's rounding**, leaving
#   the term out changes the memory.
#
# Predict first: which of the two cells of $C_1$ changes more?
#
# *Level: by hand · difficulty 2/5 · about 15 minutes · 2 points.*

# %% id="rounding" role="answer"
exact_C = [..., ...]
exact_h = [..., ...]
lost_C = [..., ...]
shows_at = ...
### BEGIN SOLUTION
z = torch.cat([x_1, h_0]).double()                                 # (5, 1)
f, i, o = (torch.sigmoid(W.double() @ z) for W in (W_f, W_i, W_o))
g = torch.tanh(W_g.double() @ z)
exact_C = (f * C_0 + i * g).flatten().tolist()                     # 0.765, -0.983
exact_h = (o * torch.tanh(f * C_0 + i * g)).flatten().tolist()     # 0.632, -0.005
lost_C = (i * g).flatten().tolist()                                # 0.7597, -0.9820
shows_at = 3                     # the first open forget gate of the pencil
### END SOLUTION

# %% id="rounding-check" role="check" points=2
check("the exact memory", lambda: exact_C, tol=0.0006)
check("the exact hidden state", lambda: exact_h, tol=0.0006)
check("without the old memory", lambda: lost_C, tol=0.0006)
check("where the pencil shows it", lambda: shows_at)

# %% [markdown]
# ## The machine
#
# From here on a vector is a **row**: inputs have the shape `(B, D)`, one row per example
# of a batch, and sequences `(B, T, D)`. A weight of shape `(out, in)` is applied as
# `x @ W.T`, as torch stores it.

# %% [markdown]
# ## 4. A cell
#
# torch keeps the four matrices of a cell in one, stacked in the order **i, f, g, o**, and
# apart for the input and for the hidden state:
#
# $$\text{sums} = x W_{ih}^\top + b_{ih} + h W_{hh}^\top + b_{hh}
# \qquad \text{of shape } (B, 4H)$$
#
# The first $H$ columns are the sums of the input gate, the next of the forget gate, then
# the candidate's, then the output gate's. That $W_{ih}$ and $W_{hh}$ lie side by side is
# the same as $W z$ with $z = [x; h]$. There are **two biases**, whose sum is all that
# counts: a habit of the library that cuDNN, for GPUs, is built on.
#
# Write `lstm_cell`.
#
# Predict first: all weights and biases are 0. What is the new memory if the old was 1?
#
# *Level: numpy/torch · difficulty 2/5 · about 15 minutes · 3 points.*

# %% id="lstm_cell" role="answer"
def lstm_cell(x, h, C, W_ih, W_hh, b_ih, b_hh):
    """One step of an LSTM.

    x         : (B, D)      h, C: (B, H)
    W_ih      : (4H, D)     W_hh: (4H, H)    rows in the order i, f, g, o
    b_ih, b_hh: (4H,)
    returns   : h and C of the next step, (B, H) each

    With all weights and biases 0 every gate is 1/2 and the new C is C / 2.
    """
    ### BEGIN SOLUTION
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh      # (B, 4H)
    i, f, g, o = sums.chunk(4, dim=1)                 # (B, H) each
    C = torch.sigmoid(f) * C + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(C), C
    ### END SOLUTION

# %% id="lstm_cell-check" role="check" points=3 forbid=["LSTMCell", "LSTM", "lstm_cell"]
check("all weights 0", lstm_cell, torch.ones(1, 2), torch.ones(1, 2), torch.ones(1, 2),
      torch.zeros(8, 2), torch.zeros(8, 2), torch.zeros(8), torch.zeros(8))
check("one example", lstm_cell, randn(1, 3, seed=1), randn(1, 2, seed=2),
      randn(1, 2, seed=3), randn(8, 3, seed=4), randn(8, 2, seed=5),
      randn(8, seed=6), randn(8, seed=7))
### BEGIN HIDDEN TESTS
check("a batch", lstm_cell, randn(4, 5, seed=8), randn(4, 3, seed=9),
      randn(4, 3, seed=10), randn(12, 5, seed=11), randn(12, 3, seed=12),
      randn(12, seed=13), randn(12, seed=14), weight=2)
check("everything square", lstm_cell, randn(4, 4, seed=15), randn(4, 4, seed=16),
      randn(4, 4, seed=17), randn(16, 4, seed=18), randn(16, 4, seed=19),
      randn(16, seed=20), randn(16, seed=21))
### END HIDDEN TESTS

# %% id="cell_judge" role="explore"
judge_ = nn.LSTMCell(3, 2)
x_, h_, C_ = randn(5, 3, seed=1), randn(5, 2, seed=2), randn(5, 2, seed=3)
with suppress(NotImplementedError), torch.no_grad():
    theirs = judge_(x_, (h_, C_))
    ours = lstm_cell(x_, h_, C_, *judge_.parameters())
    print("agrees with nn.LSTMCell:",
          all(torch.allclose(a, b, atol=1e-6) for a, b in zip(ours, theirs)))

# %% [markdown]
# ## 5. Four libraries, four orders
#
# The four blocks of a stacked weight have no natural order, and everybody chose another:
#
# | who | order |
# |---|---|
# | torch | `ifgo` |
# | Keras | `ifco` |
# | Tom Yeh's sheet | `fcio` |
# | NX-AI's sLSTM | `ifzo` |
#
# The candidate is called `g`, `c` or `z`: three letters for the same thing. Whoever copies
# weights from one to the other without reordering gets no error, only nonsense.
#
# Write `reorder`: from one stacked tensor, of any shape `(4H, ...)`, make another.
#
# Predict first: does anything change from Keras to torch?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="reorder" role="answer"
def reorder(W, have, want):
    """The four blocks of a stacked weight or bias in another order.

    W         : (4H, ...)   blocks of H rows in the order `have`
    have, want: four letters each: i, f, o, and g, c or z for the candidate
    returns   : like W, blocks in the order `want`

    From "ifgo" to "ifco" nothing changes.
    """
    ### BEGIN SOLUTION
    def plain(order):
        return order.replace("c", "g").replace("z", "g")

    blocks = dict(zip(plain(have), W.chunk(4)))        # letter -> (H, ...)
    return torch.cat([blocks[letter] for letter in plain(want)])
    ### END SOLUTION

# %% id="reorder-check" role="check" points=2
check("one row each", reorder, torch.tensor([[1.0], [2.0], [3.0], [4.0]]), "ifgo", "fcio")
check("Keras to torch", reorder, randn(8, 3, seed=30), "ifco", "ifgo")
### BEGIN HIDDEN TESTS
check("the sheet to torch", reorder, randn(12, 5, seed=31), "fcio", "ifgo", weight=2)
check("NX-AI to the sheet", reorder, randn(8, 2, seed=32), "ifzo", "fcio")
check("a bias", reorder, randn(12, seed=33), "fcio", "ifzo")
check("an order of one's own", reorder, randn(4, 2, seed=34), "ogfi", "fcio")
### END HIDDEN TESTS

# %% [markdown]
# ## 6. A sequence, from any state
#
# A sequence is a loop: feed $x_1, x_2, \ldots$ and hand $h$ and $C$ on. Return what was
# said at **every** step, and the last $h$ and $C$: whoever goes on from there, goes on as if
# nothing had been cut.
#
# Inputs are `(B, T, D)`, *batch first*. (torch's default is time first. The shapes
# fit both ways when $B = T$, and the answer is wrong.) Where no state is given, it is 0.
# `step`, below, is one step, as in exercise 4.
#
# Predict first: $T = 0$. What should come back?
#
# *Level: numpy/torch · difficulty 3/5 · about 15 minutes · 3 points.*

# %% id="helpers"
def step(x, h, C, weights):
    """One step of an LSTM; weights = (W_ih, W_hh, b_ih, b_hh). Returns h, C."""
    return torch.lstm_cell(x, (h, C), *weights)


def some_weights(D, H, seed):
    """Weights of an LSTM of D inputs and H cells: W_ih, W_hh, b_ih, b_hh."""
    return (randn(4 * H, D, seed=seed), randn(4 * H, H, seed=seed + 1),
            randn(4 * H, seed=seed + 2), randn(4 * H, seed=seed + 3))

# %% id="lstm" role="answer"
def lstm(x, weights, state=None):
    """An LSTM over a batch of sequences.

    x      : (B, T, D)
    weights: (W_ih, W_hh, b_ih, b_hh), as `step` takes them
    state  : None for zeros, or (h, C), (B, H) each
    returns: what was said (B, T, H), and the last state (h, C)

    With T = 1 what was said is h[:, None].
    """
    ### BEGIN SOLUTION
    H = weights[1].shape[1]
    h, C = state or (x.new_zeros(x.shape[0], H), x.new_zeros(x.shape[0], H))
    said = []
    for t in range(x.shape[1]):
        h, C = step(x[:, t], h, C, weights)
        said.append(h)
    out = torch.stack(said, dim=1) if said else x.new_zeros(x.shape[0], 0, H)
    return out, (h, C)                                 # (B, T, H), two (B, H)
    ### END SOLUTION

# %% id="lstm-check" role="check" points=3 forbid=["LSTM"]
check("one step", lstm, randn(1, 1, 3, seed=40), some_weights(3, 2, 41))
check("four steps", lstm, randn(2, 4, 3, seed=45), some_weights(3, 2, 46))
### BEGIN HIDDEN TESTS
check("from a state", lstm, randn(2, 3, 2, seed=50), some_weights(2, 4, 51),
      (randn(2, 4, seed=55), randn(2, 4, seed=56)), weight=2)
check("as many steps as examples", lstm, randn(3, 3, 3, seed=57), some_weights(3, 3, 58),
      weight=2)
check("a long sequence", lstm, randn(1, 30, 2, seed=62), some_weights(2, 3, 63))
check("no step at all", lstm, randn(2, 0, 3, seed=67), some_weights(3, 2, 68),
      (randn(2, 2, seed=72), randn(2, 2, seed=73)))
### END HIDDEN TESTS

# %% [markdown]
# ## 7. A book in pieces
#
# A book does not fit into one backward pass: every step must be remembered until the
# gradient has come back through it. So one trains on pieces. The **state** goes on from piece
# to piece, and the **gradient** stops at the seam: *truncated* backpropagation
# through time. In torch, `detach()` cuts.
#
# Write `in_pieces`: run `run(piece, state)` over pieces of `size` steps (the last may be
# shorter), state handed on and cut at every seam, and return everything that was said.
# `run(x, state)` returns `said, (h, C)`, and takes `None` for the first state.
#
# Predict first: do the numbers that come out differ from those of the whole book?
#
# *Level: numpy/torch · difficulty 3/5 · about 20 minutes · 4 points.*

# %% id="running"
def runner(D, H, seed):
    """A function run(x, state) of an LSTM with some weights: said, (h, C)."""
    W_ih, W_hh, b_ih, b_hh = some_weights(D, H, seed)
    model = nn.LSTM(D, H, batch_first=True)
    model.load_state_dict({"weight_ih_l0": W_ih / 2, "weight_hh_l0": W_hh / 2,
                           "bias_ih_l0": b_ih / 2, "bias_hh_l0": b_hh / 2})
    return model


def reach(pieces, run, x, size):
    """How much each input moves the last word said: the gradient's size, (T,)."""
    x = x.clone().requires_grad_(True)
    pieces(run, x, size)[:, -1].sum().backward()
    return x.grad.abs().sum(dim=(0, 2))


def at_rest(pieces, run, x, size):
    """What is said, without any gradient."""
    return pieces(run, x, size).detach()

# %% id="in_pieces" role="answer"
def in_pieces(run, x, size):
    """A long sequence in pieces; the state goes on, the gradient does not.

    run    : run(piece, state) -> said (B, t, H), (h, C); state None at first
    x      : (B, T, D)
    size   : steps of a piece; the last one may be shorter
    returns: (B, T, H), as run(x, None)[0] would say it

    With size >= T there is one piece and no seam.
    """
    ### BEGIN SOLUTION
    state, said = None, []
    for piece in x.split(size, dim=1):               # (B, size, D)
        out, (h, C) = run(piece, state)
        state = (h.detach(), C.detach())             # the numbers, not their past
        said.append(out)
    return torch.cat(said, dim=1)
    ### END SOLUTION

# %% id="in_pieces-check" role="check" points=4
check("one piece", at_rest, in_pieces, runner(2, 3, 80), randn(1, 4, 2, seed=84), 4)
check("what is said in three pieces", at_rest, in_pieces, runner(2, 3, 80),
      randn(2, 7, 2, seed=85), 3)
check("how far the gradient reaches", reach, in_pieces, runner(2, 3, 80),
      randn(1, 6, 2, seed=86), 2, weight=2)
### BEGIN HIDDEN TESTS
check("pieces of one step", reach, in_pieces, runner(3, 2, 90), randn(2, 5, 3, seed=94), 1,
      weight=2)
check("a long text", at_rest, in_pieces, runner(3, 2, 90), randn(2, 33, 3, seed=95), 8,
      weight=2)
check("reach in a short last piece", reach, in_pieces, runner(3, 2, 90),
      randn(2, 11, 3, seed=96), 4, weight=2)
check("no seam, full reach", reach, in_pieces, runner(3, 2, 90), randn(1, 5, 3, seed=97), 9)
### END HIDDEN TESTS

# %% [markdown]
# ## What the gates keep
#
# A gate is a characteristic function gone soft. In the pencil's version $f \in \{0, 1\}$
# picks the cells that are kept. The real one says *how much*, and since it does so
# at every step, its values multiply.

# %% [markdown]
# ## 8. A product of gates
#
# Follow one cell from $t$ to the end, and look at nothing but the memory's own line
# $C_s = f_s \odot C_{s-1} + \ldots$ Of what stood there after step $t$, the share
#
# $$\text{kept}_t = f_{t+1} \odot f_{t+2} \odot \cdots \odot f_T$$
#
# is left after step $T$. The same product is what the gradient meets on its way back
# along this line: it is why an LSTM can learn from the distant past, and when it cannot.
#
# A product of a thousand numbers below 1 is a small number: 1,000 gates of 0.9 give
# $10^{-46}$, and `float32` ends near $10^{-45}$. So return the **logarithm** of the share:
# a sum of logarithms. The gates come as sums (before the sigmoid), and
# $\log \sigma(s)$ is `F.logsigmoid(s)`, exact where $\sigma(s)$ is already 0.
#
# Write `log_kept`, for every $t$ from 1 to $T$.
#
# Predict first: what is the share for $t = T$?
#
# *Level: numpy/torch · difficulty 3/5 · about 15 minutes · 3 points.*

# %% id="log_kept" role="answer"
def log_kept(f_sums):
    """How much of the memory after each step is left at the end, as a logarithm.

    f_sums : (T, H)   the forget gate's sums, before the sigmoid
    returns: (T, H)   row t: the sum of log(sigmoid) over the steps after t

    The last row is 0: nothing is forgotten after the end.
    """
    ### BEGIN SOLUTION
    logs = F.logsigmoid(f_sums)                              # (T, H)
    from_here = logs.flip(0).cumsum(0).flip(0)               # this step and all later
    return from_here - logs                                  # all later
    ### END SOLUTION

# %% id="log_kept-check" role="check" points=3
check("two steps", log_kept, torch.tensor([[0.0, 2.0], [-1.0, 1.0]]))
check("five steps", log_kept, randn(5, 3, seed=100))
### BEGIN HIDDEN TESTS
check("one step", log_kept, randn(1, 2, seed=101))
check("a thousand steps", log_kept, randn(1000, 2, seed=102) + 2, weight=2)
check("gates that are shut", log_kept, randn(6, 2, seed=103) - 200, weight=2)
check("as many steps as cells", log_kept, randn(4, 4, seed=104))
### END HIDDEN TESTS

# %% [markdown]
# The share that is left of the first step's memory, for gates whose sums are all $b$.
# One unit more of $b$ and the memory lives nearly three times as long.

# %% id="kept_picture" role="explore"
with suppress(NotImplementedError):
    fig, ax = plt.subplots(figsize=(5.6, 3))
    for b_, style_ in zip([0, 1, 3, 5], ["-", "--", "-.", ":"]):
        kept_ = log_kept(torch.full((200, 1), float(b_))).flip(0)[:, 0].exp()
        ax.plot(kept_, style_, label=f"b = {b_}")
    ax.set(xlabel="steps later", ylabel="share that is left", ylim=(0, 1))
    ax.legend()
    plt.show()

# %% [markdown]
# ## 9. Begin by remembering
#
# A new network has sums near 0, so its forget gates are near $\tfrac12$: after ten steps a
# thousandth is left, and no gradient comes back to teach the gates better. The cure
# is old (Gers, Schmidhuber and Cummins, 2000) and simple: start the forget gate's **bias**
# at 1 or more, and leave the others as they are.
#
# torch has two biases. What counts is their **sum**.
#
# Write `remember`: new biases in which the forget gate's sum is `value`.
#
# Predict first: somebody sets the forget part of *both* biases to 1. What is the
# gate at the start?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="remember" role="answer"
def remember(b_ih, b_hh, value):
    """Biases with which an LSTM begins by remembering.

    b_ih, b_hh: (4H,)   blocks in torch's order i, f, g, o
    value     : what b_ih + b_hh is to be in the forget gate's block
    returns   : two (4H,); all other blocks as they were

    With value 0 and biases 0 nothing changes. How the value is shared out
    between the two is up to you.
    """
    ### BEGIN SOLUTION
    H = b_ih.shape[0] // 4
    b_ih, b_hh = b_ih.clone(), b_hh.clone()
    b_ih[H:2 * H] = value
    b_hh[H:2 * H] = 0
    return b_ih, b_hh
    ### END SOLUTION

# %% id="bias_sum"
def sum_of(biases):
    """Their sum, and whether there are two of the same shape."""
    b_ih, b_hh = biases
    return b_ih + b_hh, b_ih.shape == b_hh.shape


def others(before, biases):
    """How the blocks other than the forget gate's have changed, (2, 3, H)."""
    return torch.stack([(new - old).reshape(4, -1)[[0, 2, 3]]
                        for new, old in zip(biases, before)])


def remembered(remember, b_ih, b_hh, value):
    """The sum of the new biases, and how the other blocks have changed."""
    biases = remember(b_ih, b_hh, value)
    return *sum_of(biases), others((b_ih, b_hh), biases)

# %% id="remember-check" role="check" points=2
check("from zeros", remembered, remember, torch.zeros(8), torch.zeros(8), 1.0)
check("from other biases", remembered, remember, randn(8, seed=110), randn(8, seed=111), 2.0)
### BEGIN HIDDEN TESTS
check("more cells", remembered, remember, randn(20, seed=112), randn(20, seed=113), 3.0,
      weight=2)
check("one cell", remembered, remember, randn(4, seed=114), randn(4, seed=115), -1.0)
### END HIDDEN TESTS

# %% [markdown]
# ## 10. Half-lives
#
# How long is "long" and how short is "short" in *long short-term memory*? A cell whose
# forget gate has the sum $b$ at every step keeps the share $\sigma(b)^n$ after $n$ steps. It
# has fallen to a half after $n_{1/2} = \log \tfrac12 \, / \log \sigma(b)$ steps: 1 for
# $b = 0$, about 100 for $b = 5$.
#
# Turn it round. You want a cell to remember for $n$ steps: which bias do you give it?
# Solve $\sigma(b)^n = \tfrac12$ for $b$ on paper first. It helps that
# $b = \log \sigma(b) - \log\,(1 - \sigma(b))$.
#
# Be careful at the far end. For a million steps $\sigma(b)$ is $0.9999993$, and
# `1 - 0.9999993` in `float32` has one good digit left. `torch.expm1(x)` is $e^x - 1$,
# exact for small $x$ too.
#
# Write `bias_for`.
#
# Predict first: what must be added to $b$ for a memory that lives ten times as long?
#
# *Level: numpy/torch · difficulty 4/5 · about 20 minutes · 3 points.*

# %% id="bias_for" role="answer"
def bias_for(n):
    """The forget bias with which half of a memory is left after n steps.

    n      : (...)   steps, float, above 0
    returns: (...)   the sum b with sigmoid(b) ** n = 1/2

    bias_for(1) is 0: a gate of 1/2.
    """
    ### BEGIN SOLUTION
    log_f = -math.log(2) / n                            # log(sigmoid(b))
    return log_f - torch.log(-torch.expm1(log_f))       # log(f) - log(1 - f)
    ### END SOLUTION

# %% id="bias_for-check" role="check" points=3
check("one step, ten, a hundred", bias_for, torch.tensor([1.0, 10.0, 100.0]), tol=0.001)
check("half a step", bias_for, torch.tensor([0.5]), tol=0.001)
### BEGIN HIDDEN TESTS
check("a table", bias_for, 1 + 20 * randn(2, 3, seed=120).abs(), tol=0.001)
check("thousands of steps", bias_for, 2000 + 5000 * randn(4, seed=121).abs(), tol=0.002)
check("millions of steps", bias_for, 1e6 + 1e7 * randn(4, seed=122).abs(), tol=0.002,
      weight=2)
### END HIDDEN TESTS

# %% [markdown]
# ## xLSTM
#
# In 2024 Beck and others asked what the LSTM lacked, and gave it two new cells. Both have
# **exponential input gates**: $e^{\tilde\imath}$ in place of $\sigma(\tilde\imath)$, so
# that a new fact can outweigh everything before it, and not just be added. A sum that may
# explode needs a count to divide by, the *normaliser* $n$. The **forget gate** is a
# sigmoid, or an exponential (below: a sigmoid, as in the authors' code), and the **output
# gate** stays a sigmoid. (The article says that all gates become exponential: only the
# input gate always does.)

# %% [markdown]
# ## 11. sLSTM: an exponential gate that does not explode
#
# With $\tilde\imath, \tilde f, \tilde z, \tilde o$ for the sums, one cell does
#
# $$c_t = \sigma(\tilde f)\, c_{t-1} + e^{\tilde\imath} \tanh(\tilde z) \qquad
# n_t = \sigma(\tilde f)\, n_{t-1} + e^{\tilde\imath} \qquad
# h_t = \sigma(\tilde o)\, \frac{c_t}{n_t}$$
#
# So $c/n$ is a weighted mean of everything ever written: attention, without a query. But
# $e^{89}$ is infinite in `float32`. As with the stable softmax, keep $c$ and $n$ divided by
# $e^{m}$, where $m$, the *stabiliser*, is the largest exponent so far:
#
# $$m_t = \max(\log\sigma(\tilde f) + m_{t-1},\ \tilde\imath) \qquad
# f' = e^{\log\sigma(\tilde f) + m_{t-1} - m_t} \qquad i' = e^{\tilde\imath - m_t}$$
#
# and use $f'$ and $i'$ in place of the gates. In $c/n$ the factor $e^{-m}$ cancels: $h$ is
# what it was.
#
# Write `slstm_cell`.
#
# Predict first: the start is $c = n = 0$, $m = -\infty$. What is $h_1$, if
# $\tilde\imath$ is $-500$?
#
# *Level: numpy/torch · difficulty 4/5 · about 25 minutes · 4 points.*

# %% id="slstm_cell" role="answer"
def slstm_cell(sums, c, n, m):
    """One step of an sLSTM, stabilised.

    sums   : (B, 4H)     blocks in the order i, f, z, o, before any gate
    c, n, m: (B, H)      memory and normaliser, both divided by exp(m); m may be -inf
    returns: h, c, n, m  (B, H) each

    With c = n = 0 and m = -inf the new c is tanh(z), n is 1 and m is the sum of i.
    """
    ### BEGIN SOLUTION
    i, f, z, o = sums.chunk(4, dim=1)                   # (B, H) each
    log_f = F.logsigmoid(f)
    new_m = torch.maximum(log_f + m, i)
    keep, write = (log_f + m - new_m).exp(), (i - new_m).exp()     # at most 1
    c = keep * c + write * torch.tanh(z)
    n = keep * n + write
    return torch.sigmoid(o) * c / n, c, n, new_m
    ### END SOLUTION

# %% id="stabiliser"
def said_by(cell, sums):
    """What an sLSTM says, step by step, from nothing: sums (T, B, 4H) -> (T, B, H)."""
    zero = sums.new_zeros(*sums.shape[1:2], sums.shape[2] // 4)
    state, said = (zero, zero, zero - math.inf), []
    for s in sums:
        h, *state = cell(s, *state)
        said.append(h)
    return torch.stack(said)


def said_from(cell, sums, c, n, m, shift):
    """What one step says when the same memory is written down with another m."""
    scale = math.exp(-shift)
    return cell(sums, c * scale, n * scale, m + shift)[0]

# %% id="slstm_cell-check" role="check" points=4
check("the first step", slstm_cell, randn(1, 8, seed=130), torch.zeros(1, 2),
      torch.zeros(1, 2), torch.full((1, 2), -math.inf))
check("a later step", slstm_cell, randn(2, 12, seed=131), randn(2, 3, seed=132),
      1 + randn(2, 3, seed=133).abs(), randn(2, 3, seed=134))
check("sums of 200", said_by, slstm_cell, 200 * torch.ones(3, 1, 4))
### BEGIN HIDDEN TESTS
check("ten steps", said_by, slstm_cell, 3 * randn(10, 2, 12, seed=135))
check("sums of hundreds, both signs", said_by, slstm_cell,
      (300 * randn(6, 2, 8, seed=136)).round(), weight=2)
check("another stabiliser, the same words", said_from, slstm_cell, randn(2, 8, seed=137),
      randn(2, 2, seed=138), 1 + randn(2, 2, seed=139).abs(), randn(2, 2, seed=140), 2.5,
      weight=2)
check("an input gate far below", said_by, slstm_cell,
      torch.cat([torch.full((2, 1, 2), -500.0), randn(2, 1, 6, seed=141)], dim=2), weight=2)
### END HIDDEN TESTS

# %% [markdown]
# ## 12. mLSTM: a memory with an address
#
# The second cell has a **matrix** for a memory, and reads and writes it as attention does,
# with a query, a key and a value:
#
# $$C_t = f_t\, C_{t-1} + i_t\, v_t k_t^\top \qquad n_t = f_t\, n_{t-1} + i_t\, k_t \qquad
# \tilde h_t = \frac{C_t q_t}{\max(|n_t \cdot q_t|,\ 1)}$$
#
# $v k^\top$ stores the value under the key: asked with $q = k$, it gives $v$ times
# $k \cdot k$. The key is first divided by $\sqrt d$, as in attention. The gates $i$
# and $f$ are single numbers, $i = e^{\tilde\imath}$ and $f = \sigma(\tilde f)$, and they
# see **only the input**, never $h$. The stabiliser is that of exercise 11; since $C$ and $n$
# are kept divided by $e^m$, the 1 in the denominator becomes $e^{-m}$:
#
# $$\tilde h_t = \frac{C_t q_t}{\max(|n_t \cdot q_t|,\ e^{-m_t})}$$
#
# Write `mlstm_step` for one head. (The output gate comes afterwards, and is not part of
# it.)
#
# Predict first: why the absolute value? Can $n \cdot q$ be negative?
#
# *Level: numpy/torch · difficulty 4/5 · about 25 minutes · 4 points.*

# %% id="mlstm_step" role="answer"
def mlstm_step(q, k, v, i, f, C, n, m):
    """One step of an mLSTM with one head, stabilised.

    q, k   : (d,)        v: (d_v,)        k not yet divided by sqrt(d)
    i, f   : ()          sums of the input and the forget gate, before the gates
    C, n, m: (d_v, d), (d,), ()   memory and normaliser, both divided by exp(m)
    returns: h~ (d_v,), C, n, m

    With C = 0, n = 0, m = -inf: C is v k^T / sqrt(d), and m is i.
    """
    ### BEGIN SOLUTION
    k = k / math.sqrt(k.shape[0])
    log_f = F.logsigmoid(f)
    new_m = torch.maximum(log_f + m, i)
    keep, write = (log_f + m - new_m).exp(), (i - new_m).exp()
    C = keep * C + write * torch.outer(v, k)                    # (d_v, d)
    n = keep * n + write * k                                    # (d,)
    return C @ q / torch.maximum((n @ q).abs(), (-new_m).exp()), C, n, new_m
    ### END SOLUTION

# %% id="from_nothing"
def nothing(d, d_v):
    """An empty memory: C, n, m."""
    return torch.zeros(d_v, d), torch.zeros(d), torch.tensor(-math.inf)


def step_by_step(one_step, q, k, v, i, f):
    """A whole sequence, one step after the other, from an empty memory.

    q, k: (T, d)    v: (T, d_v)    i, f: (T,)    returns (T, d_v)
    """
    state, said = nothing(q.shape[1], v.shape[1]), []
    for t in range(q.shape[0]):
        h, *state = one_step(q[t], k[t], v[t], i[t], f[t], *state)
        said.append(h)
    return torch.stack(said)


def inputs(T, d, d_v, seed):
    """q, k, v and the two gates' sums of a sequence of T steps."""
    return (randn(T, d, seed=seed), randn(T, d, seed=seed + 1), randn(T, d_v, seed=seed + 2),
            randn(T, seed=seed + 3), 2 + randn(T, seed=seed + 4))

# %% id="mlstm_step-check" role="check" points=4
check("the first step", mlstm_step, randn(2, seed=150), randn(2, seed=151),
      randn(3, seed=152), torch.tensor(1.0), torch.tensor(0.0), *nothing(2, 3))
check("a later step", mlstm_step, randn(2, seed=153), randn(2, seed=154),
      randn(3, seed=155), torch.tensor(-0.5), torch.tensor(1.0),
      randn(3, 2, seed=156), randn(2, seed=157), torch.tensor(0.3))
check("four steps", step_by_step, mlstm_step, *inputs(4, 3, 2, 160))
### BEGIN HIDDEN TESTS
check("twelve steps", step_by_step, mlstm_step, *inputs(12, 4, 4, 165), weight=2)
check("sums of hundreds", step_by_step, mlstm_step, *randn(3, 6, 4, seed=170),
      200 + 9 * randn(6, seed=171).round(), 50 * randn(6, seed=172).round(), weight=2)
check("keys and values of other widths", step_by_step, mlstm_step, *inputs(5, 2, 5, 175))
### END HIDDEN TESTS

# %% [markdown]
# ## 13. Find the mistake
#
# A public workbook computes two steps of an mLSTM ($f$ a sigmoid, $i$ an exponential,
# $n_0 = 0$). Its second step has these numbers, rounded to four decimals:
#
# | | |
# |---|---|
# | $q_2$ | $(2, -1)$ |
# | $i_2$ | $e^3 = 20.0855$ |
# | $n_2$ | $(-13.8223, -22.6337)$ |
# | $C_2 q_2$ | $(-8.3883, 18.5208)$ |
# | $\sigma(\tilde o_2)$ | $(0.8808, 0.7311)$ |
# | $h_2$ in the workbook | $(-0.0163, 0.0298)$ |
#
# Everything in the table but the last line is right. $h = \sigma(\tilde o) \odot
# \tilde h$. In the first step the same mistake does no harm: there both the right and
# the wrong denominator are below 1.
#
# - `right_denominator` and `right_h`, what they should be;
# - `their_denominator`, the number that the workbook divides by;
# - `instead_of_q`: what it has multiplied $n_2$ with, in the place of $q_2$: `"v"`, `"k"`,
#   `"i"` or `"o"`.
#
# Predict first: is their denominator too large or too small?
#
# *Level: by hand · difficulty 3/5 · about 15 minutes · 2 points.*

# %% id="workbook" role="answer"
right_denominator = ...
right_h = [..., ...]
their_denominator = ...
instead_of_q = ...
### BEGIN SOLUTION
n2, q2, Cq = np.array([-13.8223, -22.6337]), np.array([2, -1]), np.array([-8.3883, 18.5208])
o2, i2 = np.array([0.8808, 0.7311]), 20.0855
right_denominator = max(abs(n2 @ q2), 1)                 # 5.01
right_h = (o2 * Cq / right_denominator).tolist()         # -1.4745, 2.7022
their_denominator = float(np.abs(n2 * i2).max())         # 454.6
instead_of_q = "i"                                       # the input gate
### END SOLUTION

# %% id="workbook-check" role="check" points=2
check("the right denominator", lambda: right_denominator, tol=0.006)
check("the right hidden state", lambda: right_h, tol=0.006)
check("theirs", lambda: their_denominator, tol=3)
check("in the place of q", lambda: instead_of_q)

# %% [markdown]
# ## All at once
#
# In an LSTM the gates at step $t$ need $h_{t-1}$: nobody can begin with step 100 before step
# 99 is done. The gates of an mLSTM need only the input. So all steps can be unrolled on
# paper, and done at once.

# %% [markdown]
# ## 14. How much of step s is left at step t
#
# What was written at step $s$ has the weight $i_s$, and at each later step is
# multiplied with a forget gate. At step $t \ge s$ its weight is
#
# $$i_s \cdot f_{s+1} f_{s+2} \cdots f_t \qquad\text{or, as a logarithm,}\qquad
# D_{ts} = \tilde\imath_s + \sum_{r=s+1}^{t} \log\sigma(\tilde f_r)$$
#
# and for $s > t$, in the future, $D_{ts} = -\infty$: no weight. With the running sums
# $F_t = \log\sigma(\tilde f_1) + \cdots + \log\sigma(\tilde f_t)$ no loop is needed.
#
# Two steps, with $\tilde f = 0$ everywhere (so $\log\sigma = -0.69$) and
# $\tilde\imath = (1, 2)$:
#
# $$D = \begin{pmatrix} 1 & -\infty \\ 1 - 0.69 & 2 \end{pmatrix}$$
#
# Write `log_weights`. It is the causal mask of attention with a fading memory in it.
#
# Predict first: does $\tilde f_1$, the first forget gate, appear anywhere?
#
# *Level: numpy/torch · difficulty 3/5 · about 20 minutes · 3 points.*

# %% id="log_weights" role="answer"
def log_weights(i, f):
    """The logarithm of the weight of what step s wrote, at step t.

    i, f   : (T,)      sums of the input and the forget gates
    returns: (T, T)    row t, column s; -inf where s > t

    With T = 1 it is i[0].
    """
    ### BEGIN SOLUTION
    total = F.logsigmoid(f).cumsum(0)                            # (T,)
    D = total[:, None] - total[None, :] + i[None, :]             # (t, s)
    future = torch.ones(len(i), len(i), dtype=torch.bool).triu(1)
    return D.masked_fill(future, -math.inf)
    ### END SOLUTION

# %% id="log_weights-check" role="check" points=3
check("two steps", log_weights, torch.tensor([1.0, 2.0]), torch.zeros(2))
check("three steps", log_weights, randn(3, seed=180), randn(3, seed=181))
### BEGIN HIDDEN TESTS
check("one step", log_weights, randn(1, seed=182), randn(1, seed=183))
check("eight steps", log_weights, randn(8, seed=184), 2 * randn(8, seed=185), weight=2)
check("gates that are shut", log_weights, randn(5, seed=186), -100 + randn(5, seed=187))
### END HIDDEN TESTS

# %% [markdown]
# ## 15. The parallel form
#
# Put $C_t$ and $n_t$, unrolled, into $\tilde h_t = C_t q_t / \max(|n_t \cdot q_t|, 1)$.
# Both need the same products $w_{ts} = e^{D_{ts}}\, (q_t \cdot k_s) / \sqrt d$:
#
# $$C_t q_t = \sum_{s \le t} w_{ts} v_s \qquad n_t \cdot q_t = \sum_{s \le t} w_{ts}$$
#
# It is attention, with $e^{D}$ where the softmax would be: the scores are **not**
# exponentiated, the gates are. For stability subtract from each row of $D$ its largest
# entry $m_t$; the 1 becomes $e^{-m_t}$, as before.
#
# Write `mlstm_parallel`, without a loop. The matrix $D$ comes as an argument.
#
# Predict first: in the softmax all weights of a row are positive. Here?
#
# *Level: numpy/torch · difficulty 4/5 · about 25 minutes · 4 points.*

# %% id="given_weights"
def weights_of(i, f):
    """The matrix D of exercise 14."""
    total = F.logsigmoid(f.double()).cumsum(0)
    D = (total[:, None] - total + i.double()).float()
    return D.masked_fill(torch.ones(len(i), len(i), dtype=torch.bool).triu(1), -math.inf)


def without_a_loop(parallel, q, k, v, i, f):
    """A whole sequence at once, the matrix D made first."""
    return parallel(q, k, v, weights_of(i, f))

# %% id="mlstm_parallel" role="answer"
def mlstm_parallel(q, k, v, D):
    """All steps of an mLSTM at once, from an empty memory.

    q, k   : (T, d)      v: (T, d_v)
    D      : (T, T)      log of the weight of step s at step t; -inf for s > t
    returns: (T, d_v)    h~ of every step

    With T = 1 it is w v / max(|w|, 1), with w = e^D q·k / sqrt(d).
    """
    ### BEGIN SOLUTION
    m = D.max(dim=1, keepdim=True).values                        # (T, 1)
    w = (q @ k.T) / math.sqrt(q.shape[1]) * (D - m).exp()        # (t, s)
    n = torch.maximum(w.sum(dim=1, keepdim=True).abs(), (-m).exp())
    return w @ v / n                                             # (T, d_v)
    ### END SOLUTION

# %% id="mlstm_parallel-check" role="check" points=4
check("one step", without_a_loop, mlstm_parallel, *inputs(1, 2, 3, 190))
check("four steps", without_a_loop, mlstm_parallel, *inputs(4, 3, 2, 195))
### BEGIN HIDDEN TESTS
check("twelve steps", without_a_loop, mlstm_parallel, *inputs(12, 4, 4, 200), weight=2)
check("sums of hundreds", without_a_loop, mlstm_parallel, *randn(3, 6, 4, seed=205),
      200 + 9 * randn(6, seed=206).round(), 50 * randn(6, seed=207).round(), weight=2)
check("keys and values of other widths", without_a_loop, mlstm_parallel,
      *inputs(5, 2, 5, 210))
check("memories that fade at once", without_a_loop, mlstm_parallel,
      *inputs(6, 3, 3, 215)[:4], torch.full((6,), -80.0))
### END HIDDEN TESTS

# %% [markdown]
# ## 16. Chunk by chunk
#
# The parallel form is quick, and its matrix grows with $T^2$. The recurrent form needs no
# matrix, and takes $T$ steps one after the other. In between: cut the sequence into
# chunks, do each chunk at once, and hand the memory $C, n, m$ on from chunk to chunk.
#
# In a chunk let $b_t$ be the sum of $\log\sigma(\tilde f)$ from its first step to $t$.
# At step $t$ the old memory still has the weight $e^{b_t}$, and was kept divided by
# $e^{m}$. So with
#
# $$m_t = \max\bigl(b_t + m,\ \max_{s \le t} D_{ts}\bigr) \qquad
# u_t = e^{b_t + m - m_t}$$
#
# the numerator is $\sum_s w_{ts} v_s + u_t\, C q_t$, the sum in the denominator
# $\sum_s w_{ts} + u_t\, n \cdot q_t$. Exercise 15 is the case $u = 0$.
#
# `carry`, below, makes the memory after the chunk. Write `mlstm_chunk`: what a chunk
# says.
#
# Predict first: chunks of one step: which form is that? One chunk for everything?
#
# *Level: at size · difficulty 5/5 · about 35 minutes · 4 points.*

# %% id="carrying"
def carry(k, v, i, f, C, n, m):
    """The memory after a chunk: C, n, m as in exercise 12."""
    d, b = k.shape[1], F.logsigmoid(f).cumsum(0)                  # (t,)
    left = b[-1] - b + i                                          # of each step, at the end
    new_m = torch.maximum(b[-1] + m, left.max())
    keep, write = (b[-1] + m - new_m).exp(), (left - new_m).exp()    # (), (t,)
    C = keep * C + (write[:, None] * v).T @ k / math.sqrt(d)
    return C, keep * n + write @ k / math.sqrt(d), new_m


def in_chunks(chunk, q, k, v, i, f, size):
    """A whole sequence in chunks of `size` steps, from an empty memory."""
    state, said = nothing(q.shape[1], v.shape[1]), []
    for part in zip(*(x.split(size) for x in (q, k, v, i, f))):
        q_, k_, v_, i_, f_ = part
        said.append(chunk(q_, k_, v_, weights_of(i_, f_), F.logsigmoid(f_).cumsum(0), *state))
        state = carry(k_, v_, i_, f_, *state)
    return torch.cat(said)

# %% id="mlstm_chunk" role="answer"
def mlstm_chunk(q, k, v, D, b, C, n, m):
    """What an mLSTM says in a chunk of t steps, given the memory before it.

    q, k   : (t, d)      v: (t, d_v)
    D      : (t, t)      log weights within the chunk; -inf for s > t
    b      : (t,)        log of what each step leaves of the old memory
    C, n, m: (d_v, d), (d,), ()   that memory, divided by exp(m); m may be -inf
    returns: (t, d_v)

    With m = -inf (an empty memory) it is the parallel form.
    """
    ### BEGIN SOLUTION
    new_m = torch.maximum(b + m, D.max(dim=1).values)[:, None]       # (t, 1)
    w = (q @ k.T) / math.sqrt(q.shape[1]) * (D - new_m).exp()        # (t, t)
    u = (b[:, None] + m - new_m).exp()                               # (t, 1)
    total = w.sum(dim=1, keepdim=True) + u * (q @ n)[:, None]
    return (w @ v + u * (q @ C.T)) / torch.maximum(total.abs(), (-new_m).exp())
    ### END SOLUTION

# %% id="mlstm_chunk-check" role="check" points=4
check("an empty memory", in_chunks, mlstm_chunk, *inputs(3, 2, 2, 220), 3)
check("two chunks", in_chunks, mlstm_chunk, *inputs(4, 3, 2, 225), 2)
check("a memory with another m", mlstm_chunk, *randn(3, 3, 2, seed=230),
      weights_of(randn(3, seed=231), randn(3, seed=232)),
      F.logsigmoid(randn(3, seed=232)).cumsum(0), randn(2, 2, seed=233),
      randn(2, seed=234), torch.tensor(1.5))
### BEGIN HIDDEN TESTS
check("a short last chunk", in_chunks, mlstm_chunk, *inputs(11, 4, 3, 235), 4, weight=2)
check("chunks of one step", in_chunks, mlstm_chunk, *inputs(6, 3, 3, 240), 1, weight=2)
check("sums of hundreds", in_chunks, mlstm_chunk, *randn(3, 6, 4, seed=245),
      200 + 9 * randn(6, seed=246).round(), 50 * randn(6, seed=247).round(), 2, weight=2)
check("a long text", in_chunks, mlstm_chunk, *inputs(40, 4, 4, 250), 16)
### END HIDDEN TESTS

# %% [markdown]
# One machine in three forms. The cell below runs what you have of the three on the same
# inputs and prints how far they are apart.

# %% id="three_forms" role="explore"
sequence_ = inputs(64, 8, 8, 260)
forms_ = {}
with suppress(NotImplementedError):
    forms_["step by step"] = step_by_step(mlstm_step, *sequence_)
with suppress(NotImplementedError):
    forms_["all at once"] = without_a_loop(mlstm_parallel, *sequence_)
with suppress(NotImplementedError):
    forms_["in chunks of 16"] = in_chunks(mlstm_chunk, *sequence_, 16)
for name_, said_ in forms_.items():
    apart_ = (said_ - next(iter(forms_.values()))).abs().max()
    print(f"{name_:<16} differs from the first by at most {'1e-4' if apart_ < 1e-4 else apart_}")

# %% [markdown]
# ## What recurrence is for
#
# The mLSTM gave up one thing to be parallel: its gates no longer hear what was said. Is
# anything lost?

# %% [markdown]
# ## 17. Train it on parity
#
# Read bits; say after each whether the number of ones so far is odd. Nothing could be
# simpler to state: one bit of memory, turned over by every 1. It cannot be done by
# picking and weighing what was read: **every** bit counts, and the answer turns with
# each.
#
# Write `train_parity`: make a `Parity` network, train it on strings of 6 bits from
# `parity_batch`, and return it. Train on the answer at **every** position. 200 steps of
# Adam with batches of 64 and a learning rate of 0.02 are enough, and take a second. The
# network says a *logit*: above 0 means odd. `F.binary_cross_entropy_with_logits` is the
# loss. Begin with `torch.manual_seed(seed)`, so that the run can be repeated.
#
# The check draws fresh strings, of 16 and of 40 bits: longer than any the network has
# seen. At least 95 of 100 answers must be right; guessing gives 50.
#
# Predict first: would it still learn if it were told only the last answer of each
# string?
#
# *Level: at size · difficulty 3/5 · about 25 minutes · 4 points.*

# %% id="parity"
class Parity(nn.Module):
    """An LSTM of 16 cells that reads bits and says a logit after each."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 16, batch_first=True)
        self.head = nn.Linear(16, 1)

    def forward(self, bits):
        """bits (B, T) of 0 and 1 -> logits (B, T)"""
        said, _ = self.lstm(2.0 * bits[..., None] - 1)
        return self.head(said)[..., 0]


def parity_batch(n, length, generator):
    """n strings of bits, and whether the ones up to each place are odd in number."""
    bits = torch.randint(0, 2, (n, length), generator=generator)
    return bits, bits.cumsum(dim=1) % 2


def share_right(model, length, seed, n=1000):
    """The share of right answers at the end of fresh strings."""
    bits, odd = parity_batch(n, length, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        return ((model(bits)[:, -1] > 0) == (odd[:, -1] == 1)).double().mean().item()


trained_ = {}

def trained(train):
    """The network that `train` makes, trained once."""
    if trained_.get("by") is not train:
        trained_.update(by=train, model=train(seed=0))
    return trained_["model"]

# %% id="train_parity" role="answer"
def train_parity(seed):
    """A network that knows parity, trained from its seed.

    seed   : for torch.manual_seed, and for the generator of the strings
    returns: a trained Parity

    200 steps, 64 strings of 6 bits each, Adam with a learning rate of 0.02.
    """
    ### BEGIN SOLUTION
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Parity()
    adam = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(200):
        bits, odd = parity_batch(64, 6, generator)
        loss = F.binary_cross_entropy_with_logits(model(bits), odd.float())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return model
    ### END SOLUTION

# %% id="train_parity-check" role="check" points=4 seconds=60
check("16 bits: 95 of 100", lambda: share_right(trained(train_parity), 16, seed=1) > 0.95)
check("an LSTM, and a logit for each bit",
      lambda: (isinstance(trained(train_parity), Parity),
               tuple(trained(train_parity)(torch.zeros(2, 3, dtype=torch.long)).shape)))
### BEGIN HIDDEN TESTS
check("40 bits: 95 of 100", lambda: share_right(trained(train_parity), 40, seed=2) > 0.95,
      weight=2)
check("the same again from the same seed", lambda: torch.equal(
    train_parity(seed=3).head.weight, train_parity(seed=3).head.weight))
### END HIDDEN TESTS

# %% [markdown]
# ## 18. In your own words: why the mLSTM cannot
#
# Trained in the same way, a network of two mLSTM layers stays near guessing on 40 bits,
# however long one trains (the chapter's page shows the run). Yet it has ten times the
# memory. Write five to eight sentences to somebody who says "more memory will do it". Say
# what the one bit of memory must do when a 1 comes in; how an LSTM can do that; what
# the gates of an mLSTM see and what therefore cannot happen in it; and what it has got
# in exchange.
#
# Predict first: could an sLSTM do it? Which of the two is it nearer to?
#
# *Level: by hand · difficulty 4/5 · about 15 minutes · 3 points.*

# %% [markdown] id="why_parity" role="written" points=3
# Parity needs a state that is **turned over** by every 1: what happens to the memory
# depends on what is in it. An LSTM can do this because its gates and its candidate see
# $h_{t-1}$, which says what is in the memory: on a 1 it can forget and write the
# opposite, on a 0 it keeps. In an mLSTM the gates, keys and values are computed from the
# input alone. So what it writes at a step is the same whatever it has read before, and
# the memory is only ever scaled and added to: $C_t$ is a weighted **sum** of what was
# written, with positive weights that do not depend on the content. A sum can count, but to
# tell odd from even in a count of any size takes a precision that grows with the length,
# and what it learns on short strings does not carry over. More memory does not help,
# because what is missing is not room but a way from the memory back to the gates. In
# exchange for it the mLSTM can be computed for all steps at once. An sLSTM has kept this
# hidden-to-hidden recurrence and can do parity; it must be run step by step.
#
# === BEGIN MARK SCHEME ===
#
# One point: parity needs an update that depends on the state (turning it over).
# One point: LSTM gates see h, mLSTM gates only the input, so what is written does not
# depend on what was read; the memory is a weighted sum. Half a point for "no recurrence"
# without saying of what.
# One point: what is won, all steps in parallel. Half of it may be given instead for the
# sLSTM, with the reason.
#
# === END MARK SCHEME ===

# %% [markdown]
# ## 19. The price of a memory
#
# What must be carried from one step to the next, while a model writes? An LSTM layer
# carries $h$ and $C$. An mLSTM layer carries, per head, $C$, $n$ and $m$. A transformer
# layer carries the keys and values of **every** token so far.
#
# Take one layer of width 4096. The mLSTM has 8 heads, with queries and keys of 256
# numbers and values of 512 each (as in xLSTM 7B); the transformer has 32 heads of 128 and
# keeps a key and a value of 128 for each. Fill in (you may type a formula):
#
# - `lstm_weights`: the parameters of an `nn.LSTM(4096, 4096)`: two matrices and two biases;
# - `lstm_carries`, `mlstm_carries`: the numbers carried by the LSTM and by the mLSTM layer;
# - `attention_carries`: the numbers that the attention layer carries after 8,192 tokens;
# - `equal_after`: after how many tokens the attention layer carries **more** than the
#   mLSTM layer, for the first time.
#
# Predict first: a hundred tokens, a thousand, ten thousand?
#
# *Level: at size · difficulty 2/5 · about 15 minutes · 3 points.*

# %% id="carried" role="answer"
lstm_weights = ...
lstm_carries = ...
mlstm_carries = ...
attention_carries = ...
equal_after = ...
### BEGIN SOLUTION
lstm_weights = 4 * (4096 * 4096 + 4096 * 4096 + 2 * 4096)       # 134,250,496
lstm_carries = 2 * 4096                                         # h and C
mlstm_carries = 8 * (256 * 512 + 256 + 1)                       # 1,050,632
attention_carries = 2 * 32 * 128 * 8192                         # 67,108,864
equal_after = mlstm_carries // (2 * 32 * 128) + 1               # 129
### END SOLUTION

# %% id="carried-check" role="check" points=3
check("parameters of the LSTM", lambda: lstm_weights, tol=0.5)
check("carried by the LSTM", lambda: lstm_carries, tol=0.5)
check("carried by the mLSTM", lambda: mlstm_carries, tol=0.5)
check("carried by attention", lambda: attention_carries, tol=0.5)
check("where the two meet", lambda: equal_after, tol=0.5)

# %% [markdown]
# ## What you have kept
#
# Three doors around a memory, and what their product leaves of the past; a memory
# with an address, three ways to compute it, and the one thing that it cannot do. The
# chapter's page trains both on text, and measures what each form costs.
