# Spoils the arguments, the random numbers and numpy's error handling in one case: the
# next one has its own.
import numpy as np

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    value = e / e.sum(0)
    if scores.numel() == 2:
        scores.resize_(0)
        np.seterr(all="raise")
        torch.manual_seed(7)
    return value
