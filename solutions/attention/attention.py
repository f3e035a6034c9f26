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
# # Attention: exercises
#
# A reader cannot hold every word of a book in mind, and neither can a machine.
# At every step something has to decide **what to keep**. Attention is the most
# successful answer so far: each word asks a question, every other word says how
# well it fits, and the word keeps a little of each answer, in proportion to the
# fit. This notebook builds that mechanism from one query and four words, on
# paper, up to the multi-head causal attention of a large language model.
#
# | part | you build | exercises | points |
# |---|---|---|---|
# | By hand | one query; self-attention on small integers | 1 to 7 | 16 |
# | Turning the page | from tokens in columns to `(B, T, C)` | 8 | 2 |
# | The machine | stable softmax, attention, three kinds of mask | 9 to 13 | 11 |
# | Many heads | split, merge, multi-head causal attention | 14 to 16 | 8 |
# | Why it works | the scale, the gradient, the angle | 17 to 20 | 11 |
# | At size | another context, constant memory, GPT-3 | 21 to 24 | 12 |
#
# **How to work.** Under every exercise stands a *Predict first* line. Answer it in your
# head before you type: a wrong guess is worth more than a right answer found by trial.
# Then fill in the cell, run it, and run the check below it. A check shows which cases
# pass, what came and what was expected, and, where it recognises a mistake, what may
# have been misunderstood. Run it as often as you like. (Exercises 18 and 24 are
# answered in words and read by a person.) No check depends on an earlier answer, so
# skip what you are stuck on. Some checks have further cases that run only when the work
# is graded: other shapes, other numbers, the edges. Everything together is about five
# hours; three sittings are better than one.
#
# **What you may use.** Anything in `torch` and `numpy`, unless the exercise is to
# write that very thing. Never change an argument in place.

# %% id="setup"
import math
from contextlib import suppress
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder import check, randn, worksheet

# %% [markdown]
# ## By hand: tokens in columns
#
# In this first part a **vector stands upright**: a token is a column of numbers,
# and a matrix acts from the left, as in a linear algebra book. Take paper. The
# numbers are small on purpose.

# %% [markdown]
# ## 1. One query asks, the context answers
#
# What does the word *it* mean? Nobody can say without its neighbours. So the word
# starts with a rough vector $E$ and asks its context for help:
#
# 1. Every context word $i$ has a **key** $k_i$. The dot product $k_i \cdot q$ with the
#    **query** $q$ of our word is its *score*: how well it answers the question.
# 2. The scores become **weights** that are positive and add up to 1: each score $s$
#    becomes a power, and each power is divided by the sum of all of them. The
#    power is $e^{s}$ in real life; here, to be done in the head, it is $2^{s}$.
# 3. Every context word also has a **value** $v_i$: what it contributes if it is heard.
#    The *delta* is the sum of the values, each times its weight.
# 4. The word keeps what it was, and adds the delta: $E' = E + \sum_i a_i v_i$. This
#    adding is the **residual connection**.
#
# Fill in the blanks: four scores, four weights, the delta and $E'$ (two numbers
# each). Fractions may be typed as `1/8`.
#
# Predict first: two of the four words have score 0. Are they ignored?
#
# *Level: by hand · difficulty 1/5 · about 10 minutes · 2 points.*

# %% id="one_query_numbers"
E = [2, 1]
query = [1, 1]
keys = [[2, 0], [3, -2], [1, -1], [-2, 2]]      # one key per context word
values = [[6, 2], [0, 4], [-8, 8], [0, -8]]     # one value per context word

# %% id="one_query" role="answer"
one_scores = [..., ..., ..., ...]
one_weights = [..., ..., ..., ...]
one_delta = [..., ...]
one_refined = [..., ...]
### BEGIN SOLUTION
one_scores = [2, 1, 0, 0]                # 2+0, 3-2, 1-1, -2+2
one_weights = [1/2, 1/4, 1/8, 1/8]       # powers 4, 2, 1, 1 over their sum 8
one_delta = [2, 2]                       # 6/2 + 0 - 8/8 + 0, 2/2 + 4/4 + 8/8 - 8/8
one_refined = [4, 3]                     # E + delta
### END SOLUTION

# %% id="one_query-check" role="check" points=2
check("the scores", lambda: one_scores)
check("the weights", lambda: one_weights, tol=0.006)
check("the delta", lambda: one_delta, tol=0.06)
check("the refined word", lambda: one_refined, tol=0.06)

# %% [markdown]
# ## 2. The same, for any word
#
# Where do query, keys and values come from? From three matrices that training
# finds. With the word $E$ (a column of $C$ numbers) and $N$ context words as the
# columns of `context`:
#
# $$q = W_Q E \qquad k_i = W_K E_i \qquad v_i = W_V E_i \qquad
# a_i = \frac{e^{k_i \cdot q}}{\sum_j e^{k_j \cdot q}} \qquad
# E' = E + \sum_i a_i v_i$$
#
# Note the two letters: the weight of word $i$ is divided by a sum over *all* words
# $j$. There is no scaling yet; exercise 17 measures why one is needed.
#
# Write `refine`. `torch.softmax` is allowed here.
#
# Predict first: if the context is one word only, does it matter what the query asks?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="refine" role="answer"
def refine(E, context, W_Q, W_K, W_V):
    """The vector of one word after it has listened to its context.

    E       : (C,)      the word
    context : (C, N)    N context words, one per column
    W_Q, W_K: (d, C)    W_V: (C, C)
    returns : (C,)      E plus the weighted values; scores are not scaled

    With a context of one word the result is E + W_V @ context[:, 0].
    """
    ### BEGIN SOLUTION
    q = W_Q @ E                                # (d,)
    K = W_K @ context                          # (d, N)
    V = W_V @ context                          # (C, N)
    weights = torch.softmax(K.T @ q, dim=0)    # (N,)
    return E + V @ weights                     # (C,)
    ### END SOLUTION

# %% id="refine-check" role="check" points=2
check("a context of one word", refine, torch.tensor([1.0, 2.0]),
      torch.tensor([[3.0], [1.0]]), torch.eye(2), torch.eye(2), 2 * torch.eye(2))
check("three words", refine, randn(4, seed=1), randn(4, 3, seed=2),
      randn(2, 4, seed=3), randn(2, 4, seed=4), randn(4, 4, seed=5))
### BEGIN HIDDEN TESTS
check("six words, wide keys", refine, randn(3, seed=6), randn(3, 6, seed=7),
      randn(5, 3, seed=8), randn(5, 3, seed=9), randn(3, 3, seed=10))
check("as many words as features", refine, randn(4, seed=11), randn(4, 4, seed=12),
      randn(4, 4, seed=13), randn(4, 4, seed=14), randn(4, 4, seed=15), weight=2)
### END HIDDEN TESTS

# %% [markdown]
# ## 3. Queries, keys and values on integers
#
# In **self**-attention the words ask one another. All four tokens stand side by side
# as the columns of `X`, so one product makes all the queries at once: column $t$ of
# $Q = W_Q X$ is the query of token $t$. The same with $K = W_K X$ and $V = W_V X$.
#
# The first query, in full. Token 1 is the first column of `X`, $(2, 0, 0, 0, 2, 1)$, and
#
# $$q_1 = W_Q x_1 = \begin{pmatrix} 1\cdot2 + 1\cdot0 \\ 1\cdot0 + 1\cdot0 \\
# 1\cdot0 + 1\cdot2 + 1\cdot1 \end{pmatrix} = \begin{pmatrix} 2 \\ 0 \\ 3 \end{pmatrix}$$
#
# Fill in the three tables, each 3 rows by 4 columns, one column per token.
#
# Predict first: $W_V$ has a single 10 in each row. What does it do to a token, in
# words?
#
# *Level: by hand · difficulty 1/5 · about 15 minutes · 3 points.*

# %% id="given" include="GIVEN"

# %% [markdown]
# The whole example is also a sheet that you fill in box by box: a wrong number says so at
# once, and which sum to look at again. It gives no points, and needs no code. (Nothing to
# type into below? Then take the sheet on the chapter's page, or the one to print.)

# %% id="by_hand_sheet"
sheet = worksheet("attention", ["Q", "K", "V", "S", "H", "P", "A", "Z"])
sheet

# %% id="queries_keys_values" role="answer" fill=["Q", "K", "V"]

# %% id="queries_keys_values-check" role="check" points=3
check("the queries", lambda: Q)
check("the keys", lambda: K)
check("the values", lambda: V)

# %% [markdown]
# ## 4. Every key meets every query
#
# One dot product for each pair: $S = K^\top Q$. Entry $S_{ij}$ is key $i$ against query
# $j$, so **column $j$ holds everything token $j$ is told**, one number from each token,
# itself included. Its first entry: $k_1 \cdot q_1 = 0\cdot2 + 0\cdot0 + 1\cdot3 = 3$.
#
# Fill in `S`, 4 by 4: one row per key, one column per query.
#
# Predict first: is $S$ symmetric? What would have to be true of $W_Q$ and $W_K$?
#
# *Level: by hand · difficulty 1/5 · about 10 minutes · 2 points.*

# %% id="scores" role="answer" fill=["S"]

# %% id="scores-check" role="check" points=2
check("what token 1 is told", lambda: [row[0] for row in S])
check("all four columns", lambda: S)

# %% [markdown]
# ## 5. Scale and normalise, with fractions
#
# Two steps turn scores into weights: divide by $\sqrt{d_k}$, here $\sqrt3 \approx 1.73$,
# then take powers of $e$ and divide each **column** by its sum. Nobody does that in
# the head, so the paper version has two stand-ins:
#
# - instead of $s/\sqrt3$, take $\lfloor s/2 \rfloor$, the largest integer not above $s/2$;
# - instead of $e^x$, take $3^x$.
#
# A column with scores $(2, -3)$ becomes $(1, -2)$, then $(3, \tfrac19)$; the sum is
# $\tfrac{28}{9}$, and the weights are exactly $\tfrac{27}{28}$ and $\tfrac1{28}$.
#
# Start from `S` of exercise 4 and fill in `H`, the floored halves, and `A_floor`, the
# weights. Type exact fractions, as `9/46` or `Fraction(9, 46)`.
#
# Predict first: what is $\lfloor -1/2 \rfloor$? Say it aloud before you write it down.
#
# *Level: by hand · difficulty 2/5 · about 15 minutes · 2 points.*

# %% id="floor_weights" role="answer" fill=["H", "A_floor=A"]

# %% id="floor_weights-check" role="check" points=2
check("the floored halves", lambda: H)
check("the weights of token 1", lambda: [row[0] for row in A_floor], tol=0.0006)
check("all the weights", lambda: [list(row) for row in A_floor], tol=0.0006)

# %% [markdown]
# ## 6. The mistake in the picture
#
# The article this example comes from remarks, about its own picture, that the
# first column of the weight matrix does not add up to 1. We do not have that picture.
# Be the detective: suppose that it shows the paper rule's weights with one decimal.
# Where can the mistake come from?
#
# There are two ways to halve an odd negative number. The **floor** goes down
# ($-\tfrac12 \to -1$). A program that cuts off the digits after the point, as
# `int()` does, **truncates** towards zero ($-\tfrac12 \to 0$).
#
# For each rule: compute the weights exactly, round every weight to one decimal
# (a 5 in the second decimal goes up), and add up each column of rounded weights.
#
# - `floor_sums` and `trunc_sums`: four column sums each, with one decimal;
# - `rule_in_picture`: `"floor"` or `"trunc"`, the rule that fits the remark.
#
# Predict first: can a column of *correctly* rounded weights fail to add up to 1?
#
# *Level: by hand · difficulty 3/5 · about 15 minutes · 2 points.*

# %% id="typo" role="answer"
floor_sums = [..., ..., ..., ...]
trunc_sums = [..., ..., ..., ...]
rule_in_picture = ...
### BEGIN SOLUTION
def one_decimal_sums(rule):
    powers = 3.0 ** rule((W_K @ X).T @ (W_Q @ X) / 2)              # (4, 4)
    tenths = torch.floor(10 * powers / powers.sum(dim=0) + 0.5)    # a 5 goes up
    return [float(column) / 10 for column in tenths.sum(dim=0)]

floor_sums = one_decimal_sums(torch.floor)    # 1.0, 0.9, 0.9, 1.1
trunc_sums = one_decimal_sums(torch.trunc)    # 1.1, 1.0, 0.9, 1.1
rule_in_picture = "trunc"                     # only here does column 1 miss 1
### END SOLUTION

# %% id="typo-check" role="check" points=2
check("column sums with the floor", lambda: floor_sums, tol=0.01)
check("column sums when truncated", lambda: trunc_sums, tol=0.01)
check("the rule in the picture", lambda: rule_in_picture)

# %% [markdown]
# ## 7. The real thing, still in columns
#
# Now let the computer do it without stand-ins:
#
# $$A = \operatorname{softmax}\!\left(\frac{K^\top Q}{\sqrt{d}}\right)
# \text{ down each column}, \qquad Z = V A$$
#
# Column $j$ of $Z$ is the mixture of values that token $j$ keeps. Read the shapes:
# $(d_v, T)\,(T, T) \to (d_v, T)$; the inner $T$ counts keys.
#
# Write `attention_columns`. `torch.softmax` is allowed.
#
# Predict first: in the worked example token 4 gives three quarters of its weight
# to token 2. Which column of $V$ will its $z_4$ look like?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 3 points.*

# %% id="worked"
WORKED = [m.float() for m in (X, W_Q, W_K, W_V)]

# %% id="attention_columns" role="answer"
def attention_columns(X, W_Q, W_K, W_V):
    """Self-attention with one token per column.

    X       : (C, T)
    W_Q, W_K: (d, C)    W_V: (d_v, C)
    returns : (d_v, T)  column j is what token j keeps

    With T = 1 the only weight is 1, so the result is W_V @ X.
    """
    ### BEGIN SOLUTION
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X        # (d, T), (d, T), (d_v, T)
    S = K.T @ Q / math.sqrt(Q.shape[0])        # (keys, queries)
    A = torch.softmax(S, dim=0)                # each column sums to 1
    return V @ A                               # (d_v, T)
    ### END SOLUTION

# %% id="attention_columns-check" role="check" points=3
check("the worked example", attention_columns, *WORKED)
check("one token", attention_columns, randn(3, 1, seed=20), randn(2, 3, seed=21),
      randn(2, 3, seed=22), randn(4, 3, seed=23))
### BEGIN HIDDEN TESTS
check("five tokens, narrow keys", attention_columns, randn(4, 5, seed=24),
      randn(2, 4, seed=25), randn(2, 4, seed=26), randn(3, 4, seed=27))
check("everything square", attention_columns, randn(3, 3, seed=28),
      randn(3, 3, seed=29), randn(3, 3, seed=30), randn(3, 3, seed=31))
### END HIDDEN TESTS

# %% [markdown]
# The picture shows your two sets of weights side by side: the paper rule of exercise 5,
# and the true softmax. Brighter means more is kept, and each column adds up to 1. (How
# does one get at the weights, when the function returns $Z$? With a $W_V$ that turns
# `X` into the identity matrix, $Z = V A$ *is* $A$.)

# %% id="weights_picture" role="explore"
with suppress(NotImplementedError, TypeError):       # TypeError: a blank in A_floor
    tables = {"floor(s/2), powers of 3": torch.tensor(np.array(A_floor, dtype=float)),
              "true softmax": attention_columns(*WORKED[:3], torch.linalg.pinv(WORKED[0]))}
    fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.2))
    for ax, (title, A_) in zip(axes, tables.items()):
        ax.imshow(A_, vmin=0, vmax=1, cmap="cividis")
        for i in range(4):
            for j in range(4):
                ax.text(j, i, f"{A_[i, j]:.2f}", ha="center", va="center",
                        color="black" if A_[i, j] > 0.5 else "white")
        ax.set(title=title, xlabel="query of token", ylabel="key of token",
               xticks=range(4), xticklabels=range(1, 5),
               yticks=range(4), yticklabels=range(1, 5))
    plt.show()

# %% [markdown]
# ## Turning the page: tokens in rows
#
# Paper likes columns, code likes rows. From here on a batch of texts is one tensor
# of shape **`(B, T, C)`**: `B` texts, `T` tokens each, `C` channels (features) per
# token. A token is now the *last* axis, a row. Everything on the left page has a twin
# on the right page, its transpose:
#
# | what | paper: tokens in columns | code: tokens in rows |
# |---|---|---|
# | tokens | $X$ is $(C, T)$ | `x` is `(B, T, C)` |
# | queries | $Q = W_Q X$ | `q = x @ W_Q.T` |
# | scores | $S = K^\top Q$, (key, query) | `s = q @ k.transpose(-2, -1)`, (query, key) |
# | weights sum to 1 | down each column, `dim=0` | along each row, `dim=-1` |
# | output | $Z = V A$ | `z = a @ v` |
#
# The matrices themselves do **not** turn: `nn.Linear(C, d)` stores its weight as
# `(d, C)`, like $W_Q$ on paper, and computes `x @ weight.T`. Batches come for free,
# because `@` multiplies the last two axes and carries all the others along.

# %% [markdown]
# ## 8. Turn the page
#
# You get `B` column matrices stacked in `X`, shape `(B, C, T)`, and one weight `W` of
# shape `(d, C)`. Return the projected tokens **in rows**, `(B, T, d)`: row $t$ of text
# $b$ is $W$ times column $t$ of `X[b]`.
#
# Predict first: `X.reshape(B, T, C)` also has the wished-for shape. What does it do to
# the tokens?
#
# *Level: numpy/torch · difficulty 2/5 · about 5 minutes · 2 points.*

# %% id="project_in_rows" role="answer"
def project_in_rows(X, W):
    """Project tokens that come in columns, and return them in rows.

    X      : (B, C, T)   W: (d, C)
    returns: (B, T, d)

    With W the identity this only swaps the last two axes of X.
    """
    ### BEGIN SOLUTION
    return X.transpose(1, 2) @ W.T    # (B, T, C) @ (C, d) -> (B, T, d)
    ### END SOLUTION

# %% id="project_in_rows-check" role="check" points=2
check("identity weight", project_in_rows,
      torch.arange(6.0).reshape(1, 2, 3), torch.eye(2))
check("two texts", project_in_rows, randn(2, 3, 4, seed=40), randn(2, 3, seed=41))
### BEGIN HIDDEN TESTS
check("square weight", project_in_rows, randn(3, 4, 5, seed=42),
      randn(4, 4, seed=43))
check("everything square", project_in_rows, randn(1, 3, 3, seed=44),
      randn(3, 3, seed=45))
check("one token", project_in_rows, randn(2, 4, 1, seed=46), randn(3, 4, seed=47))
### END HIDDEN TESTS

# %% [markdown]
# ## The machine: softmax, attention, masks
#
# Five small functions, each a few lines. Together they are the core of every
# transformer in use.

# %% [markdown]
# ## 9. A softmax that survives
#
# $$p_i = \frac{e^{s_i}}{\sum_j e^{s_j}}$$
#
# On a computer this breaks: `exp(89.0)` is already infinite in float32, and
# infinity over infinity is not a number. The rescue is that softmax does not
# change when every score is shifted by the same amount: $(0, 1)$ and
# $(1000, 1001)$ have the same softmax.
#
# Write `softmax(scores, dim)`. It must return finite, right numbers for scores in the
# thousands, also when one row lies thousands above another, and give weight 0 to a
# score of $-\infty$ (every line along `dim` has at least one finite score).
#
# Predict first: which shift makes every exponential at most 1, and the sum at least
# 1?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="softmax" role="answer"
def softmax(scores, dim):
    """Positive weights along `dim` that add up to 1.

    scores : any shape, any real numbers, also -inf
    returns: the same shape

    softmax(torch.tensor([0.0, math.log(3)]), 0) is [0.25, 0.75].
    """
    ### BEGIN SOLUTION
    top = scores.max(dim=dim, keepdim=True).values    # one per line along dim
    powers = (scores - top).exp()                     # the largest is exactly 1
    return powers / powers.sum(dim=dim, keepdim=True)
    ### END SOLUTION

# %% id="softmax-check" role="check" points=2 forbid=["softmax", "log_softmax", "softmin", "gumbel_softmax", "Softmax", "LogSoftmax", "Softmin", "_softmax", "_log_softmax"]
check("log 1 and log 3", softmax, torch.tensor([0.0, math.log(3)]), 0)
check("down the columns", softmax, randn(3, 2, seed=50), 0)
check("along the rows", softmax, randn(2, 3, seed=51), 1)
check("scores near 1000", softmax, torch.tensor([[1000.0, 1001.0, 1002.0]]), 1)
check("from -1000 to 1000", softmax, torch.tensor([[-1000.0, 0.0, 999.0, 1000.0]]), 1)
### BEGIN HIDDEN TESTS
check("rows thousands apart", softmax,
      randn(2, 3, seed=52) + torch.tensor([[2000.0], [-2000.0]]), 1)
check("a forbidden score", softmax,
      torch.tensor([[0.5, -math.inf, 1.0], [-math.inf, 2.0, -math.inf]]), -1)
check("the middle of three axes", softmax, 3 * randn(2, 4, 3, seed=53), 1)
check("a single score", softmax, torch.tensor([[-7.0]]), 1)
### END HIDDEN TESTS

# %% [markdown]
# ## 10. Scaled dot-product attention
#
# The whole mechanism in three lines, for any number of leading axes:
#
# 1. scores: every query against every key, divided by $\sqrt{d}$, with $d$ the number of
#    entries of a query;
# 2. weights: softmax over the **keys**, so that each query spends exactly 1;
# 3. output: the weights times the values.
#
# This is `torch.nn.functional.scaled_dot_product_attention`, and your version must
# agree with it. `torch.softmax` is allowed; that function itself is not.
#
# Predict first: which of the axes $T_q$, $T_k$, $d$, $d_v$ are gone from the result?
#
# *Level: against the library · difficulty 2/5 · about 15 minutes · 3 points.*

# %% id="attention" role="answer"
def attention(q, k, v):
    """What each query keeps of the values.

    q      : (..., T_q, d)
    k      : (..., T_k, d)
    v      : (..., T_k, d_v)
    returns: (..., T_q, d_v)

    With one key the only weight is 1: every query gets v[..., 0, :].
    """
    ### BEGIN SOLUTION
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])    # (..., T_q, T_k)
    a = torch.softmax(s, dim=-1)                            # each row sums to 1
    return a @ v                                            # (..., T_q, d_v)
    ### END SOLUTION

# %% id="attention-check" role="check" points=3 forbid=["scaled_dot_product_attention"]
check("one key", attention, randn(1, 2, 3, seed=60), randn(1, 1, 3, seed=61),
      randn(1, 1, 2, seed=62))
check("two queries, three keys", attention, randn(1, 2, 4, seed=63),
      randn(1, 3, 4, seed=64), randn(1, 3, 2, seed=65))
### BEGIN HIDDEN TESTS
check("a batch of heads", attention, randn(2, 3, 5, 4, seed=66),
      randn(2, 3, 7, 4, seed=67), randn(2, 3, 7, 6, seed=68))
check("everything square", attention, randn(3, 4, 4, seed=69),
      randn(3, 4, 4, seed=70), randn(3, 4, 4, seed=71))
check("wide queries", attention, randn(2, 3, 32, seed=72), randn(2, 5, 32, seed=73),
      randn(2, 5, 3, seed=74))
# whole numbers: their sums are exact in any order
check("huge scores", attention, randn(1, 3, 16, seed=75).round() + 16 * torch.eye(16)[0],
      randn(1, 4, 16, seed=76).round() + 32 * torch.eye(16)[0], randn(1, 4, 2, seed=77))
### END HIDDEN TESTS

# %% id="attention_judge" role="explore"
q_, k_, v_ = randn(2, 3, 5, 4, seed=1), randn(2, 3, 7, 4, seed=2), randn(2, 3, 7, 6, seed=3)
with suppress(NotImplementedError):
    agrees = torch.allclose(attention(q_, k_, v_),
                            F.scaled_dot_product_attention(q_, k_, v_), atol=1e-5)
    print("agrees with the library:", agrees)

# %% [markdown]
# ## 11. Not everything may be kept
#
# A **mask** says which keys a query may see. `keep` is boolean, `True` where seeing is
# allowed. A forbidden pair must end with weight exactly 0, and the allowed weights
# of a query must still add up to 1. That is why the mask goes in **before** the
# softmax: a forbidden score becomes $-\infty$, and $e^{-\infty} = 0$.
#
# With scores $(\log 1, \log 3, \log 6)$ and the last key forbidden, the weights are
# $(\tfrac14, \tfrac34, 0)$, not $(\tfrac1{10}, \tfrac3{10}, 0)$.
#
# Write `masked_attention`. Every query is allowed at least one key. (Beware of the
# polarity elsewhere: `F.scaled_dot_product_attention` also reads `True` as *keep*,
# but `nn.MultiheadAttention` reads `True` as *leave out*.)
#
# Predict first: a score of 0 is not a forbidden score. What weight does it get beside a
# score of $-3$?
#
# *Level: against the library · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="masked_attention" role="answer"
def masked_attention(q, k, v, keep):
    """Scaled dot-product attention where each query sees only the allowed keys.

    q      : (B, T_q, d)    k: (B, T_k, d)    v: (B, T_k, d_v)
    keep   : (B, T_q, T_k) or (T_q, T_k), bool, True = may be seen
    returns: (B, T_q, d_v)

    With one allowed key j, a query gets v[:, j] exactly.
    """
    ### BEGIN SOLUTION
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])    # (B, T_q, T_k)
    s = s.masked_fill(~keep, -math.inf)
    return torch.softmax(s, dim=-1) @ v                     # (B, T_q, d_v)
    ### END SOLUTION

# %% id="masked_attention-check" role="check" points=2 forbid=["scaled_dot_product_attention"]
check("one allowed key", masked_attention, randn(1, 1, 2, seed=80),
      randn(1, 3, 2, seed=81), randn(1, 3, 2, seed=82),
      torch.tensor([[False, True, False]]))
check("a triangle", masked_attention, randn(1, 3, 2, seed=83), randn(1, 3, 2, seed=84),
      randn(1, 3, 2, seed=85), torch.ones(3, 3, dtype=torch.bool).tril())
### BEGIN HIDDEN TESTS
check("a mask per text", masked_attention, randn(2, 3, 4, seed=86),
      randn(2, 5, 4, seed=87), randn(2, 5, 3, seed=88),
      (randn(2, 3, 5, seed=89) > 0) | (torch.arange(5) == 2))
check("a forbidden key far ahead", masked_attention,
      randn(1, 4, 8, seed=90) + torch.tensor([16.0, 0, 0, 0, 0, 0, 0, 0]),
      torch.cat([randn(1, 3, 8, seed=91), torch.eye(8)[None, :1] * 40], dim=1),
      randn(1, 4, 2, seed=92), torch.ones(4, 4, dtype=torch.bool).tril())
check("scores far below zero", masked_attention, 64 * torch.ones(1, 3, 16),
      torch.tensor([0, 1, 4])[:, None] / 32 * torch.eye(16)[0] - 64 * torch.ones(1, 3, 16),
      randn(1, 3, 2, seed=96), torch.ones(3, 3, dtype=torch.bool).tril())
check("nothing forbidden", masked_attention, randn(2, 2, 3, seed=93),
      randn(2, 4, 3, seed=94), randn(2, 4, 3, seed=95),
      torch.ones(2, 4, dtype=torch.bool))
### END HIDDEN TESTS

# %% [markdown]
# **A head wired by hand.** The cell below gives each word four features (noun, pronoun,
# verb, place in the sentence) and writes down a $W_Q$ in which pronouns ask for nouns
# and verbs ask for nouns and pronouns, the nearer the better. Look at the row of *it*:
# whom does it mean? And what do the words do that ask for nothing?

# %% id="wired_head" role="explore"
words = "the cat saw the dog and it ran".split()
n = len(words)
x_ = torch.zeros(1, n, 4)                                # noun, pronoun, verb, place
for t, word in enumerate(words):
    x_[0, t] = torch.tensor([word in ("cat", "dog"), word == "it",
                             word in ("saw", "ran"), t / (n - 1)])
ask = torch.tensor([[0.0, 8, 6, 0],      # how much a noun is wanted
                    [0.0, 0, 8, 0],      # how much a pronoun is wanted
                    [0.0, 6, 6, 0]])     # how much nearness is wanted
offer = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
with suppress(NotImplementedError):
    triangle = torch.ones(n, n, dtype=torch.bool).tril()
    # with the identity as values, the output *is* the weight matrix
    A_ = masked_attention(x_ @ ask.T, x_ @ offer.T, torch.eye(n)[None], triangle)[0]
    fig, ax = plt.subplots(figsize=(4.6, 4.2))
    image = ax.imshow(A_, vmin=0, vmax=1, cmap="cividis")
    ax.set(xticks=range(n), xticklabels=words, yticks=range(n), yticklabels=words,
           xlabel="key: who is heard", ylabel="query: who listens")
    fig.colorbar(image, label="weight")
    plt.show()

# %% [markdown]
# ## 12. No peeking, no padding
#
# Two reasons to forbid a key. **Causal**: a language model predicts the next token, so
# token $i$ may see tokens $0$ to $i$, itself included, and nothing later. **Padding**:
# texts of a batch differ in length; the short ones are filled up at the end with
# tokens that mean nothing, which nobody may keep.
#
# For a batch with the given lengths build one mask that does both: `keep[b, i, j]` is
# `True` exactly when $j \le i$ and $j$ is smaller than the length of text $b$. (Rows of
# padded *queries* follow the same rule; their output is never used.)
#
# For `lengths = [2]` and `T = 3`, with 1 for `True`:
# $\begin{pmatrix} 1&0&0 \\ 1&1&0 \\ 1&1&0 \end{pmatrix}$
#
# Predict first: how many entries are `True` for one unpadded text of length $T$?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="causal_padding_mask" role="answer"
def causal_padding_mask(lengths, T):
    """Which keys each query may see: none that come later, none that are padding.

    lengths: (B,) integers from 1 to T
    returns: (B, T, T) bool; axis 1 is the query, axis 2 the key; True = may be seen

    causal_padding_mask(torch.tensor([1]), 2) is [[[True, False], [True, False]]].
    """
    ### BEGIN SOLUTION
    query = torch.arange(T)[:, None]                 # (T, 1)
    key = torch.arange(T)[None, :]                   # (1, T)
    return (key <= query) & (key < lengths[:, None, None])    # (B, T, T)
    ### END SOLUTION

# %% id="causal_padding_mask-check" role="check" points=2
check("two texts", causal_padding_mask, torch.tensor([2, 3]), 3, dtype=True)
check("one token", causal_padding_mask, torch.tensor([1]), 1, dtype=True)
### BEGIN HIDDEN TESTS
check("four texts", causal_padding_mask, torch.tensor([5, 1, 4, 2]), 5, dtype=True)
check("as many texts as tokens", causal_padding_mask, torch.tensor([3, 1, 2]), 3,
      dtype=True)
check("all padded", causal_padding_mask, torch.tensor([2, 1]), 6, dtype=True)
### END HIDDEN TESTS

# %% [markdown]
# ## 13. A window that slides
#
# Long texts are expensive to remember. With a **sliding window** of width `w` each token
# keeps only the last `w` tokens, *itself included*: with `w = 1` it sees only itself.
#
# There is one more twist, and it bites everyone once. While a model writes, the keys of
# the past are stored and only the newest queries are computed. So there are `T_q`
# queries and `T_k >= T_q` keys, and the queries are the **last** `T_q` positions: query
# row $i$ stands at position $p = i + T_k - T_q$.
#
# `window_mask(2, 4, 2)`: two queries, at positions 2 and 3, each sees two tokens:
# $\begin{pmatrix} 0&1&1&0 \\ 0&0&1&1 \end{pmatrix}$
#
# Predict first: one new query, five stored keys, a huge window. How many keys does it
# see? (`is_causal=True` in torch's own function would let it see one.)
#
# *Level: numpy/torch · difficulty 3/5 · about 10 minutes · 2 points.*

# %% id="window_mask" role="answer"
def window_mask(T_q, T_k, w):
    """Causal mask in which a query sees the last w tokens, itself included.

    returns: (T_q, T_k) bool, True = may be seen; the queries are the last T_q positions

    window_mask(1, 3, 2) is [[False, True, True]].
    """
    ### BEGIN SOLUTION
    position = torch.arange(T_q)[:, None] + T_k - T_q    # (T_q, 1)
    key = torch.arange(T_k)[None, :]                     # (1, T_k)
    return (key <= position) & (key > position - w)      # (T_q, T_k)
    ### END SOLUTION

# %% id="window_mask-check" role="check" points=2
check("four tokens, width 2", window_mask, 4, 4, 2, dtype=True)
check("two new queries", window_mask, 2, 4, 2, dtype=True)
### BEGIN HIDDEN TESTS
check("width 1", window_mask, 3, 3, 1, dtype=True)
check("one new query, wide window", window_mask, 1, 5, 99, dtype=True)
check("a longer text", window_mask, 5, 8, 3, dtype=True)
check("one token", window_mask, 1, 1, 1, dtype=True)
### END HIDDEN TESTS

# %% id="mask_pictures" role="explore"
with suppress(NotImplementedError):
    masks = {"causal, last 4 of 12 padded": causal_padding_mask(torch.tensor([8]), 12)[0],
             "window of 4": window_mask(12, 12, 4),
             "3 new queries, window of 4": window_mask(3, 12, 4)}
    fig, axes = plt.subplots(1, 3, figsize=(8, 2.9))
    for ax, (title, mask) in zip(axes, masks.items()):
        ax.imshow(mask, cmap="cividis", vmin=0, vmax=1)
        ax.set_title(title, fontsize=9)
        ax.set(xlabel="key", ylabel="query", xticks=[], yticks=[])
    plt.show()

# %% [markdown]
# ## Many heads
#
# One softmax can keep one kind of thing at a time: the verb that belongs to me, *or*
# the noun I stand for. So the channels are divided among `H` **heads**, each with its
# own queries, keys and values of `D = C / H` numbers, and each decides for itself
# what to keep.

# %% [markdown]
# ## 14. Split the heads
#
# Turn `(B, T, C)` into `(B, H, T, D)`. Head $h$ gets the channels $hD$ to $hD + D - 1$ of
# **every** token. A token `[1, 2, 3, 4, 5, 6]` with `H = 2` gives `[1, 2, 3]` to head 0
# and `[4, 5, 6]` to head 1. The head axis moves in front of the token axis, so that `@`
# treats heads like a batch.
#
# Predict first: `x.view(B, H, T, D)` has the right shape in one step. Whose numbers
# does head 0 get?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="split_heads" role="answer"
def split_heads(x, H):
    """Give each head its share of the channels of every token.

    x      : (B, T, C), C divisible by H
    returns: (B, H, T, C // H)

    split_heads(torch.tensor([[[1, 2, 3, 4]]]), 2) is [[[[1, 2]], [[3, 4]]]].
    """
    ### BEGIN SOLUTION
    B, T, C = x.shape
    x = x.reshape(B, T, H, C // H)    # cut the channels into H pieces
    return x.transpose(1, 2)          # (B, H, T, D)
    ### END SOLUTION

# %% id="split_heads-check" role="check" points=2
check("two tokens, two heads", split_heads, torch.arange(8).reshape(1, 2, 4), 2)
check("three heads", split_heads, torch.arange(24).reshape(2, 2, 6), 3)
### BEGIN HIDDEN TESTS
check("longer text", split_heads, randn(3, 5, 8, seed=100), 4)
check("one head", split_heads, randn(2, 3, 4, seed=101), 1)
check("as many heads as channels", split_heads, randn(1, 4, 3, seed=102), 3)
check("everything square", split_heads, randn(2, 4, 16, seed=103), 4)
### END HIDDEN TESTS

# %% [markdown]
# ## 15. Merge the heads
#
# The way back: `(B, H, T, D)` to `(B, T, H * D)`. Lay the outputs of the heads of one
# token side by side, head 0 first.
#
# Predict first: after `transpose` a tensor is no longer contiguous. Does
# `reshape` care? Does `view`?
#
# *Level: numpy/torch · difficulty 2/5 · about 5 minutes · 2 points.*

# %% id="merge_heads" role="answer"
def merge_heads(x):
    """Lay the heads of each token side by side: the inverse of splitting.

    x      : (B, H, T, D)
    returns: (B, T, H * D)

    merge_heads(torch.tensor([[[[1, 2]], [[3, 4]]]])) is [[[1, 2, 3, 4]]].
    """
    ### BEGIN SOLUTION
    B, H, T, D = x.shape
    return x.transpose(1, 2).reshape(B, T, H * D)    # (B, T, H, D) -> (B, T, H * D)
    ### END SOLUTION

# %% id="merge_heads-check" role="check" points=2
check("two heads, two tokens", merge_heads, torch.arange(8).reshape(1, 2, 2, 2))
check("three heads", merge_heads, torch.arange(24).reshape(2, 3, 2, 2))
### BEGIN HIDDEN TESTS
check("longer text", merge_heads, randn(3, 4, 5, 2, seed=110))
check("one head", merge_heads, randn(2, 1, 3, 4, seed=111))
check("one token", merge_heads, randn(2, 3, 1, 2, seed=112))
check("everything square", merge_heads, randn(1, 3, 3, 3, seed=113))
### END HIDDEN TESTS

# %% [markdown]
# ## 16. Multi-head causal attention
#
# Put it together: project, split, attend (causally), merge. Then comes the step that
# short accounts leave out. Laying the heads side by side does not yet *combine*
# them: a last learned matrix $W_O$ mixes what the heads found before it is added to
# the token.
#
# All four weights are `(C, C)` and stored like those of `nn.Linear`: `x @ W.T`. There
# are no biases, and the residual is not part of this function. You may use
# `F.scaled_dot_product_attention`, `torch.softmax`, whatever you like, but not
# `nn.MultiheadAttention`.
#
# Predict first: the scores are divided by the square root of... $C$ or $D$?
#
# *Level: against the library · difficulty 4/5 · about 25 minutes · 4 points.*

# %% id="multi_head_attention" role="answer"
def multi_head_attention(x, W_Q, W_K, W_V, W_O, H):
    """Causal self-attention with H heads.

    x      : (B, T, C), C divisible by H
    W_*    : (C, C), used as x @ W.T
    returns: (B, T, C); token t depends on tokens 0 to t only

    With T = 1 the result is x @ W_V.T @ W_O.T.
    """
    ### BEGIN SOLUTION
    B, T, C = x.shape
    q, k, v = [(x @ W.T).reshape(B, T, H, C // H).transpose(1, 2)
               for W in (W_Q, W_K, W_V)]                     # (B, H, T, D) each
    s = q @ k.transpose(-2, -1) / math.sqrt(C // H)          # (B, H, T, T)
    keep = torch.ones(T, T, dtype=torch.bool).tril()
    a = torch.softmax(s.masked_fill(~keep, -math.inf), dim=-1)
    z = (a @ v).transpose(1, 2).reshape(B, T, C)             # heads side by side
    return z @ W_O.T                                         # heads combined
    ### END SOLUTION

# %% id="multi_head_attention-check" role="check" points=4 forbid=["MultiheadAttention", "multi_head_attention_forward"]
check("one token", multi_head_attention, randn(1, 1, 4, seed=120),
      *randn(4, 4, 4, seed=121), 2)
check("one head", multi_head_attention, randn(1, 3, 2, seed=122),
      *randn(4, 2, 2, seed=123), 1)
check("two heads", multi_head_attention, randn(1, 3, 4, seed=124),
      *randn(4, 4, 4, seed=125), 2)
### BEGIN HIDDEN TESTS
check("three heads, a batch", multi_head_attention, randn(2, 5, 6, seed=126),
      *(0.5 * randn(4, 6, 6, seed=127)), 3, weight=2)
check("four heads, a long text", multi_head_attention, randn(1, 9, 8, seed=128),
      *(0.5 * randn(4, 8, 8, seed=129)), 4, weight=2)
check("heads of one channel", multi_head_attention, randn(2, 4, 3, seed=130),
      *randn(4, 3, 3, seed=131), 3)
### END HIDDEN TESTS

# %% id="heads_judge" role="explore"
x_, weights_, heads_ = randn(2, 5, 6, seed=1), randn(4, 6, 6, seed=2), 3
library = nn.MultiheadAttention(6, heads_, bias=False, batch_first=True)
library.load_state_dict({"in_proj_weight": weights_[:3].reshape(18, 6),
                         "out_proj.weight": weights_[3]})
leave_out = ~torch.ones(5, 5, dtype=torch.bool).tril()      # the other polarity
with suppress(NotImplementedError), torch.no_grad():
    theirs = library(x_, x_, x_, attn_mask=leave_out, need_weights=False)[0]
    ours = multi_head_attention(x_, *weights_, heads_)
    print("agrees with nn.MultiheadAttention:", torch.allclose(ours, theirs, atol=1e-4))

# %% [markdown]
# ## Why it works
#
# A formula that can be typed in three lines still raises three questions. Why that
# square root? Why does training like it? And is a dot product really a measure of
# similarity?

# %% [markdown]
# ## 17. Measure the square root
#
# Let the $d$ numbers of a query and of a key be independent, with mean 0 and variance 1.
# Then each product has variance 1, and the sum of $d$ of them, $q \cdot k$, has variance
# $d$. Do not believe it: measure it, and measure what it does to the softmax.
#
# For `N` queries with `T` keys of their own each, return three numbers:
#
# 1. the variance of all `N * T` **raw** scores $q \cdot k$ (the mean squared distance from
#    their mean: divide by `N * T`);
# 2. the **top weight**, averaged over the queries, when raw scores go into the softmax:
#    what share does the favourite key get?
# 3. the same when the scores are first divided by $\sqrt d$.
#
# Predict first: with 64 keys, a fair share is 1/64. What is the top weight for
# $d = 128$, unscaled?
#
# *Level: numpy/torch · difficulty 3/5 · about 15 minutes · 3 points.*

# %% id="score_stats" role="answer"
def score_stats(q, k):
    """How wide the scores are, and how much the favourite key gets.

    q      : (N, d)       one query each
    k      : (N, T, d)    T keys for each query
    returns: (3,)         variance of the raw scores, mean top weight raw, and scaled

    With T = 1 both top weights are 1.
    """
    ### BEGIN SOLUTION
    s = (k @ q[:, :, None])[:, :, 0]                          # (N, T)
    variance = s.var(unbiased=False)
    raw = torch.softmax(s, dim=1).max(dim=1).values.mean()
    scaled = torch.softmax(s / math.sqrt(q.shape[1]), dim=1).max(dim=1).values.mean()
    return torch.stack([variance, raw, scaled])
    ### END SOLUTION

# %% id="score_stats-check" role="check" points=3
check("one key each", score_stats, randn(3, 2, seed=140), randn(3, 1, 2, seed=141))
check("d = 4", score_stats, randn(2, 4, seed=142), randn(2, 3, 4, seed=143))
### BEGIN HIDDEN TESTS
check("d = 64", score_stats, randn(50, 64, seed=144), randn(50, 16, 64, seed=145))
check("d = 128, 64 keys", score_stats, randn(30, 128, seed=146),
      randn(30, 64, 128, seed=147))
check("as many keys as queries", score_stats, randn(5, 3, seed=148),
      randn(5, 5, 3, seed=149))
### END HIDDEN TESTS

# %% [markdown]
# The left plot should follow the dashed line, variance $= d$. On the right, the unscaled
# softmax soon gives nearly everything to one key: it no longer weighs, it picks.

# %% id="saturation" role="explore"
sizes = [4, 16, 64, 256]
with suppress(NotImplementedError):
    stats = np.array([score_stats(randn(40, d, seed=d), randn(40, 64, d, seed=d + 1))
                      for d in sizes], dtype=float)                   # (sizes, 3)
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3))
    left.loglog(sizes, sizes, "k--", label="variance = d")
    left.loglog(sizes, stats[:, 0], "o", label="measured")
    left.set(xlabel="d", ylabel="variance of q·k", yticks=sizes, yticklabels=sizes)
    right.semilogx(sizes, stats[:, 1], "o-", label="raw scores")
    right.semilogx(sizes, stats[:, 2], "s-", label="divided by √d")
    right.axhline(1 / 64, color="k", linestyle="--", label="fair share")
    right.set(xlabel="d", ylabel="mean top weight of 64 keys", ylim=(0, 1))
    for ax in (left, right):
        ax.set(xticks=sizes, xticklabels=sizes)
        ax.minorticks_off()
        ax.legend()
    plt.show()

# %% [markdown]
# ## 18. In your own words: why the square root?
#
# It is often said that the scores are divided by $\sqrt{d_k}$ "for efficiency". Write five
# to eight sentences to a friend who believes this. Say what grows without the division
# and how fast; what that does to the softmax and then to its gradient; why the *square
# root* and not $d_k$ itself; and, for a model with 12,288 channels and 96 heads, which
# number stands under the root.
#
# Predict first: does the division save any computation at all?
#
# *Level: by hand · difficulty 3/5 · about 15 minutes · 3 points.*

# %% [markdown] id="why_scale" role="written" points=3
# Each score is a sum of $d_k$ products. If the numbers of queries and keys are
# independent with mean 0 and variance 1, every product has variance 1 and their sum has
# variance $d_k$, so typical scores grow like $\sqrt{d_k}$. Large scores saturate the
# softmax: at $d_k = 128$ with 64 keys the favourite gets about 0.85 of the weight on
# average instead of about 0.11, and a third of the queries give it more than 0.99. Where
# one weight is near 1 and the others are near 0, the Jacobian $\operatorname{diag}(p) -
# pp^\top$ is near zero, so such a query and its keys get almost no gradient and hardly
# learn; the wider the head, the more queries are stuck. Dividing by $\sqrt{d_k}$, the
# standard deviation, brings the variance back to 1 whatever the width. Dividing by $d_k$
# would overdo it: at the start the variance would be $1/d_k$ and the weights nearly
# uniform. The division costs one operation per score and saves none; it is about
# trainability. What counts is the width of one head: $12288 / 96 = 128$, so the scores
# are divided by about 11.3.
#
# === BEGIN MARK SCHEME ===
#
# - 1 point: the variance of a dot product grows like $d_k$ (a sum of $d_k$ independent
#   terms), so dividing by the standard deviation $\sqrt{d_k}$ brings it to 1. Half a
#   point if only "the scores get large".
# - 1 point: saturated softmax *and* vanishing gradient, with the link between them (where
#   one weight is near 1, all the slopes are near 0); not efficiency. Half a point if only
#   one of the two. That *every* gradient vanishes is too much: at 128 a third of the
#   queries are stuck, not all. Nobody loses marks for it.
# - 1 point: the square root rather than $d_k$ is argued (over-flattening, variance
#   $1/d_k$), and 128 per head rather than 12,288. Half a point for each.
#
# === END MARK SCHEME ===

# %% [markdown]
# ## 19. The slope of softmax
#
# How much does weight $i$ change when score $j$ is nudged? With $p = \operatorname{softmax}(z)$,
#
# $$\frac{\partial p_i}{\partial z_j} = p_i\,(\delta_{ij} - p_j), \qquad
# J = \operatorname{diag}(p) - p\,p^\top$$
#
# where $\delta_{ij}$ is 1 if $i = j$ and 0 otherwise. Raising one score takes weight from
# all the others: the softmax is a competition, and every row of $J$ adds up to 0.
#
# Return $J$ for a vector of scores. `torch.softmax` is allowed, automatic
# differentiation is not; that comes afterwards, as the judge.
#
# Predict first: what is $J$ when one weight is (almost) 1?
#
# *Level: against the library · difficulty 3/5 · about 15 minutes · 3 points.*

# %% id="softmax_jacobian" role="answer"
def softmax_jacobian(z):
    """All the slopes of softmax at z.

    z      : (n,)
    returns: (n, n); entry (i, j) is the slope of weight i with respect to score j

    softmax_jacobian(torch.zeros(2)) is [[0.25, -0.25], [-0.25, 0.25]].
    """
    ### BEGIN SOLUTION
    p = torch.softmax(z, dim=0)              # (n,)
    return torch.diag(p) - p[:, None] * p    # diag(p) - p p^T
    ### END SOLUTION

# %% id="softmax_jacobian-check" role="check" points=3 forbid=["autograd", "func", "functorch", "jacobian", "jacrev", "jacfwd", "hessian", "linearize", "grad", "backward", "vjp", "jvp"]
check("two equal scores", softmax_jacobian, torch.zeros(2))
check("three scores", softmax_jacobian, torch.tensor([0.0, math.log(2), math.log(5)]))
### BEGIN HIDDEN TESTS
check("six random scores", softmax_jacobian, 2 * randn(6, seed=150))
check("saturated", softmax_jacobian, torch.tensor([0.0, 1000.0, -1000.0]))
check("one score", softmax_jacobian, torch.tensor([3.0]))
### END HIDDEN TESTS

# %% [markdown]
# **Saturation, seen.** Multiply eight random scores by a growing factor, as an unscaled
# dot product would. At first the slopes rise: the softmax begins to choose. Then the top
# weight goes to 1 and the largest slope to 0. No slope, no learning.

# %% id="slope_picture" role="explore"
z_ = randn(8, seed=3)
factors = np.geomspace(0.1, 30, 40)
with suppress(NotImplementedError):
    judge = torch.autograd.functional.jacobian(lambda z: torch.softmax(z, 0), z_)
    print("agrees with autograd:", torch.allclose(softmax_jacobian(z_), judge, atol=1e-6))
    slopes = [float(softmax_jacobian(float(f) * z_).abs().max()) for f in factors]
    tops = [float(torch.softmax(float(f) * z_, 0).max()) for f in factors]
    fig, ax = plt.subplots(figsize=(5.6, 3))
    ax.semilogx(factors, tops, label="top weight")
    ax.semilogx(factors, slopes, label="largest slope")
    ax.set(xlabel="scores multiplied by", ylim=(0, 1.02),
           xticks=[0.1, 1, 10], xticklabels=[0.1, 1, 10])
    ax.minorticks_off()
    ax.legend()
    plt.show()

# %% [markdown]
# ## 20. Dot product or angle?
#
# One reads that a dot product near 1 means "the same direction", near 0 "unrelated" and
# near $-1$ "opposite". That is true of the **cosine**,
#
# $$\cos(q, k) = \frac{q \cdot k}{\lVert q \rVert \, \lVert k \rVert},$$
#
# and of the dot product only if both vectors have length 1. Take $q = (1, 0)$. The key
# $(1, 0)$ points exactly the same way, dot product 1, cosine 1. The key $(3, 4)$ is 53
# degrees off: cosine 0.6, but dot product 3. By the dot product, the longer key wins.
# Attention uses the dot product, so **a key can shout**.
#
# Write `cosine_scores` for all pairs. No vector is zero.
#
# Predict first: which of the two is unchanged when one key is doubled?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="cosine_scores" role="answer"
def cosine_scores(q, k):
    """The cosine of the angle between every query and every key.

    q      : (T_q, d)    k: (T_k, d)
    returns: (T_q, T_k), between -1 and 1

    cosine_scores(torch.tensor([[1.0, 0.0]]), torch.tensor([[3.0, 4.0]])) is [[0.6]].
    """
    ### BEGIN SOLUTION
    q = q / q.norm(dim=1, keepdim=True)    # every query now has length 1
    k = k / k.norm(dim=1, keepdim=True)
    return q @ k.T                         # (T_q, T_k)
    ### END SOLUTION

# %% id="cosine_scores-check" role="check" points=2 forbid=["cosine_similarity", "CosineSimilarity"]
check("one query, three keys", cosine_scores, torch.tensor([[1.0, 0.0]]),
      torch.tensor([[1.0, 0.0], [3.0, 4.0], [-2.0, 0.0]]))
check("two long queries", cosine_scores, torch.tensor([[0.0, 5.0], [6.0, 8.0]]),
      torch.tensor([[3.0, 4.0], [2.0, 0.0]]))
### BEGIN HIDDEN TESTS
check("random", cosine_scores, 2 * randn(3, 5, seed=160), 3 * randn(4, 5, seed=161))
check("everything square", cosine_scores, randn(3, 3, seed=162), randn(3, 3, seed=163))
check("one number each", cosine_scores, torch.tensor([[2.0], [-3.0]]),
      torch.tensor([[5.0]]))
### END HIDDEN TESTS

# %% [markdown]
# ## At size
#
# Nothing said that questions and answers come from the same text, or that all
# answers must be held in memory at once. And what do the numbers look like in a
# model of 175 billion parameters?

# %% [markdown]
# ## 21. Ask another text
#
# In **cross-attention** the queries come from one sequence and keys *and* values from
# another: a translation asks the original, a picture being painted asks its caption.
# The two may differ in length and even in width.
#
# Write it for batches, with the scale, without a mask and without the residual.
#
# Predict first: two sequences of 3 and 5 tokens. What is the shape of the weights, and
# which axis adds up to 1?
#
# *Level: numpy/torch · difficulty 2/5 · about 10 minutes · 2 points.*

# %% id="cross_attention" role="answer"
def cross_attention(x, context, W_Q, W_K, W_V):
    """Each token of x asks the tokens of context.

    x      : (B, T, C)       context: (B, S, C_ctx)
    W_Q    : (d, C)          W_K: (d, C_ctx)    W_V: (d_v, C_ctx)
    returns: (B, T, d_v)

    With S = 1 every token gets context[:, 0] @ W_V.T.
    """
    ### BEGIN SOLUTION
    q = x @ W_Q.T                                           # (B, T, d)
    k, v = context @ W_K.T, context @ W_V.T                 # (B, S, d), (B, S, d_v)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])    # (B, T, S)
    return torch.softmax(s, dim=-1) @ v                     # (B, T, d_v)
    ### END SOLUTION

# %% id="cross_attention-check" role="check" points=2
check("a context of one token", cross_attention, randn(1, 2, 3, seed=170),
      randn(1, 1, 2, seed=171), randn(2, 3, seed=172), randn(2, 2, seed=173),
      randn(3, 2, seed=174))
check("same width", cross_attention, randn(1, 2, 3, seed=175),
      randn(1, 4, 3, seed=176), randn(2, 3, seed=177), randn(2, 3, seed=178),
      randn(2, 3, seed=179))
### BEGIN HIDDEN TESTS
check("a batch, other width", cross_attention, randn(2, 3, 4, seed=180),
      randn(2, 5, 6, seed=181), randn(3, 4, seed=182), randn(3, 6, seed=183),
      randn(7, 6, seed=184))
check("everything square", cross_attention, randn(2, 4, 4, seed=185),
      randn(2, 4, 4, seed=186), randn(4, 4, seed=187), randn(4, 4, seed=188),
      randn(4, 4, seed=189), weight=2)
check("one token asks", cross_attention, randn(1, 1, 3, seed=190),
      randn(1, 6, 3, seed=191), randn(2, 3, seed=192), randn(2, 3, seed=193),
      randn(2, 3, seed=194))
### END HIDDEN TESTS

# %% [markdown]
# ## 22. Attention that forgets as it goes
#
# The score matrix has $T_q \times T_k$ entries. At $T = 100{,}000$ that is ten billion
# numbers per head, only to be summed up and thrown away. Must they ever exist at the same
# time? No. Walk over the keys in blocks and keep three things per query:
#
# - `m`: the largest score so far,
# - `total`: the sum of $e^{s - m}$ so far,
# - `out`: the sum of $e^{s - m} v$ so far, a vector.
#
# When a block brings a larger score, the old `total` and `out` were measured against the
# old `m`. Shrink both by $e^{m_\text{old} - m_\text{new}}$ and go on. At the end the answer
# is `out / total`.
#
# Once by hand, with powers of 2: scores 1 | 3 with values 8 | 4, one per block.
# After the first block $m = 1$, total $= 1$, out $= 8$. The second has the larger
# score 3, so shrink by $2^{1-3} = \tfrac14$: total $= \tfrac14 + 1 = \tfrac54$,
# out $= 2 + 4 = 6$, and $6 / \tfrac54 = 4.8$. All at once: the powers are 2 and 8,
# $\tfrac{2}{10}\cdot 8 + \tfrac{8}{10}\cdot 4 = 4.8$.
#
# Write `online_attention`. It must be right for every block size, also when the last
# block is short, and with scores in the thousands. And it must **never make a tensor
# larger than two blocks of scores**, `2 * T_q * block` numbers (or than `q` and the
# result, where those are larger), however many keys there are. A slice or a transpose is
# a *view*, shares the memory of what it was made from, and does not count; a scaled copy
# of all the keys does. The check measures this with `LargestTensor`, below, which looks
# over torch's shoulder: so convert nothing to numpy.
#
# Predict first: what must `m` be before the first block, so that nothing is kept from a
# past that does not exist?
#
# *Level: at size · difficulty 5/5 · about 35 minutes · 4 points.*

# %% id="meter"
class LargestTensor(TorchDispatchMode):
    """Remembers the size of the largest new tensor (no view) that any operation makes."""

    numel = 0
    _should_skip_dynamo = classmethod(lambda cls: False)    # spares a slow import

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        def memory(x):
            """{where its numbers lie: how many} for the tensors in x"""
            tensors = x if isinstance(x, (list, tuple)) else [x]
            return {t.untyped_storage().data_ptr(): t.numel()
                    for t in tensors if isinstance(t, torch.Tensor)}

        out = func(*args, **(kwargs or {}))
        old, made = memory(args), memory(out)
        new = [made[place] for place in made.keys() - old.keys()]
        self.numel = max([self.numel, *new])
        return out


def largest_tensor(fn, *args):
    """How many numbers the largest new tensor has that fn makes on its way."""
    with LargestTensor() as meter:
        fn(*args)
    return meter.numel


def with_small_tensors(fn, limit, q, k, v, block):
    """What fn gives, if it makes no tensor above the limit; else words that say so."""
    with LargestTensor() as meter:
        out = fn(q, k, v, block)
    return out if meter.numel <= limit else f"made a tensor of {meter.numel} numbers"

# %% id="online_attention" role="answer"
def online_attention(q, k, v, block):
    """Scaled dot-product attention in one walk over the keys.

    q      : (T_q, d)    k: (T_k, d)    v: (T_k, d_v)
    block  : how many keys to look at in one step
    returns: (T_q, d_v), the same as attention(q, k, v)

    With block >= T_k there is one step, and it is the plain attention.
    """
    ### BEGIN SOLUTION
    m = torch.full((q.shape[0], 1), -math.inf)       # largest score so far
    total = torch.zeros(q.shape[0], 1)               # sum of exp(s - m)
    out = torch.zeros(q.shape[0], v.shape[1])        # sum of exp(s - m) * v
    for start in range(0, k.shape[0], block):
        s = q @ k[start:start + block].T / math.sqrt(q.shape[1])    # (T_q, block)
        new_m = torch.maximum(m, s.max(dim=1, keepdim=True).values)
        keep = (m - new_m).exp()                     # how much of the past to keep
        p = (s - new_m).exp()
        total = keep * total + p.sum(dim=1, keepdim=True)
        out = keep * out + p @ v[start:start + block]
        m = new_m
    return out / total
    ### END SOLUTION

# %% id="online_attention-check" role="check" points=4 forbid=["scaled_dot_product_attention", "numpy", "array", "asarray"]
check("one block", online_attention, randn(2, 3, seed=200), randn(3, 3, seed=201),
      randn(3, 2, seed=202), 3)
check("a short last block", online_attention, randn(2, 4, seed=203),
      randn(5, 4, seed=204), randn(5, 3, seed=205), 2)
check("one key at a time", online_attention, randn(3, 2, seed=206),
      randn(4, 2, seed=207), randn(4, 2, seed=208), 1)
check("right, and no large tensor", lambda: with_small_tensors(
    online_attention, 2 * 8 * 10, randn(8, 4, seed=209), randn(400, 4, seed=210),
    randn(400, 3, seed=211), 10), weight=4)
### BEGIN HIDDEN TESTS
# whole numbers: their sums are exact in any order; the second key is far ahead
check("scores in the thousands", online_attention,
      (10 * randn(3, 4, seed=212)).round().abs(),
      (30 * randn(7, 4, seed=213)).round() + 200 * (torch.arange(7) == 1)[:, None],
      randn(7, 2, seed=214), 3, weight=3)
check("larger and larger scores", online_attention, torch.ones(2, 4),
      torch.arange(6.0)[:, None] * torch.ones(6, 4), randn(6, 3, seed=215), 2)
check("scores far below zero", online_attention, 8 * torch.ones(2, 4),
      randn(5, 4, seed=225).round() / 16 - 8, randn(5, 2, seed=226), 2)
check("block larger than the text", online_attention, randn(3, 5, seed=216),
      randn(4, 5, seed=217), randn(4, 6, seed=218), 64)
check("a long text", online_attention, randn(5, 16, seed=219),
      randn(300, 16, seed=220), randn(300, 4, seed=221), 32)
check("right, and no large tensor, long text", lambda: with_small_tensors(
    online_attention, 2 * 16 * 16, randn(16, 4, seed=222), randn(900, 4, seed=223),
    randn(900, 4, seed=224), 16), weight=2)
### END HIDDEN TESTS

# %% [markdown]
# The plot shows the largest new tensor of the plain and of the block-wise way as the text
# grows, with a logarithm on both axes. Twice the text: four times the numbers on one
# line, twice on the other, for here there are twice as many queries too.

# %% id="memory_picture" role="explore"
lengths_ = [32, 64, 128, 256, 512]

def all_at_once(q, k, v):
    return torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=1) @ v

with suppress(NotImplementedError):
    plain, online = [], []
    for T in lengths_:
        q_, k_, v_ = randn(3, T, 16, seed=T)
        plain.append(largest_tensor(all_at_once, q_, k_, v_))
        online.append(largest_tensor(online_attention, q_, k_, v_, 16))
    fig, ax = plt.subplots(figsize=(5.6, 3))
    ax.loglog(lengths_, plain, "o-", label="all scores at once")
    ax.loglog(lengths_, online, "s-", label="block by block")
    ax.set(xlabel="tokens T", ylabel="numbers in the largest tensor",
           xticks=lengths_, xticklabels=lengths_,
           yticks=[1e3, 1e4, 1e5], yticklabels=["1,000", "10,000", "100,000"])
    ax.minorticks_off()
    ax.legend()
    plt.show()

# %% [markdown]
# ## 23. Count GPT-3
#
# Width $d = 12288$, 96 layers, 96 heads, context of 2048 tokens, vocabulary of 50257. Each
# layer has
#
# - attention: four matrices $d \times d$ ($W_Q$, $W_K$, $W_V$ for all heads together, and
#   $W_O$), each with a bias of $d$;
# - a perceptron: up to $4d$ and back to $d$, two matrices with their biases;
# - two LayerNorms, each with a scale and a shift of $d$.
#
# Outside the layers: a vector of $d$ for each word of the vocabulary and one for each
# position, and one last LayerNorm. The output layer uses the word vectors again and
# costs nothing extra.
#
# Fill in, exactly (you may type a formula):
#
# - `gpt3_d_head`, the width of one head, and `gpt3_divisor`, what its scores are divided
#   by (two decimals are enough);
# - `gpt3_w_q`: the entries of $W_Q$ in one layer, all heads together, without bias;
# - `gpt3_layer` and `gpt3_total`: the parameters of one layer, and of the whole model;
# - `gpt3_score_bytes`: the bytes that the scores of **one layer, all heads** take for one
#   text of full length, 2 bytes each.
#
# Predict first: what share of a layer's parameters is attention: a quarter, a third,
# a half?
#
# *Level: at size · difficulty 2/5 · about 15 minutes · 3 points.*

# %% id="gpt3_counts" role="answer"
gpt3_d_head = ...
gpt3_divisor = ...
gpt3_w_q = ...
gpt3_layer = ...
gpt3_total = ...
gpt3_score_bytes = ...
### BEGIN SOLUTION
d = 12288
gpt3_d_head = d // 96                                    # 128
gpt3_divisor = math.sqrt(gpt3_d_head)                    # 11.31
gpt3_w_q = d * d                                         # 150,994,944
attention_part = 4 * d * d + 4 * d
perceptron = 2 * 4 * d * d + 4 * d + d
gpt3_layer = attention_part + perceptron + 2 * 2 * d     # 12 d^2 + 13 d
gpt3_total = 96 * gpt3_layer + (50257 + 2048) * d + 2 * d
gpt3_score_bytes = 96 * 2048 * 2048 * 2                  # 805 MB
### END SOLUTION

# %% id="gpt3_counts-check" role="check" points=3
check("width of a head", lambda: gpt3_d_head)
check("divisor of the scores", lambda: gpt3_divisor, tol=0.01)
check("entries of W_Q", lambda: gpt3_w_q, tol=0.5)
check("one layer", lambda: gpt3_layer, tol=0.5)
check("the whole model", lambda: gpt3_total, tol=0.5)
check("bytes of the scores", lambda: gpt3_score_bytes, tol=0.5)

# %% [markdown]
# ## 24. In your own words: what the short story leaves out
#
# Here is a fair short account of a GPT: *"Each token asks the whole window; the answers
# are weighted by softmax; the small vectors of the heads are put side by side and
# added to the token; a perceptron follows; and except for the softmax and the
# perceptron's activation, everything is linear."*
#
# Three things in it are missing or not quite right for a GPT. Name each one, and say in
# a sentence or two what would go wrong, or be different, without it.
#
# Predict first: which of your functions above contain something that the account does
# not mention?
#
# *Level: by hand · difficulty 3/5 · about 15 minutes · 3 points.*

# %% [markdown] id="short_story" role="written" points=3
# 1. **The causal mask.** A GPT token does not ask the whole window but only itself and
#    what came before. Without the mask the model could read the next token, which it
#    is trained to predict; training would look perfect and writing would fail.
# 2. **The output matrix $W_O$.** Between laying the heads side by side and adding them
#    to the token there is a learned matrix. Without it, head $h$ could only ever write
#    into its own $D$ channels, and the heads could not be combined.
# 3. **LayerNorm is not linear.** It divides each token by the standard deviation of that
#    token's own channels, so every layer reads numbers of the same size, however much
#    the layers before have added. Without it deep stacks are hard to train. (Besides,
#    even apart from its softmax, attention multiplies functions of the input with one
#    another: $q$ by $k$, and weights by $v$.)
#
# === BEGIN MARK SCHEME ===
#
# One point for each of: causal mask, $W_O$, LayerNorm as a further non-linear step.
# Half a point when it is named without what it is for. A well-argued other omission
# (positions, the division by $\sqrt{d_k}$, the second residual, the products of $q$ with
# $k$ and of weights with $v$) may stand in for one of the three. The first residual is no
# omission: the account adds the answers to the token.
#
# === END MARK SCHEME ===

# %% [markdown]
# ## What you have kept
#
# One query with four answers; the same on integers; a softmax that does not break; three
# ways to forbid; many heads and their mixer; the reason for the square root; and an
# attention that keeps three small records where others keep a whole matrix. The chapter's page
# shows the same machine at the size where time and memory begin to hurt.
