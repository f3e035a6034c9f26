"""The by-hand example of the chapter, in one place: small integers, nothing else.

The page, the notebook and the tests read these four matrices from here. Tokens
are columns: column t of X is the vector of token t. Every other number of the
example (Q, K, V, scores, weights, Z) is computed from them, never typed.

The numbers are those of Tom Yeh's self-attention sheet (ImagineAILab,
ai-by-hand-excel, MIT), which the article "Self-Attention by hand" works through.
"""

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
