"""The by-hand example of the chapter, in one place: four small matrices, the steps.

The page, the notebook, the printed sheet and the tests take their numbers from
here. Tokens are columns: column t of X is the vector of token t. Every other number
(Q, K, V, scores, weights, Z) is computed from the four matrices, never typed.

The numbers are those of Tom Yeh's self-attention sheet (ImagineAILab,
ai-by-hand-excel, MIT), which the article "Self-Attention by hand" works through.
"""

from autograder.worksheet import (
    Worksheet,
    exp,
    floor,
    normalise,
    power,
    root_divided,
)

GIVEN: dict[str, list[list[int]]] = {
    "X": [
        [2, 0, 0, 2],
        [0, 1, 0, 0],
        [0, 2, 1, 0],
        [0, 0, 1, 1],
        [2, 0, 0, 0],
        [1, 0, 1, 1],
    ],
    "W_Q": [
        [1, 1, 0, 0, 0, 0],
        [0, 1, 0, 1, 0, 0],
        [0, 0, 1, 0, 1, 1],
    ],
    "W_K": [
        [0, 0, 1, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, -1],
    ],
    "W_V": [
        [10, 0, 0, 0, 0, 0],
        [0, 0, 0, 10, 0, 0],
        [0, 10, 0, 0, 0, 0],
    ],
}

NOTES: dict[str, str] = {
    "X": "(6, 4): 6 features, 4 tokens; one token per column",
    "W_Q": "(3, 6): makes a query of 3 numbers from a token of 6",
    "W_K": "(3, 6): makes a key",
    "W_V": "(3, 6): makes a value",
}


def sheet(variant: int = 0) -> Worksheet:
    """Self-attention in the article's order; variant 0 has the article's numbers."""
    ws = Worksheet(
        "attention",
        title="Self-attention by hand",
        variant=variant,
        text="Four tokens, one per column. Each asks, each shows a key, each has a "
        "value. Who keeps how much of whom?",
    )
    X = ws.given("X", GIVEN["X"], role="input", cols="tokens", rows="features")
    W_Q = ws.given("W_Q", GIVEN["W_Q"], role="weight")
    W_K = ws.given("W_K", GIVEN["W_K"], role="weight")
    W_V = ws.given("W_V", GIVEN["W_V"], role="weight")

    ws.part("Queries, keys, values")
    Q = ws.step("Q", W_Q @ X, role="query", note="one query per column")
    K = ws.step("K", W_K @ X, role="key", note="one key per column")
    V = ws.step("V", W_V @ X, role="value", note="one value per column")

    ws.part("Every key meets every query")
    S = ws.step("S", K.T @ Q, role="score", note="row: key; column: query")

    ws.part("The pencil rule: halve and round down, powers of 3")
    H = ws.step("H", floor(S / 2), role="score", note="the floor goes down: ⌊−1/2⌋ = −1")
    P = ws.step("P", power(3, H), role="score")
    A = ws.step("A", normalise(P, "columns"), role="share", digits=1,
                note="each column adds up to 1; fractions, or one decimal")  # fmt: skip
    ws.step("Z", V @ A, role="output", digits=1, note="what each token keeps")

    ws.part("The true softmax: divide by √3, powers of e")
    R = ws.step("R", root_divided(S, 3), role="score", digits=2)
    E = ws.step("E", exp(R), role="score", digits=2)
    B = ws.step("B", normalise(E, "columns"), role="share", digits=2,
                note="each column adds up to 1")  # fmt: skip
    ws.step("Y", V @ B, role="output", digits=1, note="what a model would keep")

    # interesting: no two queries or values alike, every key says something, scores of
    # both signs, and nobody takes all
    ws.require(len({tuple(q) for q in zip(*Q.values)}) == 4)
    ws.require(len({tuple(v) for v in zip(*V.values)}) == 4)
    ws.require(len({tuple(row) for row in V.values}) == 3)
    ws.require(all(any(k) for k in zip(*K.values)))
    ws.require(min(map(min, S.values)) < 0 < max(map(max, S.values)))
    ws.require(max(map(max, B.values)) < 0.95 and min(map(min, H.values)) >= -2)
    return ws
