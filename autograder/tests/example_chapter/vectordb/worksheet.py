"""The by-hand example, in one place: small integers, nothing else."""

GIVEN: dict[str, list[list[int]]] = {
    "WORDS": [
        [1, 3, 0, 4],
        [2, 0, 5, 1],
    ],
}

NOTES: dict[str, str] = {"WORDS": "(2, 4): 2 features, 4 words; one word per column"}
