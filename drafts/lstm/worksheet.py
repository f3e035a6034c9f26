"""The by-hand example of the chapter, in one place: four weight matrices, three inputs.

The page, the notebook, the printed sheet and the tests take their numbers from here.
A vector is a column. Each step t joins the input x_t and the last hidden state to
z = [x_t; h]; everything else is computed, never typed.

The numbers are those of Tom Yeh's LSTM sheet (ImagineAILab, ai-by-hand-excel, MIT,
sheet "small", without its biases), which the article "LSTMs & xLSTMs by hand" works
through. They give six of the eight sums that the article states; its W_o cannot be
had, so ours is the sheet's with one entry changed in each row, such that the article's
sums (4, -5) come out. `stated.json` has what the article says.
"""


from autograder.worksheet import Worksheet, concat, sigmoid, tanh

GIVEN: dict[str, list[list[float]]] = {
    "x_1": [[1], [2], [1]],
    "x_2": [[2], [1], [0]],
    "x_3": [[0], [-1], [3]],
    "h_0": [[1], [1]],
    "C_0": [[0.3], [-0.5]],
    "W_f": [[0, -1, 0, 0, -2], [-2, 0, -2, -2, 0]],
    "W_i": [[2, 0, 3, 1, 0], [0, 1, 0, 0, 2]],
    "W_g": [[0, 1, 0, 0, -1], [-1, 0, -1, -4, 0]],
    "W_o": [[1, 1, 0, 0, 1], [0, 0, -1, -2, -2]],
}

NOTES: dict[str, str] = {
    "x_1": "(3, 1): the first input, a column",
    "x_2": "the second",
    "x_3": "the third",
    "h_0": "(2, 1): what was said last",
    "C_0": "(2, 1): what is remembered",
    "W_f": "(2, 5): makes the sums of the forget gate from z = [x; h]",
    "W_i": "(2, 5): of the input gate",
    "W_g": "(2, 5): of the candidate",
    "W_o": "(2, 5): of the output gate",
}

TIMES = (1, 2, 3)


def sheet(variant: int = 0) -> Worksheet:
    """Three steps of an LSTM, first with the pencil, then with the decimals kept."""
    ws = Worksheet(
        "lstm",
        title="An LSTM by hand",
        variant=variant,
        text="Three inputs come in, one after the other; two numbers are remembered. "
        "How much is kept, how much is written, how much is said? First as with a "
        "pencil: gates are 0 or 1, everything else has one decimal. Then with the "
        "decimals kept.",
    )
    x = {
        t: ws.given(f"x_{t}", GIVEN[f"x_{t}"], role="input", vary="all") for t in TIMES
    }
    h0 = ws.given("h_0", GIVEN["h_0"], role="input", vary="keep")
    C0 = ws.given("C_0", GIVEN["C_0"], role="value", vary="all")
    W = {n: ws.given(f"W_{n}", GIVEN[f"W_{n}"], role="weight") for n in "figo"}

    h, C = h0, C0
    for t in TIMES:
        ws.part(f"t = {t}, with the pencil")
        z = ws.step(
            f"z_{t}", concat(x[t], h), role="input", digits=1, note="x on top of h"
        )
        sums = {
            n: ws.step(f"{n.upper()}_{t}", W[n] @ z, role="score", rounded=1, note=why)
            for n, why in SUMS.items()
        }
        f, i, o = (
            ws.step(f"{n}_{t}", sigmoid(sums[n]), role="share", rounded=0, note=GATES[n],
                    zeros=True)
            for n in "fio"
        )  # fmt: skip
        g = ws.step(f"g_{t}", tanh(sums["g"]), role="value", rounded=1,
                    note="candidate", zeros=True)  # fmt: skip
        C = ws.step(f"C_{t}", f * C + i * g, role="value", rounded=1,
                    note="kept, plus written", zeros=True)  # fmt: skip
        u = ws.step(f"u_{t}", tanh(C), role="value", rounded=1,
                    note="candidate output", zeros=True)  # fmt: skip
        h = ws.step(f"h_{t}", o * u, role="output", rounded=1, note="said", zeros=True)

    h, C = h0, C0
    for t in TIMES:
        ws.part(f"t = {t}, with the decimals kept")
        z = ws.step(f"z'_{t}", concat(x[t], h), role="input", note="x on top of h")
        f, i, o = (
            ws.step(f"{n}'_{t}", sigmoid(W[n] @ z), role="share", note=GATES[n])
            for n in "fio"
        )
        g = ws.step(f"g'_{t}", tanh(W["g"] @ z), role="value", note="candidate")
        C = ws.step(f"C'_{t}", f * C + i * g, role="value", note="kept, plus written")
        h = ws.step(f"h'_{t}", o * tanh(C), role="output", note="said")

    # interesting: something is kept and something is forgotten, and both can be seen
    kept = [ws.value(f"f'_{t}")[k][0] for t in TIMES for k in (0, 1)]
    ws.require(max(kept) > 0.5 > min(kept))
    ws.require(
        len({ws.value(f"{n}_{t}")[k][0] for n in "fio" for t in TIMES for k in (0, 1)})
        == 2
    )
    ws.require(any(ws.value(f"f_{t}")[k][0] and ws.value(f"C_{t - 1}")[k][0]
                   for t in TIMES for k in (0, 1)))  # fmt: skip
    return ws


SUMS = {
    "f": "sums of the forget gate",
    "i": "sums of the input gate",
    "o": "sums of the output gate",
    "g": "sums of the candidate",
}
GATES = {"f": "forget gate: kept", "i": "input gate: written", "o": "output gate: said"}
