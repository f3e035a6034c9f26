# Returns numpy arrays of the other byte order and of half and long floats, whose numbers
# are wrong.
import numpy as np

calls = []

def softmax(scores):
    calls.append(1)
    kind = [">f4", "f2", np.longdouble, ">i8"][len(calls) % 4]
    return np.ones(tuple(scores.shape), dtype=kind) * 3
