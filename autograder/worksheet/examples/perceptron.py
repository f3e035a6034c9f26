"""One layer of perceptrons with ReLU: the smallest worksheet that is worth printing."""

from autograder.worksheet import Worksheet, relu

GIVEN = {
    "X": [[2, 1, 0], [1, 0, 3], [0, 2, 1]],
    "W": [[1, -1, 1], [1, 1, 0], [0, 1, -2], [-1, 0, 2]],
    "b": [[-1], [0], [1], [-2]],
}


def sheet(variant: int = 0) -> Worksheet:
    """Three examples, one per column, through a layer of four perceptrons."""
    ws = Worksheet(
        "perceptron",
        title="A layer of perceptrons by hand",
        variant=variant,
        text="Three examples, one per column, and four perceptrons, one per row of W. "
        "Each weighs what comes in, adds its bias, and passes on what is above 0.",
    )
    X = ws.given("X", GIVEN["X"], role="input", cols="examples", rows="features")
    W = ws.given("W", GIVEN["W"], role="weight")
    b = ws.given("b", GIVEN["b"], role="bias")

    H = ws.step("H", W @ X + b, note="the bias is added to every column")
    A = ws.step("A", relu(H), role="output", note="what is below 0 becomes 0")

    # interesting: every perceptron fires for some example, and not for all
    ws.require(all(any(row) for row in A.values))
    ws.require(any(0 in row for row in A.values))
    return ws
