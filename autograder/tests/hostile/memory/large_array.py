# Asks numpy for an array of a terabyte, and fills it.
# says: Memory
import numpy as np

def softmax(scores):
    return np.ones(2**37)
