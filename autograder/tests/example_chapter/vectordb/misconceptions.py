"""Wrong answers with the hint each needs, and other right answers."""

import torch

from autograder.authoring import right, wrong


@wrong(
    "mean_pool",
    hint="The padding was averaged too. Which columns are words, and how many?",
)
def counts_the_padding(vectors, real):
    return vectors.mean(dim=1)


@wrong(
    "mean_pool",
    hint="The padding is left out of the sum, but still counted when you divide.",
)
def divides_by_all_columns(vectors, real):
    return (vectors * real).sum(dim=1) / vectors.shape[1]


@wrong("mean_pool", hint="This is the sum. An average divides by how many there are.")
def forgets_to_divide(vectors, real):
    return (vectors * real).sum(dim=1)


@wrong(
    "mean_pool",
    hint="You averaged down each column: one number per word. A sentence needs one "
    "number per feature, so average along the row.",
)
def averages_the_features(vectors, real):
    return vectors.mean(dim=0)


@right("mean_pool")
def by_selecting(vectors, real):
    return vectors[:, real].mean(dim=1)


@right("mean_pool")
def by_matrix_product(vectors, real):
    share = real.to(vectors.dtype) / real.sum()
    return torch.matmul(vectors, share)
