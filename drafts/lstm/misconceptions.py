"""What goes wrong in the LSTM exercises, and what to say to the student.

Each `wrong` function is a real misunderstanding with the hint that helps; each
`right` one is an answer that looks different and must keep full marks. Only the
source text counts: it runs in the notebook's namespace. Functions for the
fill-in tables return {name: value}; one with a parameter gets the worksheet, whose
steps remember how they were made.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

from autograder.authoring import right, wrong

# --- 1 first_step ---------------------------------------------------------------


@wrong(
    "first_step",
    hint="Your numbers are more exact than the pencil's: here a gate is an open or a shut "
    "door. Round every gate to 0 or 1 before you go on with it. (The decimals come "
    "back in exercise 3.)",
)
def keeps_the_decimals(sheet):
    return {f"{n}_1": sheet.value(f"{n}'_1") for n in "fiogCh"}


@wrong(
    "first_step",
    hint="You squeezed the candidate with a sigmoid, so it can never be negative. Only the "
    "three gates are shares between 0 and 1; what is written may also be below 0. Look "
    "at the last of the four formulas in the first line.",
)
def candidate_through_a_sigmoid():
    z = torch.cat([x_1, h_0])
    f, i, o = ((W @ z).sigmoid().round() for W in (W_f, W_i, W_o))
    g = (W_g @ z).sigmoid().round(decimals=1)
    C = (f * C_0 + i * g).round(decimals=1)
    h = (o * C.tanh()).round(decimals=1)
    return {"f_1": f, "i_1": i, "o_1": o, "g_1": g, "C_1": C, "h_1": h}


@wrong(
    "first_step",
    hint="Forget gate and input gate have changed places. W_f makes the gate that stands "
    "before the old memory, W_i the one before the candidate.",
)
def forget_and_input_swapped(sheet):
    C = sheet.value("C_0")
    h = sheet["o_1"].grid * torch.tensor(C).tanh().round(decimals=1)[0].item()
    return {
        "f_1": sheet.value("i_1"),
        "i_1": sheet.value("f_1"),
        "o_1": sheet.value("o_1"),
        "g_1": sheet.value("g_1"),
        "C_1": C,
        "h_1": h.values,
    }


@wrong(
    "first_step",
    hint="What you say is the memory itself. Before the output gate comes one more "
    "squeeze: look at what stands beside o in the formula of h.",
)
def says_the_memory_unsqueezed(sheet):
    h = sheet["o_1"].grid * sheet["C_1"].grid
    return {**{f"{n}_1": sheet.value(f"{n}_1") for n in "fiogC"}, "h_1": h.values}


@wrong(
    "first_step",
    hint="The output gate is missing: the second cell of the memory has something to say, "
    "but its door is shut. Multiply entry by entry.",
)
def says_everything(sheet):
    return {
        **{f"{n}_1": sheet.value(f"{n}_1") for n in "fiogC"},
        "h_1": sheet.value("u_1"),
    }


@wrong(
    "first_step",
    hint="Your z has h on top of x. The first three columns of every W belong to the "
    "input, the last two to what was said: z is x_1 first, then h_0.",
)
def h_on_top_of_x():
    z = torch.cat([h_0, x_1])
    f, i, o = ((W @ z).sigmoid().round() for W in (W_f, W_i, W_o))
    g = (W_g @ z).tanh().round(decimals=1)
    C = (f * C_0 + i * g).round(decimals=1)
    h = (o * C.tanh()).round(decimals=1)
    return {"f_1": f, "i_1": i, "o_1": o, "g_1": g, "C_1": C, "h_1": h}


@wrong(
    "first_step",
    hint="Only the input went into your sums. What was said last, h_0, is the lower part of "
    "z: the last two columns of every W want it.",
)
def hears_only_the_input():
    z = torch.cat([x_1, 0 * h_0])
    f, i, o = ((W @ z).sigmoid().round() for W in (W_f, W_i, W_o))
    g = (W_g @ z).tanh().round(decimals=1)
    C = (f * C_0 + i * g).round(decimals=1)
    h = (o * C.tanh()).round(decimals=1)
    return {"f_1": f, "i_1": i, "o_1": o, "g_1": g, "C_1": C, "h_1": h}


@wrong(
    "first_step",
    hint="Your memory still has the whole of C_0 in it. The name misleads: a forget gate "
    "says how much is **kept**, and 0 keeps nothing.",
)
def takes_zero_for_keep(sheet):
    C = sheet["C_0"].grid + sheet["i_1"].grid * sheet["g_1"].grid
    u = torch.tensor(C.values).tanh().round(decimals=1)
    return {
        **{f"{n}_1": sheet.value(f"{n}_1") for n in "fiog"},
        "C_1": C.values,
        "h_1": torch.tensor(sheet.value("o_1")) * u,
    }


@wrong(
    "first_step",
    hint="Your gates can be -1: that is a tanh. A gate is a share, made by a sigmoid, which "
    "for a sum far below 0 is 0 and not -1.",
)
def gates_through_a_tanh():
    z = torch.cat([x_1, h_0])
    f, i, o = ((W @ z).tanh().round() for W in (W_f, W_i, W_o))
    g = (W_g @ z).tanh().round(decimals=1)
    C = (f * C_0 + i * g).round(decimals=1)
    h = (o * C.tanh()).round(decimals=1)
    return {"f_1": f, "i_1": i, "o_1": o, "g_1": g, "C_1": C, "h_1": h}


@wrong(
    "first_step",
    hint="Where the gates should be, you give their sums. Squeeze each sum first: with a "
    "sigmoid for f, i and o, with tanh for the candidate.",
)
def gives_the_sums(sheet):
    return {
        **{f"{n}_1": sheet.value(f"{n.upper()}_1") for n in "fiog"},
        "C_1": sheet.value("C_1"),
        "h_1": sheet.value("h_1"),
    }


@wrong(
    "first_step",
    hint="The right numbers, lying down. In this part a vector stands: two rows of one "
    "number each.",
)
def vectors_lying_down(sheet):
    return {f"{n}_1": [[v for (v,) in sheet.value(f"{n}_1")]] for n in "fiogCh"}


@right("first_step")
def gates_as_true_and_false():
    z = torch.cat([x_1, h_0])
    return {
        "f_1": W_f @ z > 0,
        "i_1": W_i @ z > 0,
        "o_1": W_o @ z > 0,
        "g_1": (W_g @ z).tanh(),
        "C_1": [[0.8], [-1.0]],
        "h_1": [[0.7], [0.0]],
    }


@right("first_step")
def second_decimals_kept_after_the_gates():
    return {
        "f_1": np.zeros((2, 1)),
        "i_1": np.ones((2, 1)),
        "o_1": np.array([[1], [0]]),
        "g_1": [[0.76], [-1]],
        "C_1": np.array([[0.8], [-0.99]]),
        "h_1": [[0.66], [-0.0]],
    }


@right("first_step")
def each_sum_by_hand():
    def sums(W):
        z = [1, 2, 1, 1, 1]
        return [sum(w * n for w, n in zip(row, z)) for row in W.tolist()]

    f, i, o = ([[int(s > 0)] for s in sums(W)] for W in (W_f, W_i, W_o))
    g = [[round(math.tanh(s), 1)] for s in sums(W_g)]
    C = [[a * c + b * d] for (a,), (c,), (b,), (d,) in zip(f, C_0.tolist(), i, g)]
    h = [[round(a * math.tanh(c), 1)] for (a,), (c,) in zip(o, C)]
    return {"f_1": f, "i_1": i, "o_1": o, "g_1": g, "C_1": C, "h_1": h}


# --- 2 more_steps ---------------------------------------------------------------


@wrong(
    "more_steps",
    hint="Your z still has h_0 in it. What was said at a step goes into the z of the next: "
    "h_1 into z_2, and h_2 into z_3.",
)
def hears_h_0_again_and_again():
    C, out = C_0, {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = torch.cat([x, h_0])
        f, i, o = ((W @ z).sigmoid().round() for W in (W_f, W_i, W_o))
        g = (W_g @ z).tanh().round(decimals=1)
        C = (f * C + i * g).round(decimals=1)
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": (o * C.tanh()).round(decimals=1)}
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


@wrong(
    "more_steps",
    hint="You put the memory into z. The memory is not heard by the gates: z joins the "
    "input and what was **said**, h.",
)
def hears_the_memory():
    C, h, out = C_0, h_0, {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = torch.cat([x, h]).float()
        f, i, o = ((W.float() @ z).sigmoid().round() for W in (W_f, W_i, W_o))
        g = (W_g.float() @ z).tanh().round(decimals=1)
        C = h = (f * C + i * g).round(decimals=1)
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": (o * C.tanh()).round(decimals=1)}
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


@wrong(
    "more_steps",
    hint="The old memory is lost. At t = 3 the first forget gate is open: C_3 has to keep "
    "what C_2 holds there, and add what is written.",
)
def forgets_what_was_kept(sheet):
    out = {f"{n}_{t}": sheet.value(f"{n}_{t}") for t in (2, 3) for n in "fCh"}
    C = torch.tensor((sheet["i_3"].grid * sheet["g_3"].grid).values)
    return {**out, "C_3": C}


@wrong(
    "more_steps",
    hint="Your third step keeps something of C_0. The old memory of a step is the memory "
    "that the step **before** it left: C_2 for t = 3.",
)
def starts_from_c_0_every_time(sheet):
    out = {f"{n}_{t}": sheet.value(f"{n}_{t}") for t in (2, 3) for n in "fCh"}
    f, i, g = (torch.tensor(sheet.value(f"{n}_3")) for n in "fig")
    return {**out, "C_3": f * C_0 + i * g}


@wrong(
    "more_steps",
    hint="Nothing is ever forgotten in your memory: you add without multiplying. The old "
    "memory counts times the forget gate, and a shut one leaves nothing of it.",
)
def never_forgets():
    C, h, out = C_0, h_0, {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = torch.cat([x, h]).float()
        f, i, o = ((W.float() @ z).sigmoid().round() for W in (W_f, W_i, W_o))
        g = (W_g.float() @ z).tanh().round(decimals=1)
        C = (C + i * g).round(decimals=1)
        h = (o * C.tanh()).round(decimals=1)
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": h}
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


@wrong(
    "more_steps",
    hint="You write the whole candidate, whatever the input gate says. At t = 3 the gate "
    "of the second cell is shut: nothing is written there.",
)
def writes_through_a_shut_gate(sheet):
    out = {f"{n}_{t}": sheet.value(f"{n}_{t}") for t in (2, 3) for n in "fCh"}
    C = sheet["f_3"].grid * sheet["C_2"].grid + sheet["g_3"].grid
    return {**out, "C_3": C.values}


@wrong(
    "more_steps",
    hint="You say the memory as it is. First tanh, then the output gate: 0.8 in the memory "
    "is not 0.8 aloud.",
)
def says_the_memory_each_time():
    C, h, out = C_0, h_0, {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = torch.cat([x, h]).float()
        f, i, o = ((W.float() @ z).sigmoid().round() for W in (W_f, W_i, W_o))
        g = (W_g.float() @ z).tanh().round(decimals=1)
        C = (f * C + i * g).round(decimals=1)
        h = o * C
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": h}
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


@wrong(
    "more_steps",
    hint="You say tanh of the whole memory. The output gate decides how much of it is heard, "
    "and the second one is shut all the time.",
)
def keeps_the_output_gate_open():
    C, h, out = C_0, h_0, {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = torch.cat([x, h]).float()
        f, i = ((W.float() @ z).sigmoid().round() for W in (W_f, W_i))
        g = (W_g.float() @ z).tanh().round(decimals=1)
        C = (f * C + i * g).round(decimals=1)
        h = C.tanh().round(decimals=1)
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": h}
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


@wrong(
    "more_steps",
    hint="Forget gate and input gate have changed places. What W_f says stands before the "
    "old memory, what W_i says before the candidate.",
)
def swaps_keeping_and_writing():
    C, h, out = C_0, h_0, {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = torch.cat([x, h]).float()
        i, f, o = ((W.float() @ z).sigmoid().round() for W in (W_f, W_i, W_o))
        g = (W_g.float() @ z).tanh().round(decimals=1)
        C = (f * C + i * g).round(decimals=1)
        h = (o * C.tanh()).round(decimals=1)
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": h}
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


@wrong(
    "more_steps",
    hint="These are the exact numbers. The pencil rounds each gate to 0 or 1 before it is "
    "used, so that a door is open or shut.",
)
def goes_on_with_the_decimals(sheet):
    return {f"{n}_{t}": sheet.value(f"{n}'_{t}") for t in (2, 3) for n in "fCh"}


@wrong(
    "more_steps",
    hint="Your candidate went through a sigmoid, so the memory can only grow. tanh keeps "
    "the sign: at t = 3 what is written takes away what was kept.",
)
def never_writes_below_zero():
    C, h, out = C_0, h_0, {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = torch.cat([x, h]).float()
        f, i, o = ((W.float() @ z).sigmoid().round() for W in (W_f, W_i, W_o))
        g = (W_g.float() @ z).sigmoid().round(decimals=1)
        C = (f * C + i * g).round(decimals=1)
        h = (o * C.tanh()).round(decimals=1)
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": h}
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


@right("more_steps")
def by_the_signs_of_the_sums():
    C, h, out = C_0.numpy(), h_0.numpy(), {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = np.vstack([x.numpy(), h])
        f, i, o = ((W.numpy() @ z > 0).astype(int) for W in (W_f, W_i, W_o))
        C = np.round(f * C + i * np.round(np.tanh(W_g.numpy() @ z), 1), 1)
        h = np.round(o * np.tanh(C), 1)
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": h}
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


@right("more_steps")
def typed_with_more_decimals():
    return {
        "f_2": [[0.0], [0.0]],
        "C_2": [[0.77], [-1]],
        "h_2": [[0.664], [0]],
        "f_3": torch.tensor([[1], [0]]),
        "C_3": [[-0.0], [0.0]],
        "h_3": [[0], [0]],
    }


@right("more_steps")
def rounds_only_the_gates():
    C, h, out = C_0.double(), h_0.double(), {}
    for t, x in enumerate([x_1, x_2, x_3], start=1):
        z = torch.cat([x, h])
        f, i, o = ((W.double() @ z > 0).double() for W in (W_f, W_i, W_o))
        C = f * C + i * (W_g.double() @ z).tanh()
        h = (o * C.tanh().round(decimals=2)).double()
        out |= {f"f_{t}": f, f"C_{t}": C, f"h_{t}": h}
    out["h_2"], out["C_3"] = out["h_2"].round(decimals=1) + 0.06, out["C_3"].round()
    return {name: out[name] for name in ("f_2", "C_2", "h_2", "f_3", "C_3", "h_3")}


# --- 3 rounding -----------------------------------------------------------------


@wrong(
    "rounding",
    hint="These are still the pencil's numbers. Here the gates keep their decimals: 0.018 "
    "is not 0, and that is what the exercise is about.",
)
def still_with_the_pencil(sheet):
    C, h, lost = ([v for (v,) in sheet.value(n)] for n in ("C_1", "h_1", "g_1"))
    return {"exact_C": C, "exact_h": h, "lost_C": lost, "shows_at": 3}


@wrong(
    "rounding",
    hint="Your candidate went through a sigmoid. The second one should be close to -1: the "
    "candidate, and only the candidate, takes tanh.",
)
def exact_with_a_sigmoid_candidate():
    z = torch.cat([x_1, h_0]).double()
    f, i, o, g = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o, W_g))
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C.tanh()).flatten().tolist(),
        "lost_C": (i * g).flatten().tolist(),
        "shows_at": 3,
    }


@wrong(
    "rounding",
    hint="Forget gate and input gate have changed places, so your memory is almost C_0. "
    "Both forget gates are nearly shut here: only a trace of C_0 may be left.",
)
def exact_with_gates_swapped():
    z = torch.cat([x_1, h_0]).double()
    i, f, o = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o))
    g = (W_g.double() @ z).tanh()
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C.tanh()).flatten().tolist(),
        "lost_C": (i * g).flatten().tolist(),
        "shows_at": 3,
    }


@wrong(
    "rounding",
    hint="The memory is right; what is said lacks its tanh. It is the same slip with the "
    "pencil, where 0.8 would be said instead of 0.7.",
)
def exact_without_the_second_tanh():
    z = torch.cat([x_1, h_0]).double()
    f, i, o = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o))
    g = (W_g.double() @ z).tanh()
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C).flatten().tolist(),
        "lost_C": (i * g).flatten().tolist(),
        "shows_at": 3,
    }


@wrong(
    "rounding",
    hint="Your z has h on top of x. The input comes first: its three numbers belong to the "
    "first three columns of every W.",
)
def exact_with_h_first():
    z = torch.cat([h_0, x_1]).double()
    f, i, o = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o))
    g = (W_g.double() @ z).tanh()
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C.tanh()).flatten().tolist(),
        "lost_C": (i * g).flatten().tolist(),
        "shows_at": 3,
    }


@wrong(
    "rounding",
    hint="Your memories are right. At t = 1 it shows only with the decimals kept. The last "
    "question is about the **pencil's** numbers: when does a forget gate first open?",
)
def shows_at_once():
    z = torch.cat([x_1, h_0]).double()
    f, i, o = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o))
    g = (W_g.double() @ z).tanh()
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C.tanh()).flatten().tolist(),
        "lost_C": (i * g).flatten().tolist(),
        "shows_at": 1,
    }


@wrong(
    "rounding",
    hint="Your memories are right. At t = 2 there is a memory to keep, but look at the two "
    "forget gates that you found in exercise 2: is one of them open?",
)
def shows_as_soon_as_there_is_a_memory():
    z = torch.cat([x_1, h_0]).double()
    f, i, o = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o))
    g = (W_g.double() @ z).tanh()
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C.tanh()).flatten().tolist(),
        "lost_C": (i * g).flatten().tolist(),
        "shows_at": 2,
    }


@wrong(
    "rounding",
    hint="For `lost_C` you give the term that gets lost. Asked is what the memory is "
    "without it: the other term.",
)
def gives_the_lost_term():
    z = torch.cat([x_1, h_0]).double()
    f, i, o = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o))
    g = (W_g.double() @ z).tanh()
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C.tanh()).flatten().tolist(),
        "lost_C": (f * C_0).flatten().tolist(),
        "shows_at": 3,
    }


@wrong(
    "rounding",
    hint="`lost_C` is your bare candidate. Only the term with the forget gate is left out; "
    "the input gate still stands before the candidate, and it is not quite 1.",
)
def loses_the_input_gate_too():
    z = torch.cat([x_1, h_0]).double()
    f, i, o = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o))
    g = (W_g.double() @ z).tanh()
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C.tanh()).flatten().tolist(),
        "lost_C": g.flatten().tolist(),
        "shows_at": 3,
    }


@wrong(
    "rounding",
    hint="Right, but with two decimals only. The differences that you are looking for are in "
    "the third and the fourth.",
)
def with_two_decimals(sheet):
    C, h = ([round(v, 2) for (v,) in sheet.value(f"{n}'_1")] for n in "Ch")
    lost = sheet["i'_1"].grid * sheet["g'_1"].grid
    lost = [round(v, 2) for (v,) in lost.values]
    return {"exact_C": C, "exact_h": h, "lost_C": lost, "shows_at": 3}


@wrong(
    "rounding",
    hint="What you say is made from the memory rounded to one decimal. Nothing is rounded on "
    "the way here, only the end result.",
)
def rounds_on_the_way():
    z = torch.cat([x_1, h_0]).double()
    f, i, o = ((W.double() @ z).sigmoid() for W in (W_f, W_i, W_o))
    g = (W_g.double() @ z).tanh()
    C = f * C_0 + i * g
    return {
        "exact_C": C.flatten().tolist(),
        "exact_h": (o * C.round(decimals=1).tanh()).flatten().tolist(),
        "lost_C": (i * g).flatten().tolist(),
        "shows_at": 3,
    }


@right("rounding")
def from_a_calculator():
    return {
        "exact_C": [0.765, -0.983],
        "exact_h": [0.632, -0.005],
        "lost_C": [0.7597, -0.9820],
        "shows_at": 3,
    }


@right("rounding")
def in_numpy_with_exponentials():
    z = np.concatenate([x_1.numpy(), h_0.numpy()])[:, 0]
    f, i, o = (1 / (1 + np.exp(-(W.numpy() @ z))) for W in (W_f, W_i, W_o))
    written = i * (2 / (1 + np.exp(-2 * (W_g.numpy() @ z))) - 1)
    C = f * C_0.numpy()[:, 0] + written
    h = o * np.tanh(C)
    return {"exact_C": C, "exact_h": h, "lost_C": written, "shows_at": np.int64(3)}


@right("rounding")
def lost_by_taking_away():
    z = torch.cat([x_1, h_0]).float()
    f, i, o = (torch.sigmoid(W.float() @ z)[:, 0] for W in (W_f, W_i, W_o))
    C = f * C_0[:, 0] + i * torch.tanh(W_g.float() @ z)[:, 0]
    lost = C - f * C_0[:, 0]
    return {"exact_C": C, "exact_h": o * C.tanh(), "lost_C": lost, "shows_at": 3.0}


# --- 4 lstm_cell ----------------------------------------------------------------


@wrong(
    "lstm_cell",
    hint="All four of your blocks go through a sigmoid. The third is no gate but the "
    "candidate: what is written may be negative.",
)
def squeezes_all_four_alike(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, g, o = sums.sigmoid().chunk(4, dim=1)
    C = f * C + i * g
    return o * C.tanh(), C


@wrong(
    "lstm_cell",
    hint="You read the blocks in the order f, i, g, o. That is how the formulas are usually "
    "told; torch stacks the input gate first.",
)
def blocks_in_the_order_of_the_telling(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    f, i, g, o = sums.chunk(4, dim=1)
    C = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh(), C


@wrong(
    "lstm_cell",
    hint="You read the blocks in the order i, f, o, g: the three gates, then the candidate. "
    "In torch the candidate is third and the output gate last.",
)
def candidate_last(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, o, g = sums.chunk(4, dim=1)
    C = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh(), C


@wrong(
    "lstm_cell",
    hint="You say the new memory through its gate, but unsqueezed. One tanh is missing "
    "between C and h.",
)
def no_tanh_at_the_door(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, g, o = sums.chunk(4, dim=1)
    C = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return o.sigmoid() * C, C


@wrong(
    "lstm_cell",
    hint="One of the two biases is missing: b_hh is an argument too, and it is not always "
    "0. What counts is the sum of both.",
)
def one_bias_is_enough(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + h @ W_hh.T + b_ih
    i, f, g, o = sums.chunk(4, dim=1)
    C = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh(), C


@wrong(
    "lstm_cell",
    hint="What was said last is not heard: your sums are made of x alone. Look at the third "
    "and the fourth term of the sums.",
)
def deaf_to_what_was_said(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + b_hh
    i, f, g, o = sums.chunk(4, dim=1)
    C = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh(), C


@wrong(
    "lstm_cell",
    hint="The old memory is gone: your new one holds only what is written now. Where does "
    "the forget gate come in?",
)
def remembers_nothing(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, g, o = sums.chunk(4, dim=1)
    C = i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh(), C


@wrong(
    "lstm_cell",
    hint="What you say comes from the memory as it was before this step. First the memory is "
    "renewed, then the new one is said.",
)
def says_the_old_memory(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, g, o = sums.chunk(4, dim=1)
    new = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh(), new


@wrong(
    "lstm_cell",
    hint="Both parts are right and stand in the wrong order: what is said comes first, then "
    "the memory.",
)
def memory_first(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, g, o = sums.chunk(4, dim=1)
    C = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return C, o.sigmoid() * C.tanh()


@wrong(
    "lstm_cell",
    hint="You return what is said, but not the memory. The next step needs both.",
)
def keeps_the_memory_to_itself(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, g, o = sums.chunk(4, dim=1)
    C = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh()


@wrong(
    "lstm_cell",
    hint="You dealt the sums out one by one, as if the four sums of a cell stood side by "
    "side. They stand in blocks: first H sums of input gates, then H of forget gates.",
)
def deals_the_sums_like_cards(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, g, o = (sums[:, k::4] for k in range(4))
    C = f.sigmoid() * C + i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh(), C


@wrong(
    "lstm_cell",
    hint="The values are right, but you wrote the new memory into the old one. It belongs to "
    "the caller, who may still need it: make a new tensor.",
)
def overwrites_the_memory(x, h, C, W_ih, W_hh, b_ih, b_hh):
    sums = x @ W_ih.T + b_ih + h @ W_hh.T + b_hh
    i, f, g, o = sums.chunk(4, dim=1)
    C *= f.sigmoid()
    C += i.sigmoid() * g.tanh()
    return o.sigmoid() * C.tanh(), C


@right("lstm_cell")
def side_by_side_in_one_product(x, h, C, W_ih, W_hh, b_ih, b_hh):
    W = torch.cat([W_ih, W_hh], dim=1)
    z = torch.cat([x, h], dim=1)
    s = torch.einsum("bz,sz->sb", z, W) + (b_ih + b_hh)[:, None]
    H = len(s) // 4
    i, f, o = (1 / (1 + (-s[k * H : (k + 1) * H]).exp()) for k in (0, 1, 3))
    new = (f * C.T + i * s[2 * H : 3 * H].tanh()).T
    return o.T * new.tanh(), new


@right("lstm_cell")
def four_small_matrices(x, h, C, W_ih, W_hh, b_ih, b_hh):
    def sums(k):
        rows = slice(k * h.shape[1], (k + 1) * h.shape[1])
        return F.linear(x, W_ih[rows], b_ih[rows]) + F.linear(h, W_hh[rows], b_hh[rows])

    kept = torch.sigmoid(sums(1)) * C
    written = torch.sigmoid(sums(0)) * (2 * torch.sigmoid(2 * sums(2)) - 1)
    memory = kept + written
    return torch.tanh(memory) * torch.sigmoid(sums(3)), memory


@right("lstm_cell")
def cell_by_cell_in_numpy(x, h, C, W_ih, W_hh, b_ih, b_hh):
    x, h, C = x.double().numpy(), h.double().numpy(), C.double().numpy()
    s = x @ W_ih.double().numpy().T + h @ W_hh.double().numpy().T
    s = s + b_ih.double().numpy() + b_hh.double().numpy()
    H = h.shape[1]
    new_h, new_C = np.zeros_like(h), np.zeros_like(C)
    for b in range(len(x)):
        for k in range(H):
            i, f, o = (1 / (1 + math.exp(-s[b, k + n * H])) for n in (0, 1, 3))
            new_C[b, k] = f * C[b, k] + i * math.tanh(s[b, k + 2 * H])
            new_h[b, k] = o * math.tanh(new_C[b, k])
    return new_h, new_C
