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
# # Many words, one vector
#
# A sentence has as many vectors as words; a database wants one. The simplest way
# is the average, if one counts the words only and not the padding behind them.

# %% id="setup"
import torch

from autograder import check, randn

# %% id="given" include="GIVEN"

# %% [markdown]
# ## 1. Average the words
#
# `vectors` holds one word per **column**, shape `(d, T)`. Short sentences are
# padded; `real`, shape `(T,)`, is true where a word is. Return the average of the
# real columns, shape `(d,)`.
#
# Predict first: what does the average become when the padding is counted too?
#
# *Level: numpy/torch · difficulty 1/5 · about 5 minutes · 2 points.*


# %% id="mean_pool" role="answer"
def mean_pool(vectors: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The average of the real columns.

    vectors : (d, T) float, one word per column
    real    : (T,) bool, at least one is true
    returns : (d,)

    mean_pool([[2, 4, 9]], [True, True, False]) is [3]
    """
    ### BEGIN SOLUTION
    weights = real.to(vectors.dtype)  # (T,)
    return (vectors * weights).sum(dim=1) / weights.sum()
    ### END SOLUTION


# %% id="mean_pool-check" role="check" points=2
V = WORDS.float()  # (d, T) = (2, 4)
check("no padding", mean_pool, V, torch.tensor([True, True, True, True]))
check("two words of padding", mean_pool, V, torch.tensor([True, True, False, False]))
### BEGIN HIDDEN TESTS
mask = torch.tensor([False, True, True, False, True])
check("padding in other places", mean_pool, randn(3, 5, seed=11), mask, weight=2)
### END HIDDEN TESTS
