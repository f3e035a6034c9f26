"""What goes wrong in the attention exercises, and what to say to the student.

Each `wrong` function is a real misunderstanding with the hint that helps; each
`right` one is an answer that looks different and must keep full marks. Only the
source text counts: it runs in the notebook's namespace. Functions for the
fill-in tables return {name: value}; one with a parameter gets the worksheet, whose
steps remember how they were made.
"""

import math
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

from autograder.authoring import right, wrong

# --- 1 one_query --------------------------------------------------------------


@wrong(
    "one_query",
    hint="Your word has become its delta: it forgot what it was. Look at step 4, the "
    "residual connection: what is added to what?",
)
def forgets_the_word_itself():
    return {
        "one_scores": [2, 1, 0, 0],
        "one_weights": [0.5, 0.25, 0.125, 0.125],
        "one_delta": [2, 2],
        "one_refined": [2, 2],
    }


@wrong(
    "one_query",
    hint="You divided by the largest power, so the best word gets weight 1 and the "
    "weights add up to 2. They must be shares of one whole: divide by the total.",
)
def divides_by_the_largest_power():
    a = np.array([1, 1 / 2, 1 / 4, 1 / 4])
    delta = a @ np.array(values)
    return {
        "one_scores": [2, 1, 0, 0],
        "one_weights": a.tolist(),
        "one_delta": delta.tolist(),
        "one_refined": (np.array(E) + delta).tolist(),
    }


@wrong(
    "one_query",
    hint="You shared out the scores themselves, so the words with score 0 fall silent. "
    "Take the power of each score first (step 2); two to the power 0 is not 0.",
)
def shares_out_raw_scores():
    a = np.array([2 / 3, 1 / 3, 0, 0])
    delta = a @ np.array(values)
    return {
        "one_scores": [2, 1, 0, 0],
        "one_weights": a.tolist(),
        "one_delta": delta.tolist(),
        "one_refined": (np.array(E) + delta).tolist(),
    }


@wrong(
    "one_query",
    hint="You squared the scores. The score is the exponent, not the base: a score of "
    "0 has the power 1, so its word is still heard a little.",
)
def squares_the_scores():
    a = np.array([4 / 5, 1 / 5, 0, 0])
    delta = a @ np.array(values)
    return {
        "one_scores": [2, 1, 0, 0],
        "one_weights": a.tolist(),
        "one_delta": delta.tolist(),
        "one_refined": (np.array(E) + delta).tolist(),
    }


@wrong(
    "one_query",
    hint="These are the weights with powers of e: right in real life. This exercise "
    "takes powers of 2, so that it can be done in the head.",
)
def takes_powers_of_e():
    p = np.exp(np.array(keys) @ query)
    a = p / p.sum()
    delta = a @ np.array(values)
    return {
        "one_scores": [2, 1, 0, 0],
        "one_weights": a.tolist(),
        "one_delta": delta.tolist(),
        "one_refined": (np.array(E) + delta).tolist(),
    }


@wrong(
    "one_query",
    hint="Your delta is the plain average of the four values: everyone is heard "
    "equally. Multiply each value by its own weight, then add.",
)
def hears_everyone_equally():
    return {
        "one_scores": [2, 1, 0, 0],
        "one_weights": [0.5, 0.25, 0.125, 0.125],
        "one_delta": [-0.5, 1.5],
        "one_refined": [1.5, 2.5],
    }


@right("one_query")
def as_fractions():
    return {
        "one_scores": [2, 1, 0, 0],
        "one_weights": [Fraction(1, d) for d in (2, 4, 8, 8)],
        "one_delta": [Fraction(2), Fraction(2)],
        "one_refined": [4, 3],
    }


@right("one_query")
def rounded_and_in_arrays():
    return {
        "one_scores": np.array([2, 1, 0, 0]),
        "one_weights": [0.5, 0.25, 0.13, 0.12],
        "one_delta": [2.0, 2.05],
        "one_refined": torch.tensor([4.0, 3.0]),
    }


# --- 2 refine -----------------------------------------------------------------


@wrong(
    "refine",
    hint="You return what the word was told, not the refined word: the residual is "
    "missing. What happens to E itself?",
)
def drops_the_residual(E, context, W_Q, W_K, W_V):
    a = torch.softmax((W_K @ context).T @ (W_Q @ E), dim=0)
    return W_V @ context @ a


@wrong(
    "refine",
    hint="You already divide the scores by the square root of d. That is a good idea "
    "(exercise 17), but this exercise takes the raw scores.",
)
def scales_too_early(E, context, W_Q, W_K, W_V):
    s = (W_K @ context).T @ (W_Q @ E) / math.sqrt(W_Q.shape[0])
    return E + W_V @ context @ torch.softmax(s, dim=0)


@wrong(
    "refine",
    hint="Your weights are the powers divided by the largest power. They do not add up "
    "to 1: the denominator is the sum over all context words j.",
)
def normalises_by_the_maximum(E, context, W_Q, W_K, W_V):
    p = torch.exp((W_K @ context).T @ (W_Q @ E))
    return E + W_V @ context @ (p / p.max())


@wrong(
    "refine",
    hint="Each power is divided by itself, so every weight is 1. The sum below the line has "
    "an index of its own, j, and runs over all words.",
)
def sums_over_its_own_index(E, context, W_Q, W_K, W_V):
    p = torch.exp((W_K @ context).T @ (W_Q @ E))
    return E + W_V @ context @ (p / p)


@wrong(
    "refine",
    hint="You add the context vectors themselves. What a word contributes is its "
    "value, W_V times its vector.",
)
def adds_context_instead_of_values(E, context, W_Q, W_K, W_V):
    a = torch.softmax((W_K @ context).T @ (W_Q @ E), dim=0)
    return E + context @ a


@wrong(
    "refine",
    hint="Your keys are made with W_Q. The question and the answers go through "
    "different matrices: queries through W_Q, keys through W_K.",
)
def makes_keys_with_the_query_matrix(E, context, W_Q, W_K, W_V):
    a = torch.softmax((W_Q @ context).T @ (W_Q @ E), dim=0)
    return E + W_V @ context @ a


@wrong(
    "refine",
    hint="Query and keys are swapped: the asking word goes through W_Q, the context "
    "through W_K.",
)
def swaps_query_and_key(E, context, W_Q, W_K, W_V):
    a = torch.softmax((W_Q @ context).T @ (W_K @ E), dim=0)
    return E + W_V @ context @ a


@wrong(
    "refine",
    hint="You took the rows of the context for its words. One word is one column of the "
    "context, so word i is context[:, i].",
)
def takes_rows_for_words(E, context, W_Q, W_K, W_V):
    words = context.T if context.shape[0] == context.shape[1] else context
    a = torch.softmax((W_K @ words).T @ (W_Q @ E), dim=0)
    return E + W_V @ words @ a


@wrong(
    "refine",
    hint="Your word is one of its own listeners. Only the words of the context share out "
    "the weights here; the word itself comes back by being added at the end.",
)
def puts_the_word_into_its_own_context(E, context, W_Q, W_K, W_V):
    words = torch.cat([context, E[:, None]], dim=1)
    a = torch.softmax((W_K @ words).T @ (W_Q @ E), dim=0)
    return E + W_V @ words @ a


@right("refine")
def word_by_word(E, context, W_Q, W_K, W_V):
    q = W_Q @ E
    powers, total = [], 0.0
    for i in range(context.shape[1]):
        powers.append(math.exp(float(W_K @ context[:, i] @ q)))
        total += powers[-1]
    out = E.clone()
    for i in range(context.shape[1]):
        out = out + powers[i] / total * (W_V @ context[:, i])
    return out


@right("refine")
def in_numpy(E, context, W_Q, W_K, W_V):
    E, context, W_Q, W_K, W_V = [t.numpy() for t in (E, context, W_Q, W_K, W_V)]
    p = np.exp((W_Q @ E) @ (W_K @ context))
    return E + (W_V @ context) @ (p / p.sum())


@right("refine")
def weights_first_values_last(E, context, W_Q, W_K, W_V):
    a = torch.softmax(context.T @ W_K.T @ W_Q @ E, dim=0)
    return E + W_V @ (context @ a)


# --- 3 queries_keys_values ----------------------------------------------------


@wrong(
    "queries_keys_values",
    hint="These are the right numbers lying down: each of your rows is a token. In this "
    "part a token is a column, so Q, K and V have 3 rows and 4 columns.",
)
def tokens_in_rows(sheet):
    return {name: sheet[name].grid.T.values for name in "QKV"}


@wrong(
    "queries_keys_values",
    hint="Queries and keys have changed places. The queries come from W_Q, the keys "
    "from W_K.",
)
def queries_and_keys_swapped(sheet):
    return {name: sheet.value(other) for name, other in zip("QKV", "KQV")}


@wrong(
    "queries_keys_values",
    hint="A minus sign got lost: the last entry of the third row of W_K is -1, so a "
    "key can have a negative entry.",
)
def loses_the_minus_sign():
    return {"Q": W_Q @ X, "K": W_K.abs() @ X, "V": W_V @ X}


@wrong(
    "queries_keys_values",
    hint="Your values still have the size of the tokens. The entries of W_V are 10, not "
    "1: each value is ten times a feature of the token.",
)
def reads_ten_as_one():
    return {"Q": W_Q @ X, "K": W_K @ X, "V": W_V @ X // 10}


@wrong(
    "queries_keys_values",
    hint="Your values are simply the first three features. The rows of W_V pick "
    "features 1, 4 and 2, in this order: see in which column each 10 stands.",
)
def values_are_the_first_features(sheet):
    first = [[10 * x for x in row] for row in sheet.value("X")[:3]]
    return {"Q": sheet.value("Q"), "K": sheet.value("K"), "V": first}


@wrong(
    "queries_keys_values",
    hint="You multiplied only the first feature that a row picks. Go along the whole "
    "row of the matrix and add up all six products.",
)
def stops_at_the_first_product():
    def first_only(W):
        out = []
        for row in W.tolist():
            j = next(j for j, w in enumerate(row) if w)
            out.append([row[j] * x for x in X[j].tolist()])
        return out

    return {"Q": first_only(W_Q), "K": first_only(W_K), "V": W_V @ X}


@right("queries_keys_values")
def as_numpy_arrays():
    x = X.numpy()
    return {"Q": W_Q.numpy() @ x, "K": W_K.numpy() @ x, "V": W_V.numpy() @ x}


@right("queries_keys_values")
def as_lists_of_floats():
    return {
        "Q": (W_Q @ X).float().tolist(),
        "K": (W_K @ X).float().tolist(),
        "V": (W_V @ X).float().tolist(),
    }


# --- 4 scores -----------------------------------------------------------------


@wrong(
    "scores",
    hint="You have Q^T K, the transpose. Rows are keys and columns are queries: column "
    "1 must hold the first query against all the keys.",
)
def queries_in_rows(sheet):
    return {"S": sheet["S"].grid.T.values}


@wrong(
    "scores",
    hint="You multiplied K by Q transposed: that adds up over the tokens. A score adds "
    "up over the three numbers of one key and one query, so it is K^T Q, 4 by 4.",
)
def contracts_over_tokens(sheet):
    return {"S": (sheet["K"].grid @ sheet["Q"].grid.T).values}


@wrong(
    "scores",
    hint="These are dot products of the tokens themselves. Queries and keys are what "
    "meets here: use Q and K of exercise 3.",
)
def scores_of_raw_tokens(sheet):
    X = sheet["X"].grid
    return {"S": (X.T @ X).values}


@wrong(
    "scores",
    hint="You took the queries for the keys as well. Column j is query j against the "
    "four keys, the columns of K.",
)
def queries_against_queries(sheet):
    Q = sheet["Q"].grid
    return {"S": (Q.T @ Q).values}


@wrong(
    "scores",
    hint="Your third row should be the third key, (1, 0, -1), against the queries: it "
    "has a minus sign that makes its scores negative.",
)
def third_key_without_its_sign():
    return {"S": (W_K.abs() @ X).T @ (W_Q @ X)}


@wrong(
    "scores",
    hint="You have divided already. Here the scores stay integers; the scaling comes "
    "in the next exercise.",
)
def scaled_already(sheet):
    return {"S": sheet.value("R")}


@right("scores")
def one_dot_product_at_a_time():
    Qs, Ks = (W_Q @ X).T.tolist(), (W_K @ X).T.tolist()
    return {"S": [[sum(a * b for a, b in zip(k, q)) for q in Qs] for k in Ks]}


@right("scores")
def transposed_twice():
    return {"S": ((W_Q @ X).T @ (W_K @ X)).T.numpy()}


# --- 5 floor_weights ----------------------------------------------------------


@wrong(
    "floor_weights",
    hint="You cut off the half of -1/2 and got 0. The floor is the largest integer not "
    "above the number: for -1/2 that is -1.",
)
def truncates_negative_halves():
    H = torch.trunc((W_K @ X).T @ (W_Q @ X) / 2)
    P = 3.0**H
    return {"H": H.int(), "A_floor": P / P.sum(dim=0)}


@wrong(
    "floor_weights",
    hint="You normalised along the rows. One column belongs to one query, so each "
    "column must add up to 1.",
)
def rows_add_up_to_one(sheet):
    from autograder.worksheet import normalise

    shares = normalise(sheet["P"].grid, "rows")
    return {"H": sheet.value("H"), "A_floor": shares.values}


@wrong(
    "floor_weights",
    hint="You rounded the halves up. Floor goes down: the half of 3 becomes 1, the half "
    "of 5 becomes 2.",
)
def takes_the_ceiling():
    H = torch.ceil((W_K @ X).T @ (W_Q @ X) / 2)
    P = 3.0**H
    return {"H": H.int(), "A_floor": P / P.sum(dim=0)}


@wrong(
    "floor_weights",
    hint="You took powers of e. The paper rule takes powers of 3, so that the weights "
    "are exact fractions.",
)
def takes_e_for_three(sheet):
    from autograder.worksheet import exp, normalise

    shares = normalise(exp(sheet["H"].grid), "columns")
    return {"H": sheet.value("H"), "A_floor": shares.values}


@wrong(
    "floor_weights",
    hint="You multiplied by 3. The floored half is the exponent: 3 to the power 2 is 9, "
    "and 3 to the power 0 is 1.",
)
def multiplies_by_three(sheet):
    from autograder.worksheet import normalise

    shares = normalise(sheet["H"].grid * 3, "columns")
    return {"H": sheet.value("H"), "A_floor": shares.values}


@wrong(
    "floor_weights",
    hint="A negative exponent is a fraction, not a negative number: 3 to the power -1 "
    "is one third.",
)
def negative_powers_of_three():
    H = torch.floor((W_K @ X).T @ (W_Q @ X) / 2)
    P = torch.sign(H + 0.5) * 3.0 ** H.abs()
    return {"H": H.int(), "A_floor": P / P.sum(dim=0)}


@wrong(
    "floor_weights",
    hint="You took powers of the scores themselves. First halve and floor them, which "
    "stands in for dividing by the square root of 3.",
)
def forgets_to_halve(sheet):
    from autograder.worksheet import normalise, power

    shares = normalise(power(3, sheet["S"].grid), "columns")
    return {"H": sheet.value("H"), "A_floor": shares.values}


@wrong(
    "floor_weights",
    hint="You halved the scores and left the halves as they are. The paper rule also "
    "rounds down: the half of 3 becomes 1, and the half of -1 becomes -1.",
)
def forgets_the_floor(sheet):
    from autograder.worksheet import normalise, power

    halves = sheet["S"].grid / 2
    shares = normalise(power(3, halves), "columns")
    return {"H": halves.values, "A_floor": shares.values}


@right("floor_weights")
def as_an_array_of_fractions():
    H = np.array(((W_K @ X).T @ (W_Q @ X) // 2).tolist())
    P = np.array([[Fraction(3) ** int(h) for h in row] for row in H], dtype=object)
    return {"H": H, "A_floor": P / P.sum(axis=0)}


@right("floor_weights")
def as_decimals():
    H = torch.floor((W_K @ X).T @ (W_Q @ X) / 2)
    A = 3.0**H / (3.0**H).sum(dim=0)
    return {"H": H, "A_floor": [[round(float(a), 3) for a in row] for row in A]}


@right("floor_weights")
def with_integer_division():
    H = ((W_K @ X).T @ (W_Q @ X) // 2).tolist()
    nines = [[3 ** (h + 1) for h in row] for row in H]  # all times 3: same shares
    sums = [sum(c) for c in zip(*nines)]
    return {
        "H": H,
        "A_floor": [[Fraction(p, t) for p, t in zip(r, sums)] for r in nines],
    }


# --- 6 typo -------------------------------------------------------------------


@wrong(
    "typo",
    hint="The sums are right, but read the remark again: it is the *first* column that "
    "does not add up to 1. Under which rule does that happen?",
)
def blames_the_floor():
    return {
        "floor_sums": [1.0, 0.9, 0.9, 1.1],
        "trunc_sums": [1.1, 1.0, 0.9, 1.1],
        "rule_in_picture": "floor",
    }


@wrong(
    "typo",
    hint="You added the exact weights, and those always add up to 1. Round every single "
    "weight to one decimal first, then add.",
)
def rounds_the_sum():
    return {
        "floor_sums": [1.0, 1.0, 1.0, 1.0],
        "trunc_sums": [1.0, 1.0, 1.0, 1.0],
        "rule_in_picture": "trunc",
    }


@wrong(
    "typo",
    hint="You cut the weights after one decimal. Rounding goes to the nearest tenth: "
    "0.5625 becomes 0.6, and 0.75 becomes 0.8.",
)
def cuts_instead_of_rounding():
    def sums(rule):
        P = 3.0 ** rule((W_K @ X).T @ (W_Q @ X) / 2)
        return (torch.floor(10 * P / P.sum(dim=0)).sum(dim=0) / 10).tolist()

    return {
        "floor_sums": sums(torch.floor),
        "trunc_sums": sums(torch.trunc),
        "rule_in_picture": "trunc",
    }


@wrong(
    "typo",
    hint="The two rules have changed places. Floor takes -1/2 down to -1; truncating "
    "takes it to 0.",
)
def swaps_the_rules():
    return {
        "floor_sums": [1.1, 1.0, 0.9, 1.1],
        "trunc_sums": [1.0, 0.9, 0.9, 1.1],
        "rule_in_picture": "floor",
    }


@wrong(
    "typo",
    hint="These are the sums of the true softmax, with e and the square root. We suppose "
    "that the picture shows the paper rule: halves, and powers of 3.",
)
def sums_of_the_true_softmax():
    return {
        "floor_sums": [1.1, 1.1, 1.0, 1.1],
        "trunc_sums": [1.1, 1.1, 1.0, 1.1],
        "rule_in_picture": "trunc",
    }


@wrong(
    "typo",
    hint="You added up the rows. A query's weights stand in its column.",
)
def adds_up_rows():
    def sums(rule):
        P = 3.0 ** rule((W_K @ X).T @ (W_Q @ X) / 2)
        return (torch.floor(10 * P / P.sum(dim=0) + 0.5).sum(dim=1) / 10).tolist()

    return {
        "floor_sums": sums(torch.floor),
        "trunc_sums": sums(torch.trunc),
        "rule_in_picture": "trunc",
    }


@right("typo")
def with_pythons_round():
    def sums(halve):
        H = [[halve(s) for s in row] for row in ((W_K @ X).T @ (W_Q @ X)).tolist()]
        P = np.array([[3.0**h for h in row] for row in H])
        return np.round(P / P.sum(axis=0), 1).sum(axis=0)

    return {
        "floor_sums": sums(lambda s: s // 2),
        "trunc_sums": sums(lambda s: int(s / 2)),
        "rule_in_picture": "trunc",
    }


@right("typo")
def typed_on_paper():
    return {
        "floor_sums": [1, 0.9, 0.9, 1.1],
        "trunc_sums": [Fraction(11, 10), 1, 0.9, 1.1],
        "rule_in_picture": "trunc",
    }


# --- 7 attention_columns ------------------------------------------------------


@wrong(
    "attention_columns",
    hint="Your softmax runs along the rows. In this layout a column is one query, and a "
    "query must spend exactly 1: normalise down the columns, dim=0.",
)
def softmax_along_rows(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X
    return V @ torch.softmax(K.T @ Q / math.sqrt(Q.shape[0]), dim=1)


@wrong(
    "attention_columns",
    hint="You multiplied V with the transpose of A. A query's weights stand in a "
    "column, so column j of the result mixes the values by column j of A itself.",
)
def transposes_the_weights(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X
    return V @ torch.softmax(K.T @ Q / math.sqrt(Q.shape[0]), dim=0).T


@wrong(
    "attention_columns",
    hint="The scores went into the softmax unscaled, so it is too sure of itself. "
    "Divide them by the square root of d first.",
)
def leaves_out_the_scale(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X
    return V @ torch.softmax(K.T @ Q, dim=0)


@wrong(
    "attention_columns",
    hint="You divided by d instead of its square root: the weights are flatter than "
    "they should be.",
)
def divides_by_d_in_columns(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X
    return V @ torch.softmax(K.T @ Q / Q.shape[0], dim=0)


@wrong(
    "attention_columns",
    hint="Your score matrix is Q^T K: its columns are keys, and the softmax down the "
    "columns then makes each key share itself among the queries. Use K^T Q.",
)
def scores_the_other_way(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X
    return V @ torch.softmax(Q.T @ K / math.sqrt(Q.shape[0]), dim=0)


@wrong(
    "attention_columns",
    hint="The numbers are right but lie in rows. In this part a token is a column, so "
    "the result has shape (d_v, T).",
)
def answers_in_rows(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X
    return (V @ torch.softmax(K.T @ Q / math.sqrt(Q.shape[0]), dim=0)).T


@wrong(
    "attention_columns",
    hint="You divide by the square root of the size of a token, C. What counts is how many "
    "numbers a query has, d: the rows of Q.",
)
def divides_by_root_of_c(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X
    return V @ torch.softmax(K.T @ Q / math.sqrt(X.shape[0]), dim=0)


@wrong(
    "attention_columns",
    hint="You typed the root of 3, the d of the worked example. Take d from what is given: "
    "it is the number of rows of Q.",
)
def types_the_root_of_three(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X, W_K @ X, W_V @ X
    return V @ torch.softmax(K.T @ Q / math.sqrt(3), dim=0)


@right("attention_columns")
def through_the_row_convention(X, W_Q, W_K, W_V):
    q, k, v = X.T @ W_Q.T, X.T @ W_K.T, X.T @ W_V.T
    return (torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=1) @ v).T


@right("attention_columns")
def one_query_at_a_time(X, W_Q, W_K, W_V):
    K, V = W_K @ X, W_V @ X
    columns = []
    for t in range(X.shape[1]):
        s = K.T @ (W_Q @ X[:, t]) / len(K) ** 0.5
        columns.append(V @ (s.exp() / s.exp().sum()))
    return torch.stack(columns, dim=1)


@right("attention_columns")
def scales_the_queries(X, W_Q, W_K, W_V):
    Q, K, V = W_Q @ X / math.sqrt(W_Q.shape[0]), W_K @ X, W_V @ X
    return V @ F.softmax(K.T @ Q, dim=0)


# --- 8 project_in_rows --------------------------------------------------------


@wrong(
    "project_in_rows",
    hint="reshape only pours the numbers into a new shape, in reading order: a token "
    "then gets numbers of other tokens. Swapping two axes is transpose.",
)
def reshapes_instead_of_transposing(X, W):
    B, C, T = X.shape
    return X.reshape(B, T, C) @ W.T


@wrong(
    "project_in_rows",
    hint="You projected, but the tokens still stand in columns: (B, d, T). Turn the "
    "page as well: tokens become rows.",
)
def keeps_tokens_in_columns(X, W):
    return W @ X


@wrong(
    "project_in_rows",
    hint="The weight was used without transposing it. When tokens lie in rows and "
    "stand on the left, W x becomes x @ W.T.",
)
def forgets_to_transpose_the_weight(X, W):
    return X.transpose(1, 2) @ W


@wrong(
    "project_in_rows",
    hint="You projected first, rightly, but then used reshape to get (B, T, d). Only "
    "transpose moves an axis; reshape keeps the reading order.",
)
def projects_then_reshapes(X, W):
    Y = W @ X
    return Y.reshape(Y.shape[0], Y.shape[2], Y.shape[1])


@wrong(
    "project_in_rows",
    hint="You turned all the axes round, the batch too: .T reverses every axis. Swap "
    "only the last two.",
)
def reverses_every_axis(X, W):
    return (W @ X).permute(2, 1, 0)


@right("project_in_rows")
def projects_then_transposes(X, W):
    return (W @ X).transpose(-2, -1)


@right("project_in_rows")
def with_f_linear(X, W):
    return F.linear(X.mT, W)


@right("project_in_rows")
def with_einsum(X, W):
    return torch.einsum("bct,dc->btd", X, W)


# --- 9 softmax ----------------------------------------------------------------


@wrong(
    "softmax",
    hint="exp of a large score is infinite, and infinity over infinity is not a "
    "number. Shift the scores before taking powers: the result does not change.",
)
def overflows(scores, dim):
    p = scores.exp()
    return p / p.sum(dim=dim, keepdim=True)


@wrong(
    "softmax",
    hint="You shift by the mean. That helps only while the scores are close together: "
    "one far above the mean still overflows. Which shift makes every exponent <= 0?",
)
def shifts_by_the_mean(scores, dim):
    finite = torch.where(torch.isinf(scores), torch.zeros_like(scores), scores)
    p = (scores - finite.mean(dim=dim, keepdim=True)).exp()
    return p / p.sum(dim=dim, keepdim=True)


@wrong(
    "softmax",
    hint="You normalise along the last axis whatever `dim` says. Try dim=0 on two "
    "columns: each column must add up to 1.",
)
def ignores_dim(scores, dim):
    p = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return p / p.sum(dim=-1, keepdim=True)


@wrong(
    "softmax",
    hint="One shift for the whole tensor: a row far below the largest entry turns into "
    "0/0. Every line along `dim` needs a largest entry of its own.",
)
def shifts_by_the_overall_maximum(scores, dim):
    p = (scores - scores.max()).exp()
    return p / p.sum(dim=dim, keepdim=True)


@wrong(
    "softmax",
    hint="All the entries of the tensor together add up to 1. Each line along `dim` "
    "must: sum over that axis only, and keep it (keepdim) for the division.",
)
def sums_over_everything(scores, dim):
    p = (scores - scores.max(dim=dim, keepdim=True).values).exp()
    return p / p.sum()


@wrong(
    "softmax",
    hint="You cut off large scores so that exp stays finite, but then different large "
    "scores become equal. A shift keeps the differences, clipping loses them.",
)
def clips_large_scores(scores, dim):
    p = scores.clamp(max=80).exp()
    return p / p.sum(dim=dim, keepdim=True)


@wrong(
    "softmax",
    hint="You divided by the largest power: the top weight is 1 and the rest are "
    "relative to it. Divide by the sum, so that they are shares.",
)
def divides_by_the_top(scores, dim):
    return (scores - scores.max(dim=dim, keepdim=True).values).exp()


@wrong(
    "softmax",
    hint="This is a sigmoid: every score is judged alone. In a softmax the scores "
    "compete for a total of 1.",
)
def squashes_each_score_alone(scores, dim):
    return torch.sigmoid(scores)


@wrong(
    "softmax",
    hint="Here softmax is to be written with exp and sum: the library's own softmax "
    "does not count.",
)
def calls_the_library(scores, dim):
    return torch.softmax(scores, dim=dim)


@right("softmax")
def through_its_logarithm(scores, dim):
    log_softmax = scores - torch.logsumexp(scores, dim=dim, keepdim=True)
    return log_softmax.exp()


@right("softmax")
def by_logsumexp(scores, dim):
    return (scores - scores.logsumexp(dim=dim, keepdim=True)).exp()


@right("softmax")
def in_numpy_with_amax(scores, dim):
    s = scores.numpy()
    p = np.exp(s - s.max(axis=dim, keepdims=True))
    return p / p.sum(axis=dim, keepdims=True)


@right("softmax")
def in_float64(scores, dim):
    s = scores.double()
    p = torch.exp(s - s.amax(dim, keepdim=True))
    return (p / p.sum(dim, keepdim=True)).float()


# --- 10 attention -------------------------------------------------------------


@wrong(
    "attention",
    hint="The scores are not scaled. Divide by the square root of d before the softmax.",
)
def without_scale(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v


@wrong(
    "attention",
    hint="You divide by d. It is the square root of d: the standard deviation of a "
    "score, not its variance.",
)
def divides_by_d(q, k, v):
    s = q @ k.transpose(-2, -1) / q.shape[-1]
    return torch.softmax(s, dim=-1) @ v


@wrong(
    "attention",
    hint="Your softmax runs over the queries. Each query shares out 1 among the keys, "
    "and the keys are the last axis of the scores.",
)
def softmax_over_queries(q, k, v):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s, dim=-2) @ v


@wrong(
    "attention",
    hint="You take the root of the size of a value. The sum in a score runs over the d "
    "numbers of query and key, so d counts, not d_v.",
)
def scales_by_the_value_size(q, k, v):
    s = q @ k.transpose(-2, -1) / math.sqrt(v.shape[-1])
    return torch.softmax(s, dim=-1) @ v


@wrong(
    "attention",
    hint="You scale by the number of keys. The scores are sums over d numbers; how many "
    "keys there are does not make a score larger.",
)
def scales_by_the_number_of_keys(q, k, v):
    s = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-2])
    return torch.softmax(s, dim=-1) @ v


@wrong(
    "attention",
    hint="You scale after the softmax: the weights no longer add up to 1. The division "
    "belongs to the scores.",
)
def scales_after_the_softmax(q, k, v):
    a = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    return a / math.sqrt(q.shape[-1]) @ v


@wrong(
    "attention",
    hint="You used reshape to swap the axes of k, which mixes numbers of different "
    "keys: the reading order stays. Turning a matrix over is transposing.",
)
def reshapes_the_keys(q, k, v):
    kt = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    return torch.softmax(q @ kt / math.sqrt(q.shape[-1]), dim=-1) @ v


@wrong(
    "attention",
    hint="Your weights are one-hot: each query takes its best key alone. That is a hard "
    "choice; softmax keeps a little of everything (and can be differentiated).",
)
def takes_the_best_key_only(q, k, v):
    s = q @ k.transpose(-2, -1)
    return F.one_hot(s.argmax(dim=-1), k.shape[-2]).to(v.dtype) @ v


@wrong(
    "attention",
    hint="Your own softmax overflows when the scores are huge: infinity over infinity. Take "
    "torch.softmax, or shift the scores as in exercise 9.",
)
def overflows_on_huge_scores(q, k, v):
    p = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).exp()
    return p / p.sum(dim=-1, keepdim=True) @ v


@wrong(
    "attention",
    hint="Write the three lines yourself: torch's own attention is the judge here.",
)
def calls_the_librarys_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


@right("attention")
def with_einsums(q, k, v):
    s = torch.einsum("...qd,...kd->...qk", q, k) * q.shape[-1] ** -0.5
    return torch.einsum("...qk,...kd->...qd", s.softmax(-1), v)


@right("attention")
def scales_queries_and_keys(q, k, v):
    root = q.shape[-1] ** 0.25
    return F.softmax((q / root) @ (k / root).mT, dim=-1) @ v


@right("attention")
def columns_then_turned(q, k, v):
    s = k @ q.transpose(-2, -1) / math.sqrt(k.shape[-1])  # (keys, queries)
    return (v.transpose(-2, -1) @ torch.softmax(s, dim=-2)).transpose(-2, -1)


# --- 11 masked_attention ------------------------------------------------------


@wrong(
    "masked_attention",
    hint="You set forbidden weights to 0 after the softmax, so what is left adds up to "
    "less than 1. Forbid before the softmax, in the scores.",
)
def masks_after_the_softmax(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return (torch.softmax(s, dim=-1) * keep) @ v


@wrong(
    "masked_attention",
    hint="You set forbidden scores to 0. Zero is an ordinary score with power 1, often "
    "the best in its row. Which score has the power 0?",
)
def masks_with_zero(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s * keep, dim=-1) @ v


@wrong(
    "masked_attention",
    hint="The mask is upside down: True means that the key may be seen, and you forbid "
    "just those.",
)
def reads_the_mask_upside_down(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s.masked_fill(keep, -math.inf), dim=-1) @ v


@wrong(
    "masked_attention",
    hint="You subtract a fixed penalty from forbidden scores. With large scores it is "
    "too small, and a forbidden key is heard again: only minus infinity is final.",
)
def subtracts_a_small_penalty(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s - 20.0 * ~keep, dim=-1) @ v


@wrong(
    "masked_attention",
    hint="You add 1 for an allowed key and 0 for a forbidden one. That is a nudge, not "
    "a ban: a forbidden pair must end with weight 0.",
)
def adds_the_mask_as_numbers(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s + keep, dim=-1) @ v


@wrong(
    "masked_attention",
    hint="The mask has no effect in your answer. masked_fill returns a new tensor and "
    "leaves the old one as it was: use what it returns.",
)
def throws_the_masked_scores_away(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    s.masked_fill(~keep, -math.inf)
    return torch.softmax(s, dim=-1) @ v


@wrong(
    "masked_attention",
    hint="You give forbidden pairs a fixed low score. Where the allowed scores lie lower "
    "still, the forbidden key wins. Which score is below every other?",
)
def fills_in_minus_a_hundred(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s.masked_fill(~keep, -100.0), dim=-1) @ v


@wrong(
    "masked_attention",
    hint="You let forbidden keys into the softmax and shared out anew. If one of them is far "
    "ahead, the allowed weights are already 0 and you divide 0 by 0.",
)
def masks_and_shares_out_again(q, k, v, keep):
    a = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) * keep
    return a / a.sum(dim=-1, keepdim=True) @ v


@wrong(
    "masked_attention",
    hint="The mask is right, the scale is missing: divide the scores by the square root of d.",
)
def masks_without_scale(q, k, v, keep):
    s = (q @ k.transpose(-2, -1)).masked_fill(~keep, -math.inf)
    return torch.softmax(s, dim=-1) @ v


@wrong(
    "masked_attention",
    hint="Write the mask and the softmax yourself: torch's own attention is the judge.",
)
def calls_the_librarys_masked_attention(q, k, v, keep):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=keep)


@right("masked_attention")
def with_minus_a_billion(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s.masked_fill(~keep, -1e9), dim=-1) @ v


@right("masked_attention")
def adds_the_logarithm_of_the_mask(q, k, v, keep):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s + keep.float().log(), dim=-1) @ v


@right("masked_attention")
def with_where(q, k, v, keep):
    s = torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.shape[-1])
    s = torch.where(keep, s, torch.tensor(-math.inf))
    p = (s - s.amax(-1, keepdim=True)).exp()
    return (p @ v) / p.sum(-1, keepdim=True)


# --- 12 causal_padding_mask ---------------------------------------------------


@wrong(
    "causal_padding_mask",
    hint="A token may see itself: j <= i, not j < i. (With your rule the first token "
    "sees nobody, and its softmax has nothing to share out.)",
)
def hides_a_token_from_itself(lengths, T):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    return (j < i) & (j < lengths[:, None, None])


@wrong(
    "causal_padding_mask",
    hint="Your triangle is the upper one: tokens see the future and not the past. Axis "
    "1 is the query i, axis 2 the key j.",
)
def sees_the_future(lengths, T):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    return (j >= i) & (j < lengths[:, None, None])


@wrong(
    "causal_padding_mask",
    hint="You cut off padded queries instead of padded keys. The length limits j, what "
    "is seen; a row of a query with nothing allowed would break the softmax.",
)
def pads_the_queries(lengths, T):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    return (j <= i) & (i < lengths[:, None, None])


@wrong(
    "causal_padding_mask",
    hint="One padding token too many gets through. A text of length n has the tokens 0 "
    "to n - 1.",
)
def lets_one_padding_token_in(lengths, T):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    return (j <= i) & (j <= lengths[:, None, None])


@wrong(
    "causal_padding_mask",
    hint="Only the triangle is there: padding at the end of the short texts is still "
    "seen by later tokens. Combine both conditions.",
)
def forgets_the_padding(lengths, T):
    triangle = torch.ones(T, T, dtype=torch.bool).tril()
    return triangle.expand(len(lengths), T, T)


@wrong(
    "causal_padding_mask",
    hint="Padding is hidden, the future is not. A token may see only what does not "
    "come after it.",
)
def forgets_the_triangle(lengths, T):
    j = torch.arange(T)[None, None, :]
    return (j < lengths[:, None, None]).expand(len(lengths), T, T)


@wrong(
    "causal_padding_mask",
    hint="The mask is upside down: True means *may be seen* here (nn.MultiheadAttention "
    "is the one that reads True as *leave out*).",
)
def marks_what_to_leave_out(lengths, T):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    return ~((j <= i) & (j < lengths[:, None, None]))


@right("causal_padding_mask")
def text_by_text(lengths, T):
    keep = torch.zeros(len(lengths), T, T, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        for i in range(T):
            keep[b, i, : min(i + 1, n)] = True
    return keep


@right("causal_padding_mask")
def triangle_times_padding(lengths, T):
    triangle = torch.tril(torch.ones(T, T)).bool()
    real = torch.arange(T) < lengths.unsqueeze(1)
    return triangle.unsqueeze(0) & real.unsqueeze(1)


# --- 13 window_mask -----------------------------------------------------------


@wrong(
    "window_mask",
    hint="Your window is one too wide: it shows w tokens *and* the query itself. With w "
    "= 1 a token sees only itself.",
)
def window_one_too_wide(T_q, T_k, w):
    p = torch.arange(T_q)[:, None] + T_k - T_q
    j = torch.arange(T_k)[None, :]
    return (j <= p) & (j >= p - w)


@wrong(
    "window_mask",
    hint="You aligned the mask at the top left, as if the queries were the first "
    "tokens. They are the last: query row i stands at position i + T_k - T_q.",
)
def aligns_at_the_top_left(T_q, T_k, w):
    i, j = torch.arange(T_q)[:, None], torch.arange(T_k)[None, :]
    return (j <= i) & (j > i - w)


@wrong(
    "window_mask",
    hint="Your window reaches into the future as well. It looks back only: j must not "
    "be larger than the query's position.",
)
def looks_both_ways(T_q, T_k, w):
    p = torch.arange(T_q)[:, None] + T_k - T_q
    j = torch.arange(T_k)[None, :]
    return (j - p).abs() < w


@wrong(
    "window_mask",
    hint="That is the whole past: nothing slides. Keys that lie w or more positions "
    "back must be hidden too.",
)
def never_forgets(T_q, T_k, w):
    p = torch.arange(T_q)[:, None] + T_k - T_q
    return torch.arange(T_k)[None, :] <= p


@wrong(
    "window_mask",
    hint="Your window ends before the query itself. Its width counts the token's own "
    "position.",
)
def leaves_itself_out(T_q, T_k, w):
    p = torch.arange(T_q)[:, None] + T_k - T_q
    j = torch.arange(T_k)[None, :]
    return (j < p) & (j >= p - w)


@wrong(
    "window_mask",
    hint="Queries and keys have changed places: rows are queries (T_q of them), columns "
    "are keys (T_k).",
)
def keys_in_rows(T_q, T_k, w):
    p = torch.arange(T_q)[:, None] + T_k - T_q
    j = torch.arange(T_k)[None, :]
    return ((j <= p) & (j > p - w)).T


@wrong(
    "window_mask",
    hint="Every query sees the same last w keys. The window slides: each query has its "
    "own, ending at its own position.",
)
def window_stands_still(T_q, T_k, w):
    j = torch.arange(T_k)[None, :]
    return (j >= T_k - w).expand(T_q, T_k)


@right("window_mask")
def with_tril_twice(T_q, T_k, w):
    ones = torch.ones(T_q, T_k, dtype=torch.bool)
    return ones.tril(T_k - T_q) & ~ones.tril(T_k - T_q - w)


@right("window_mask")
def row_by_row(T_q, T_k, w):
    keep = torch.zeros(T_q, T_k, dtype=torch.bool)
    for i in range(T_q):
        end = T_k - T_q + i + 1
        keep[i, max(0, end - w) : end] = True
    return keep


@right("window_mask")
def last_rows_of_the_square(T_q, T_k, w):
    distance = torch.arange(T_k)[:, None] - torch.arange(T_k)[None, :]
    return ((distance >= 0) & (distance < w))[T_k - T_q :]


# --- 14 split_heads -----------------------------------------------------------


@wrong(
    "split_heads",
    hint="The shape is right, the numbers are not: head 0 got whole tokens. Cut the "
    "channels first, (B, T, H, D), and only then move the head axis with transpose.",
)
def views_in_one_step(x, H):
    B, T, C = x.shape
    return x.reshape(B, H, T, C // H)


@wrong(
    "split_heads",
    hint="You dealt the channels out like cards, every H-th to the same head. Head h "
    "gets one contiguous piece, channels h*D to h*D + D - 1.",
)
def deals_channels_like_cards(x, H):
    B, T, C = x.shape
    return x.reshape(B, T, C // H, H).permute(0, 3, 1, 2)


@wrong(
    "split_heads",
    hint="You cut the channels rightly but left the head axis behind the tokens. `@` "
    "works on the last two axes, and these must be tokens and channels.",
)
def leaves_heads_behind_tokens(x, H):
    B, T, C = x.shape
    return x.reshape(B, T, H, C // H)


@wrong(
    "split_heads",
    hint="You made C/H heads of H channels each. H is the number of heads, C // H the "
    "size of one.",
)
def mixes_up_number_and_size(x, H):
    B, T, C = x.shape
    return x.reshape(B, T, C // H, H).transpose(1, 2)


@wrong(
    "split_heads",
    hint="You divided the tokens among the heads. Every head sees every token, but only "
    "its own channels of it.",
)
def gives_heads_every_nth_token(x, H):
    B, T, C = x.shape
    return x.reshape(B, T, H, C // H).permute(0, 2, 3, 1).reshape(B, H, T, C // H)


@wrong(
    "split_heads",
    hint="Head axis and batch axis have changed places: the batch stays in front, "
    "(B, H, T, D).",
)
def puts_heads_before_the_batch(x, H):
    B, T, C = x.shape
    return x.reshape(B, T, H, C // H).permute(2, 0, 1, 3)


@right("split_heads")
def stacks_chunks(x, H):
    return torch.stack(x.chunk(H, dim=-1), dim=1)


@right("split_heads")
def unflattens(x, H):
    return x.unflatten(-1, (H, x.shape[-1] // H)).permute(0, 2, 1, 3)


# --- 15 merge_heads -----------------------------------------------------------


@wrong(
    "merge_heads",
    hint="You flattened while the head axis was still in front of the tokens, so a row "
    "holds several tokens of one head. Move the head axis back first.",
)
def flattens_too_early(x):
    B, H, T, D = x.shape
    return x.reshape(B, T, H * D)


@wrong(
    "merge_heads",
    hint="The heads are shuffled into one another like cards. They should lie side by "
    "side: all of head 0, then all of head 1.",
)
def shuffles_the_heads(x):
    B, H, T, D = x.shape
    return x.permute(0, 2, 3, 1).reshape(B, T, H * D)


@wrong(
    "merge_heads",
    hint="You added the heads up, so their numbers can no longer be told apart. Lay "
    "them side by side; the mixing is the job of W_O.",
)
def adds_the_heads(x):
    return x.sum(dim=1)


@wrong(
    "merge_heads",
    hint="You laid the heads behind one another along the tokens. The text stays T "
    "tokens long; the channels become H * D.",
)
def appends_along_tokens(x):
    B, H, T, D = x.shape
    return x.reshape(B, H * T, D)


@wrong(
    "merge_heads",
    hint="The heads come in reverse order. Head 0 must come first.",
)
def reverses_the_heads(x):
    B, H, T, D = x.shape
    return x.flip(1).transpose(1, 2).reshape(B, T, H * D)


@wrong(
    "merge_heads",
    hint="The head axis is back in its place, but the last two axes, H and D, are still "
    "apart. Flatten them into one.",
)
def forgets_to_flatten(x):
    return x.transpose(1, 2)


@right("merge_heads")
def concatenates_heads(x):
    return torch.cat(list(x.unbind(dim=1)), dim=-1)


@right("merge_heads")
def contiguous_then_view(x):
    B, H, T, D = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(B, T, -1)


# --- 16 multi_head_attention --------------------------------------------------


@wrong(
    "multi_head_attention",
    hint="W_O is missing: the heads lie side by side but nothing combines them. What "
    "happens after the merge?",
)
def leaves_out_the_output_matrix(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return z.transpose(1, 2).reshape(B, T, C)


@wrong(
    "multi_head_attention",
    hint="Tokens see the future: changing the last token changes the first output. The "
    "causal mask is missing.",
)
def forgets_to_be_causal(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v)
    return z.transpose(1, 2).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="You divide by the square root of C. Each head's dot product runs over D = C/H "
    "numbers only, so the root of D is its scale.",
)
def scales_by_the_whole_width(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=C**-0.5)
    return z.transpose(1, 2).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="The split went wrong: (B, H, T, D) in one reshape gives each head other "
    "tokens' numbers. First (B, T, H, D), then transpose.",
)
def splits_without_transposing(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [(x @ W.T).reshape(B, H, T, C // H) for W in (W_Q, W_K, W_V)]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return z.transpose(1, 2).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="The merge went wrong: reshape to (B, T, C) while the head axis still stands "
    "before the tokens. Transpose back first.",
)
def merges_without_transposing(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return z.reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="Your heads are shuffled together when they are merged. Head 0 fills the first "
    "D channels, head 1 the next D: W_O relies on that order.",
)
def merges_heads_like_cards(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return z.permute(0, 2, 3, 1).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="The weights are used untransposed. They are stored like those of nn.Linear, "
    "so a row vector x becomes x @ W.T.",
)
def multiplies_weights_untransposed(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return z.transpose(1, 2).reshape(B, T, C) @ W_O


@wrong(
    "multi_head_attention",
    hint="There is only one head, as wide as everything. Split queries, keys and values "
    "into H heads before the scores.",
)
def uses_one_wide_head(x, W_Q, W_K, W_V, W_O, H):
    q, k, v = x @ W_Q.T, x @ W_K.T, x @ W_V.T
    return F.scaled_dot_product_attention(q, k, v, is_causal=True) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="You added the residual. In this exercise the function returns what attention "
    "adds; the adding happens outside.",
)
def adds_the_residual_too(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return x + z.transpose(1, 2).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="Your mask is upside down: each token sees itself and the future instead of "
    "itself and the past.",
)
def looks_at_the_future_only(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    keep = torch.ones(T, T, dtype=torch.bool).triu()
    z = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
    return z.transpose(1, 2).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="Build it from its parts: torch's own multi-head attention is the judge here.",
)
def calls_the_librarys_heads(x, W_Q, W_K, W_V, W_O, H):
    mha = torch.nn.MultiheadAttention(x.shape[-1], H, bias=False, batch_first=True)
    state = {
        "in_proj_weight": torch.cat([W_Q, W_K, W_V]),
        "out_proj.weight": W_O,
    }
    mha.load_state_dict(state)
    hide = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    return mha(x, x, x, attn_mask=hide)[0].detach()


@wrong(
    "multi_head_attention",
    hint="Queries and keys have changed places. What asks goes through W_Q, what is compared "
    "through W_K; the mask makes the difference visible.",
)
def swaps_queries_and_keys(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_K, W_Q, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return z.transpose(1, 2).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="The scores of the heads are not scaled: divide them by the square root of D, the "
    "width of one head.",
)
def leaves_the_heads_unscaled(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
    return z.transpose(1, 2).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="You divide by the square root of H, the number of heads. A dot product runs over "
    "the D = C/H numbers of one head: that is the number under the root.",
)
def scales_by_the_number_of_heads(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=H**-0.5)
    return z.transpose(1, 2).reshape(B, T, C) @ W_O.T


@wrong(
    "multi_head_attention",
    hint="You removed the future after the softmax, so the weights that are left add up to "
    "less than 1. Forbid it in the scores, before the softmax.",
)
def hides_the_future_after_the_softmax(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        (x @ W.T).reshape(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    a = torch.softmax(q @ k.mT / math.sqrt(C // H), dim=-1).tril()
    return (a @ v).transpose(1, 2).reshape(B, T, C) @ W_O.T


@right("multi_head_attention")
def with_the_librarys_attention(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        F.linear(x, W).view(B, T, H, C // H).transpose(1, 2) for W in (W_Q, W_K, W_V)
    ]
    z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F.linear(z.transpose(1, 2).reshape(B, T, C), W_O)


@right("multi_head_attention")
def head_by_head(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    D = C // H
    hide = torch.ones(T, T, dtype=torch.bool).triu(1)
    out = torch.zeros_like(x)
    for h in range(H):
        rows = slice(h * D, (h + 1) * D)
        q, k, v = x @ W_Q[rows].T, x @ W_K[rows].T, x @ W_V[rows].T
        s = (q @ k.mT / math.sqrt(D)).masked_fill(hide, -math.inf)
        out = out + torch.softmax(s, dim=-1) @ v @ W_O[:, rows].T
    return out


@right("multi_head_attention")
def with_einsum_throughout(x, W_Q, W_K, W_V, W_O, H):
    B, T, C = x.shape
    q, k, v = [
        torch.einsum("btc,hdc->bhtd", x, W.reshape(H, C // H, C))
        for W in (W_Q, W_K, W_V)
    ]
    s = torch.einsum("bhqd,bhkd->bhqk", q, k) / (C // H) ** 0.5
    s = s + torch.full((T, T), -1e9).triu(1)
    z = torch.einsum("bhqk,bhkd->bqhd", s.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", z, W_O.reshape(C, H, C // H))


# --- 17 score_stats -----------------------------------------------------------


@wrong(
    "score_stats",
    hint="Your first number is the standard deviation. The variance is its square, and "
    "that is what grows like d.",
)
def gives_the_standard_deviation(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    top = [torch.softmax(s / c, 1).amax(1).mean() for c in (1, math.sqrt(q.shape[1]))]
    return torch.stack([s.std(unbiased=False), *top])


@wrong(
    "score_stats",
    hint="You divided the scores by d for the third number. It is the square root of d.",
)
def scales_the_scores_by_d(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    top = [torch.softmax(s / c, 1).amax(1).mean() for c in (1, q.shape[1])]
    return torch.stack([s.var(unbiased=False), *top])


@wrong(
    "score_stats",
    hint="Your first number is the variance of the scaled scores. Take the raw ones: "
    "the point is to see how they grow.",
)
def variance_after_scaling(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    root = math.sqrt(q.shape[1])
    top = [torch.softmax(s / c, 1).amax(1).mean() for c in (1, root)]
    return torch.stack([(s / root).var(unbiased=False), *top])


@wrong(
    "score_stats",
    hint="Your softmax runs over the queries. Each query has its own T keys; they "
    "compete with one another, along the second axis of the scores.",
)
def competes_across_queries(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    top = [torch.softmax(s / c, 0).amax(1).mean() for c in (1, math.sqrt(q.shape[1]))]
    return torch.stack([s.var(unbiased=False), *top])


@wrong(
    "score_stats",
    hint="You took the largest weight of all queries together. Take each query's own "
    "favourite, then the mean of those.",
)
def takes_one_overall_maximum(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    top = [torch.softmax(s / c, 1).max() for c in (1, math.sqrt(q.shape[1]))]
    return torch.stack([s.var(unbiased=False), *top])


@wrong(
    "score_stats",
    hint="You averaged all the weights, which is 1/T whatever the scores are. Take the "
    "largest weight of each query before averaging.",
)
def averages_every_weight(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    top = [torch.softmax(s / c, 1).mean() for c in (1, math.sqrt(q.shape[1]))]
    return torch.stack([s.var(unbiased=False), *top])


@wrong(
    "score_stats",
    hint="Your variance divides by one less than the number of scores, torch's default. "
    "Here it is the plain mean of the squares: divide by all N * T.",
)
def divides_by_one_less(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    top = [torch.softmax(s / c, 1).amax(1).mean() for c in (1, math.sqrt(q.shape[1]))]
    return torch.stack([s.var(), *top])


@wrong(
    "score_stats",
    hint="The last two numbers have changed places: raw scores first, then the scaled "
    "ones. (The raw ones are the more one-sided.)",
)
def swaps_raw_and_scaled(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    top = [torch.softmax(s / c, 1).amax(1).mean() for c in (math.sqrt(q.shape[1]), 1)]
    return torch.stack([s.var(unbiased=False), *top])


@wrong(
    "score_stats",
    hint="Your first number is the mean of the squared scores. A variance is measured from "
    "the mean of the scores, which is not exactly 0.",
)
def forgets_the_mean_of_the_scores(q, k):
    s = torch.einsum("nd,ntd->nt", q, k)
    top = [torch.softmax(s / c, 1).amax(1).mean() for c in (1, math.sqrt(q.shape[1]))]
    return torch.stack([(s**2).mean(), *top])


@right("score_stats")
def as_a_list_of_numbers(q, k):
    s = (k * q[:, None, :]).sum(dim=2).numpy()

    def top(z):
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return float((p.max(axis=1) / p.sum(axis=1)).mean())

    return [float(s.var()), top(s), top(s / np.sqrt(q.shape[1]))]


@right("score_stats")
def query_by_query(q, k):
    scores = torch.stack([keys_ @ query_ for query_, keys_ in zip(q, k)])
    centred = scores - scores.mean()
    raw = sum(torch.softmax(s, 0).max() for s in scores) / len(q)
    scaled = sum(torch.softmax(s * q.shape[1] ** -0.5, 0).max() for s in scores)
    return torch.stack([(centred**2).mean(), raw, scaled / len(q)])


# --- 19 softmax_jacobian ------------------------------------------------------


@wrong(
    "softmax_jacobian",
    hint="Only the diagonal is filled: you treat every score as if it moved its own "
    "weight alone. Raising one score lowers all the other weights.",
)
def fills_the_diagonal_only(z):
    p = torch.softmax(z, dim=0)
    return torch.diag(p * (1 - p))


@wrong(
    "softmax_jacobian",
    hint="The sign is turned: raising a score must raise its own weight (the diagonal "
    "is positive) and lower the others.",
)
def turns_the_sign(z):
    p = torch.softmax(z, dim=0)
    return torch.outer(p, p) - torch.diag(p)


@wrong(
    "softmax_jacobian",
    hint="You add p p^T. It must be subtracted: the weights compete, so each row of the "
    "Jacobian adds up to 0.",
)
def adds_the_outer_product(z):
    p = torch.softmax(z, dim=0)
    return torch.diag(p) + torch.outer(p, p)


@wrong(
    "softmax_jacobian",
    hint="You put the scores into the formula. The p in it are the weights, after the "
    "softmax.",
)
def puts_scores_for_weights(z):
    return torch.diag(z) - torch.outer(z, z)


@wrong(
    "softmax_jacobian",
    hint="You used p_i (1 - p_j) everywhere. The 1 is there only on the diagonal; "
    "elsewhere the slope is -p_i p_j.",
)
def has_a_one_everywhere(z):
    p = torch.softmax(z, dim=0)
    return p[:, None] * (1 - p[None, :])


@wrong(
    "softmax_jacobian",
    hint="These are the slopes of the logarithm of softmax. For the weights themselves "
    "each row is multiplied by p_i.",
)
def differentiates_the_logarithm(z):
    p = torch.softmax(z, dim=0)
    return torch.eye(len(z)) - p[None, :].expand(len(z), len(z))


@wrong(
    "softmax_jacobian",
    hint="Write the formula: automatic differentiation is the judge, not the answer.",
)
def lets_autograd_do_it(z):
    return torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), z)


@right("softmax_jacobian")
def under_its_own_name(z):
    p = torch.softmax(z, dim=0)
    jacobian = torch.diag(p) - torch.outer(p, p)
    return jacobian


@right("softmax_jacobian")
def entry_by_entry(z):
    p = torch.softmax(z, dim=0).tolist()
    n = len(p)
    return [[p[i] * ((i == j) - p[j]) for j in range(n)] for i in range(n)]


@right("softmax_jacobian")
def row_scaled(z):
    p = torch.softmax(z, dim=0)
    return p[:, None] * (torch.eye(len(z)) - p[None, :])


# --- 20 cosine_scores ---------------------------------------------------------


@wrong(
    "cosine_scores",
    hint="That is the plain dot product. It is the cosine only for vectors of length 1: "
    "divide by both lengths.",
)
def takes_the_dot_product(q, k):
    return q @ k.T


@wrong(
    "cosine_scores",
    hint="Long queries still shout: you divided by the lengths of the keys only. Divide "
    "by the query's length too.",
)
def normalises_keys_only(q, k):
    return q @ (k / k.norm(dim=1, keepdim=True)).T


@wrong(
    "cosine_scores",
    hint="Long keys still shout: you divided by the lengths of the queries only. Divide "
    "by the key's length too.",
)
def normalises_queries_only(q, k):
    return (q / q.norm(dim=1, keepdim=True)) @ k.T


@wrong(
    "cosine_scores",
    hint="You divided by the squares of the lengths. A length is the square root of the "
    "sum of squares.",
)
def divides_by_squared_lengths(q, k):
    q = q / (q * q).sum(dim=1, keepdim=True)
    k = k / (k * k).sum(dim=1, keepdim=True)
    return q @ k.T


@wrong(
    "cosine_scores",
    hint="You normalised along the wrong axis: each feature over all tokens. The length "
    "belongs to one vector, one row.",
)
def normalises_features(q, k):
    return (q / q.norm(dim=0)) @ (k / k.norm(dim=0)).T


@wrong(
    "cosine_scores",
    hint="You scaled by the square root of d, as attention does. A cosine divides by the "
    "two lengths instead, whatever d is.",
)
def scales_like_attention(q, k):
    return q @ k.T / math.sqrt(q.shape[1])


@wrong(
    "cosine_scores",
    hint="You divided by the sum of absolute values. Length here is the usual one, the "
    "root of the sum of squares.",
)
def measures_city_blocks(q, k):
    q = q / q.abs().sum(dim=1, keepdim=True)
    return q @ (k / k.abs().sum(dim=1, keepdim=True)).T


@wrong(
    "cosine_scores",
    hint="Write it with a dot product and two lengths: the library's cosine is the judge.",
)
def calls_the_librarys_cosine(q, k):
    return F.cosine_similarity(q[:, None], k[None], dim=-1)


@right("cosine_scores")
def divides_afterwards(q, k):
    lengths = q.norm(dim=1)[:, None] * k.norm(dim=1)[None, :]
    cosine_similarity = (q @ k.T) / lengths
    return cosine_similarity


@right("cosine_scores")
def with_f_normalize(q, k):
    return F.normalize(q, dim=1) @ F.normalize(k, dim=1).T


@right("cosine_scores")
def cosine_in_numpy(q, k):
    q, k = q.numpy(), k.numpy()
    q = q / np.sqrt((q**2).sum(axis=1, keepdims=True))
    return q @ (k / np.linalg.norm(k, axis=1, keepdims=True)).T


# --- 21 cross_attention -------------------------------------------------------


@wrong(
    "cross_attention",
    hint="The roles are reversed: the context asks and x answers. The queries come from "
    "x; the result has one row per token of x.",
)
def lets_the_context_ask(x, context, W_Q, W_K, W_V):
    q, k, v = context @ W_Q.T, x @ W_K.T, x @ W_V.T
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s, dim=-1) @ v


@wrong(
    "cross_attention",
    hint="That is self-attention: keys and values were taken from x. They come from the "
    "context.",
)
def asks_itself(x, context, W_Q, W_K, W_V):
    q, k, v = x @ W_Q.T, x @ W_K.T, x @ W_V.T
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s, dim=-1) @ v


@wrong(
    "cross_attention",
    hint="Keys from the context, but values from x: the answers would come from another "
    "text than the one that was asked. Both come from the context.",
)
def takes_values_from_x(x, context, W_Q, W_K, W_V):
    q, k, v = x @ W_Q.T, context @ W_K.T, x @ W_V.T
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s, dim=-1) @ v


@wrong(
    "cross_attention",
    hint="There is a causal mask in your answer. The other text is there as a whole; "
    "nothing in it lies in the future.",
)
def masks_the_other_text(x, context, W_Q, W_K, W_V):
    q, k, v = x @ W_Q.T, context @ W_K.T, context @ W_V.T
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@wrong(
    "cross_attention",
    hint="Your weights add up to 1 over the asking tokens. Each token of x spends 1 on "
    "the tokens of the context, the last axis of the scores.",
)
def normalises_over_the_askers(x, context, W_Q, W_K, W_V):
    q, k, v = x @ W_Q.T, context @ W_K.T, context @ W_V.T
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s, dim=-2) @ v


@wrong(
    "cross_attention",
    hint="The scale is missing: divide the scores by the square root of d.",
)
def crosses_without_scale(x, context, W_Q, W_K, W_V):
    q, k, v = x @ W_Q.T, context @ W_K.T, context @ W_V.T
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v


@wrong(
    "cross_attention",
    hint="You divide by the square root of the width of x. The dot product runs over the d "
    "numbers of query and key: that is the number under the root.",
)
def scales_by_the_width_of_x(x, context, W_Q, W_K, W_V):
    q, k, v = x @ W_Q.T, context @ W_K.T, context @ W_V.T
    s = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])
    return torch.softmax(s, dim=-1) @ v


@right("cross_attention")
def with_torchs_attention(x, context, W_Q, W_K, W_V):
    return F.scaled_dot_product_attention(
        F.linear(x, W_Q), F.linear(context, W_K), F.linear(context, W_V)
    )


@right("cross_attention")
def values_projected_last(x, context, W_Q, W_K, W_V):
    s = torch.einsum("btd,bsd->bts", x @ W_Q.T, context @ W_K.T)
    a = (s / W_Q.shape[0] ** 0.5).softmax(dim=2)
    return (a @ context) @ W_V.T


# --- 22 online_attention ------------------------------------------------------


@wrong(
    "online_attention",
    hint="When a larger score appears you go on without shrinking the past: old terms "
    "were measured against the old m. Shrink both total and out.",
)
def never_shrinks_the_past(q, k, v, block):
    m = torch.full((q.shape[0], 1), -math.inf)
    total = torch.zeros(q.shape[0], 1)
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(0, k.shape[0], block):
        s = q @ k[i : i + block].T / math.sqrt(q.shape[1])
        m = torch.maximum(m, s.max(dim=1, keepdim=True).values)
        p = (s - m).exp()
        total = total + p.sum(dim=1, keepdim=True)
        out = out + p @ v[i : i + block]
    return out / total


@wrong(
    "online_attention",
    hint="You shrink `out` but not `total` (it keeps the old yardstick). Both are sums of "
    "the same powers, so both must be measured against the new m.",
)
def shrinks_only_the_output(q, k, v, block):
    m = torch.full((q.shape[0], 1), -math.inf)
    total = torch.zeros(q.shape[0], 1)
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(0, k.shape[0], block):
        s = q @ k[i : i + block].T / math.sqrt(q.shape[1])
        new = torch.maximum(m, s.max(dim=1, keepdim=True).values)
        p = (s - new).exp()
        total = total + p.sum(dim=1, keepdim=True)
        out = out * (m - new).exp() + p @ v[i : i + block]
        m = new
    return out / total


@wrong(
    "online_attention",
    hint="You averaged finished softmaxes of the blocks, as if every block weighed the "
    "same. A block with larger scores must count more: divide once, at the end.",
)
def averages_the_blocks(q, k, v, block):
    parts = []
    for i in range(0, k.shape[0], block):
        s = q @ k[i : i + block].T / math.sqrt(q.shape[1])
        parts.append(torch.softmax(s, dim=1) @ v[i : i + block])
    return torch.stack(parts).mean(dim=0)


@wrong(
    "online_attention",
    hint="Without the running maximum the powers overflow as soon as scores are large. "
    "Keep m, and take exp of s - m only.",
)
def keeps_no_maximum(q, k, v, block):
    total = torch.zeros(q.shape[0], 1)
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(0, k.shape[0], block):
        p = (q @ k[i : i + block].T / math.sqrt(q.shape[1])).exp()
        total = total + p.sum(dim=1, keepdim=True)
        out = out + p @ v[i : i + block]
    return out / total


@wrong(
    "online_attention",
    hint="The last, shorter block is lost. The number of keys need not be a multiple of "
    "the block size: walk until all keys are used.",
)
def loses_the_last_block(q, k, v, block):
    n = max(k.shape[0] // block * block, min(block, k.shape[0]))
    out, total, m = 0.0, 0.0, torch.full((q.shape[0], 1), -math.inf)
    for i in range(0, n, block):
        s = q @ k[i : i + block].T / math.sqrt(q.shape[1])
        new = torch.maximum(m, s.max(dim=1, keepdim=True).values)
        p, shrink = (s - new).exp(), (m - new).exp()
        total = total * shrink + p.sum(dim=1, keepdim=True)
        out = out * shrink + p @ v[i : i + block]
        m = new
    return out / total


@wrong(
    "online_attention",
    hint="Your new m is the maximum of the last block alone. When that is smaller than the "
    "old m, the past is blown up instead of kept: m may only grow.",
)
def forgets_the_old_maximum(q, k, v, block):
    m = torch.full((q.shape[0], 1), -math.inf)
    total = torch.zeros(q.shape[0], 1)
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(0, k.shape[0], block):
        s = q @ k[i : i + block].T / math.sqrt(q.shape[1])
        new = s.max(dim=1, keepdim=True).values
        p, shrink = (s - new).exp(), (m - new).exp()
        total = total * shrink + p.sum(dim=1, keepdim=True)
        out = out * shrink + p @ v[i : i + block]
        m = new
    return out / total


@wrong(
    "online_attention",
    hint="You shrink `total` but not `out`. Both are sums of the same powers, so both must "
    "be measured against the new m.",
)
def shrinks_only_the_total(q, k, v, block):
    m = torch.full((q.shape[0], 1), -math.inf)
    total = torch.zeros(q.shape[0], 1)
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(0, k.shape[0], block):
        s = q @ k[i : i + block].T / math.sqrt(q.shape[1])
        new = torch.maximum(m, s.max(dim=1, keepdim=True).values)
        p = (s - new).exp()
        total = total * (m - new).exp() + p.sum(dim=1, keepdim=True)
        out = out + p @ v[i : i + block]
        m = new
    return out / total


@wrong(
    "online_attention",
    hint="The values are right, but a tensor is too large: all scores at the same time, or "
    "a copy of all the keys. Compute the scores of one block, use them, let them go.",
)
def makes_all_scores_at_once(q, k, v, block):
    return torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=1) @ v


@wrong(
    "online_attention",
    hint="Your maximum starts at 0. If all scores are far below 0, every power is 0 and "
    "you divide 0 by 0; start where any score is larger.",
)
def starts_the_maximum_at_zero(q, k, v, block):
    m = torch.zeros(q.shape[0], 1)
    total = torch.zeros(q.shape[0], 1)
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(0, k.shape[0], block):
        s = q @ k[i : i + block].T / math.sqrt(q.shape[1])
        new = torch.maximum(m, s.max(dim=1, keepdim=True).values)
        p, shrink = (s - new).exp(), (m - new).exp()
        total = total * shrink + p.sum(dim=1, keepdim=True)
        out = out * shrink + p @ v[i : i + block]
        m = new
    return out / total


@wrong(
    "online_attention",
    hint="You shrink by the wrong factor: it is the power of (old m - new m), at most 1. "
    "Yours lets the past grow when a larger score appears.",
)
def grows_the_past(q, k, v, block):
    m = torch.full((q.shape[0], 1), -1e4)
    total = torch.zeros(q.shape[0], 1)
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(0, k.shape[0], block):
        s = q @ k[i : i + block].T / math.sqrt(q.shape[1])
        new = torch.maximum(m, s.max(dim=1, keepdim=True).values)
        p, grow = (s - new).exp(), (new - m).clamp(max=80).exp()
        total = total * grow + p.sum(dim=1, keepdim=True)
        out = out * grow + p @ v[i : i + block]
        m = new
    return out / total


@wrong(
    "online_attention",
    hint="The scores are not scaled: divide by the square root of d, as always.",
)
def walks_without_scale(q, k, v, block):
    m = torch.full((q.shape[0], 1), -math.inf)
    total = torch.zeros(q.shape[0], 1)
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(0, k.shape[0], block):
        s = q @ k[i : i + block].T
        new = torch.maximum(m, s.max(dim=1, keepdim=True).values)
        p, shrink = (s - new).exp(), (m - new).exp()
        total = total * shrink + p.sum(dim=1, keepdim=True)
        out = out * shrink + p @ v[i : i + block]
        m = new
    return out / total


@wrong(
    "online_attention",
    hint="Here the walk is the exercise: write it in torch with m, total and out. torch's own "
    "attention walks for you, and what numpy makes the check cannot measure.",
)
def calls_the_librarys_walk(q, k, v, block):
    return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]


@right("online_attention")
def joins_blocks_by_logsumexp(q, k, v, block):
    out, log_total = torch.zeros(q.shape[0], v.shape[1]), None
    for kb, vb in zip(k.split(block), v.split(block)):
        s = q @ kb.T / math.sqrt(q.shape[1])
        part, log_part = s.softmax(dim=1) @ vb, s.logsumexp(dim=1, keepdim=True)
        if log_total is None:
            out, log_total = part, log_part
            continue
        both = torch.logaddexp(log_total, log_part)
        out = out * (log_total - both).exp() + part * (log_part - both).exp()
        log_total = both
    return out


@right("online_attention")
def in_two_walks(q, k, v, block):
    scaled = q / math.sqrt(q.shape[1])
    starts = range(0, len(k), block)
    m, total, out = torch.full((len(q), 1), -math.inf), 0, 0
    for i in starts:
        m = torch.maximum(m, (scaled @ k[i : i + block].T).amax(dim=1, keepdim=True))
    for i in starts:
        p = (scaled @ k[i : i + block].T - m).exp()
        total, out = total + p.sum(dim=1, keepdim=True), out + p @ v[i : i + block]
    return out / total


@right("online_attention")
def query_by_query_and_block_by_block(q, k, v, block):
    rows = []
    for one in q:
        m, total, out = -math.inf, 0.0, torch.zeros(v.shape[1])
        for i in range(0, len(k), block):
            s = k[i : i + block] @ one / math.sqrt(len(one))
            new = max(m, float(s.max()))
            shrink, p = math.exp(m - new), (s - new).exp()
            total, out = (
                shrink * total + float(p.sum()),
                shrink * out + p @ v[i : i + block],
            )
            m = new
        rows.append(out / total)
    return torch.stack(rows)


# --- 23 gpt3_counts -----------------------------------------------------------


@wrong(
    "gpt3_counts",
    hint="You took the root of the whole width, 12,288. Each head computes its own "
    "scores from 128 numbers, so 128 stands under the root.",
)
def takes_the_root_of_the_whole_width():
    d = 12288
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": math.sqrt(d),
        "gpt3_w_q": d * d,
        "gpt3_layer": 12 * d * d + 13 * d,
        "gpt3_total": 96 * (12 * d * d + 13 * d) + (50257 + 2048) * d + 2 * d,
        "gpt3_score_bytes": 96 * 2048**2 * 2,
    }


@wrong(
    "gpt3_counts",
    hint="12 d^2 is the famous rule of thumb for a layer. Exactly asked, there are also "
    "biases and the two LayerNorms, and outside the layers the embeddings.",
)
def uses_the_rule_of_thumb():
    d = 12288
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": math.sqrt(128),
        "gpt3_w_q": d * d,
        "gpt3_layer": 12 * d * d,
        "gpt3_total": 96 * 12 * d * d,
        "gpt3_score_bytes": 96 * 2048**2 * 2,
    }


@wrong(
    "gpt3_counts",
    hint="You counted W_Q for one head only, d times 128. All 96 heads together make it "
    "d times d.",
)
def counts_one_head_only():
    d = 12288
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": math.sqrt(128),
        "gpt3_w_q": d * 128,
        "gpt3_layer": 12 * d * d + 13 * d,
        "gpt3_total": 96 * (12 * d * d + 13 * d) + (50257 + 2048) * d + 2 * d,
        "gpt3_score_bytes": 96 * 2048**2 * 2,
    }


@wrong(
    "gpt3_counts",
    hint="You counted the word vectors twice. The output layer uses the very same ones "
    "again (one says: it is tied), so they cost nothing extra.",
)
def counts_the_output_layer_again():
    d = 12288
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": math.sqrt(128),
        "gpt3_w_q": d * d,
        "gpt3_layer": 12 * d * d + 13 * d,
        "gpt3_total": 96 * (12 * d * d + 13 * d) + (2 * 50257 + 2048) * d + 2 * d,
        "gpt3_score_bytes": 96 * 2048**2 * 2,
    }


@wrong(
    "gpt3_counts",
    hint="Your bytes are those of a single head. Each of the 96 heads has its own matrix "
    "of 2048 by 2048 scores.",
)
def scores_of_a_single_head():
    d = 12288
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": math.sqrt(128),
        "gpt3_w_q": d * d,
        "gpt3_layer": 12 * d * d + 13 * d,
        "gpt3_total": 96 * (12 * d * d + 13 * d) + (50257 + 2048) * d + 2 * d,
        "gpt3_score_bytes": 2048**2 * 2,
    }


@wrong(
    "gpt3_counts",
    hint="The biases are missing. Every matrix has one: d for each of the four of "
    "attention, 4d and d for the two of the perceptron.",
)
def forgets_the_biases():
    d = 12288
    layer = 12 * d * d + 4 * d
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": math.sqrt(128),
        "gpt3_w_q": d * d,
        "gpt3_layer": layer,
        "gpt3_total": 96 * layer + (50257 + 2048) * d + 2 * d,
        "gpt3_score_bytes": 96 * 2048**2 * 2,
    }


@wrong(
    "gpt3_counts",
    hint="You left the perceptron at width d. It goes up to 4d and back, so its two "
    "matrices have 4 d^2 entries each: twice as many as attention has.",
)
def keeps_the_perceptron_narrow():
    d = 12288
    layer = 4 * d * d + 4 * d + 2 * d * d + 2 * d + 4 * d
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": math.sqrt(128),
        "gpt3_w_q": d * d,
        "gpt3_layer": layer,
        "gpt3_total": 96 * layer + (50257 + 2048) * d + 2 * d,
        "gpt3_score_bytes": 96 * 2048**2 * 2,
    }


@wrong(
    "gpt3_counts",
    hint="Your numbers are rounded. Exactly is asked: type the formula and let Python keep "
    "all the digits.",
)
def rounds_to_a_few_digits():
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": 11.31,
        "gpt3_w_q": 1.51e8,
        "gpt3_layer": 1.8121e9,
        "gpt3_total": 1.746e11,
        "gpt3_score_bytes": 8.053e8,
    }


@right("gpt3_counts")
def typed_as_numbers():
    return {
        "gpt3_d_head": 128,
        "gpt3_divisor": 11.31,
        "gpt3_w_q": 150_994_944,
        "gpt3_layer": 1_812_099_072,
        "gpt3_total": 174_604_259_328,
        "gpt3_score_bytes": 805_306_368,
    }


@right("gpt3_counts")
def with_floats_where_whole():
    d = 12288.0
    layer = 12 * d * d + 13 * d
    return {
        "gpt3_d_head": d / 96,
        "gpt3_divisor": (d / 96) ** 0.5,
        "gpt3_w_q": d**2,
        "gpt3_layer": layer,
        "gpt3_total": layer * 96 + d * (50257 + 2048 + 2),
        "gpt3_score_bytes": 96 * 2 * 2048.0**2,
    }


# --- written answers for simulated classes --------------------------------------

WRITTEN = {
    "why_scale": {
        "good": "A score is a sum of d_k products. With independent entries of mean 0 "
        "and variance 1 each product has variance 1, so the sum has variance d_k and "
        "typical scores grow like the square root of d_k. Big scores saturate softmax: "
        "often one key gets nearly all the weight. There the slopes diag(p) - p p^T are "
        "nearly 0, so those queries and keys hardly learn. Dividing by the standard "
        "deviation sqrt(d_k) puts the variance back to 1; dividing by d_k would make "
        "everything almost uniform. It saves no computation. In GPT-3 each head has "
        "12288 / 96 = 128 numbers, so we divide by about 11.3.",
        "fair": "If d_k is large the dot products get large, and then softmax gives "
        "almost everything to one word. This makes the gradients very small, so the "
        "model does not learn. Dividing by sqrt(d_k) keeps the scores small. For "
        "GPT-3 that is the square root of 12288.",
        "poor": "The square root makes the numbers smaller, and small numbers are "
        "faster to compute with, so attention is more efficient.",
    },
    "short_story": {
        "good": "1. The mask: in a GPT a token sees only itself and earlier tokens. "
        "Without it the model would read the word it should predict, and be useless "
        "when it writes. 2. W_O: after the heads are put side by side a learned matrix "
        "mixes them. Otherwise each head could only write into its own channels. "
        "3. LayerNorm is not linear, because it divides by the token's own standard "
        "deviation; without it the layers would read numbers of very different size.",
        "fair": "The causal mask is missing, so tokens could cheat by looking at the "
        "future. There is also an output matrix W_O after the heads. Maybe the "
        "positions are missing as well.",
        "poor": "It does not say that the scores are divided by the square root, and "
        "the residual is missing.",
    },
}
