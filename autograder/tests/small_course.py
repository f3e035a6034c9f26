"""A course of one small chapter, with one exercise of every kind, for tests."""

from __future__ import annotations

import shutil
from pathlib import Path

HERE = Path(__file__).parents[2]

CONFIG = "repository:\n  url: https://example.org/course\n"

WORKSHEET = """\
GIVEN = {"X": [[1, 2], [3, -4]]}
NOTES = {"X": "two tokens in columns"}
"""

SOURCE = '''\
# %% [markdown]
# # A small chapter

# %% id="setup"
import torch
from autograder import check, randn

# %% id="numbers" include="GIVEN"

# %% [markdown]
# ## 1. Softmax

# %% id="softmax" role="answer"
def softmax(scores: torch.Tensor) -> torch.Tensor:
    """Weights, one column a query: (keys, queries) -> (keys, queries)."""
    ### BEGIN SOLUTION
    exp = (scores - scores.max(dim=0, keepdim=True).values).exp()
    return exp / exp.sum(dim=0, keepdim=True)
    ### END SOLUTION

# %% id="softmax-check" role="check" points=3 forbid=["softmax"]
check("two keys, one query", softmax, torch.tensor([[0.0], [1.0]]))
check("the worked example", softmax, X.float())
### BEGIN HIDDEN TESTS
check("a secret label", softmax, 1e4 * randn(5, 3, seed=7))
### END HIDDEN TESTS

# %% [markdown]
# ## 2. Twice

# %% id="twice" role="answer"
D = [[..., ...],
     [..., ...]]
### BEGIN SOLUTION
D = (2 * X).tolist()
### END SOLUTION

# %% id="twice-check" role="check" points=2
check("the first row", lambda: D[0])
check("the second row", lambda: D[1])

# %% id="picture" role="explore"
print(softmax(torch.zeros(2, 2)).tolist())

# %% [markdown]
# ## 3. Why do the columns sum to 1?

# %% [markdown] id="why" role="written" points=2
# Because each is divided by its own sum.
# === BEGIN MARK SCHEME ===
# Two points for naming the divisor.
# === END MARK SCHEME ===
'''

MISCONCEPTIONS = """\
import torch

from autograder.authoring import right, wrong


@wrong("softmax", hint="Your rows sum to 1, not your columns.")
def rows(scores):
    return torch.exp(scores) / torch.exp(scores).sum(1, keepdim=True)


@wrong("softmax", hint="Large scores overflow.")
def overflows(scores):
    return torch.exp(scores) / torch.exp(scores).sum(0, keepdim=True)


@wrong("softmax", hint="Write it yourself.")
def delegates(scores):
    return torch.softmax(scores, 0)


@wrong("softmax", hint="You changed the scores of your caller.")
def in_place(scores):
    scores -= scores.max(0, keepdim=True).values
    return torch.exp(scores) / torch.exp(scores).sum(0, keepdim=True)


@right("softmax")
def by_log(scores):
    return torch.exp(scores - torch.logsumexp(scores, 0))


@right("softmax")
def shorter(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)


@wrong("twice", hint="Twice, not squared.")
def squares():
    return {"D": (X * X).tolist()}


@wrong("twice", hint="Twice, not plus two.")
def adds_two():
    return {"D": (X + 2).tolist()}


@wrong("twice", hint="The sign stays.")
def loses_the_sign():
    return {"D": (2 * X.abs()).tolist()}


@wrong("twice", hint="Rows and columns are swapped.")
def transposes():
    return {"D": (2 * X.T).tolist()}


@right("twice")
def as_tensor():
    return {"D": X + X}


@right("twice")
def as_floats():
    return {"D": (2.0 * X).tolist()}


WRITTEN = {"why": {"good": "Each is divided by its sum.", "poor": "It just is."}}
"""


def small_course(root: Path, source: str = SOURCE) -> Path:
    """Write the course into `root` and return it."""
    folder = root / "solutions" / "attention"
    folder.mkdir(parents=True)
    (root / "_config.yml").write_text(CONFIG)
    shutil.copy(HERE / "nbgrader_config.py", root)
    (folder / "attention.py").write_text(source, encoding="utf-8")
    (folder / "worksheet.py").write_text(WORKSHEET)
    (folder / "misconceptions.py").write_text(MISCONCEPTIONS)
    return root
