"""From words to one vector: look up, take the mean, compare."""

from autograder.worksheet import Worksheet, argmax, lookup, mean

WORDS = ("how", "are", "you", "who", "is", "she")
GIVEN = {
    "E": [
        [1, 0, 1, 0, 2, 2],
        [0, 2, 1, 1, 0, 0],
        [2, 1, 0, 1, -1, 0],
    ],
    "D": [[2, 0, 1], [0, 1, 1], [-1, 2, 0]],
}


def sheet(variant: int = 0) -> Worksheet:
    """Three words become one vector, which finds the nearest of three documents."""
    ws = Worksheet(
        "pooling",
        title="Mean pooling by hand",
        variant=variant,
        text="Each word has a column of numbers in the table E. A sentence is the mean "
        "of its words. Which document (a row of D) is closest?",
    )
    E = ws.given("E", GIVEN["E"], role="weight", cols=WORDS)
    D = ws.given("D", GIVEN["D"], role="input", rows=("d1", "d2", "d3"))

    said = ("how", "are", "you")
    X = ws.step("X", lookup(E, [WORDS.index(w) for w in said], said), cols=said)
    m = ws.step("m", mean(X, "rows"), note="add each row, divide by the 3 words")
    s = ws.step("s", D @ m, role="score", digits=2, note="one dot product a document")
    ws.step("best", argmax(s, "columns"), role="output", note="number of the document")
    return ws
