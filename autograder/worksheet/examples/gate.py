"""One step of an LSTM: what to forget, what to write, what to say."""

from autograder.worksheet import Worksheet, concat, sigmoid, tanh

GIVEN = {
    "x": [[1], [-1]],
    "h": [[0], [1]],
    "c": [[2], [-1]],
    "W_f": [[1, 0, 2, 1], [0, 1, 1, -1]],
    "W_i": [[0, 1, 1, 2], [1, 1, 0, 0]],
    "W_g": [[1, 1, 0, 1], [2, 0, 1, -1]],
    "W_o": [[0, -1, 1, 0], [1, 0, 1, 1]],
}


def sheet(variant: int = 0) -> Worksheet:
    """Two numbers come in, two are remembered."""
    ws = Worksheet(
        "gate",
        title="One step of an LSTM by hand",
        variant=variant,
        text="The cell c remembers two numbers. The word x and the last output h "
        "decide how much of each is kept (f), how much is written (i), what (g), "
        "and what is said (o). Two decimals everywhere.",
    )
    x = ws.given("x", GIVEN["x"], role="input")
    h = ws.given("h", GIVEN["h"], role="input")
    W = {n: ws.given(f"W_{n}", GIVEN[f"W_{n}"], role="weight") for n in "figo"}
    c = ws.given("c", GIVEN["c"], role="input")

    ws.part("Gates: how much, between 0 and 1")
    z = ws.step("z", concat(x, h), role="input", note="x on top of h")
    f = ws.step("f", sigmoid(W["f"] @ z), role="share", rounded=2, note="kept")
    i = ws.step("i", sigmoid(W["i"] @ z), role="share", rounded=2, note="written")
    o = ws.step("o", sigmoid(W["o"] @ z), role="share", rounded=2, note="said")
    g = ws.step(
        "g", tanh(W["g"] @ z), role="value", rounded=2, note="what, from −1 to 1"
    )

    ws.part("The cell, and what it says")
    new = ws.step("c'", f * c + i * g, rounded=2, note="kept, plus written")
    ws.step("h'", o * tanh(new), role="output", rounded=2, note="said aloud")

    ws.require(
        len({round(float(v), 2) for gate in (f, i, o) for (v,) in gate.values}) > 3
    )
    return ws
