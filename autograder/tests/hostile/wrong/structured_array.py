# Returns arrays of records, of texts, of dates and of raw bytes in turn.
import numpy as np

calls = []

def softmax(scores):
    calls.append(1)
    kinds = [[("value", "f4"), ("more", "O")], "U10", "M8[s]", "V8", "S3"]
    return np.zeros(tuple(scores.shape), dtype=kinds[len(calls) % len(kinds)])
