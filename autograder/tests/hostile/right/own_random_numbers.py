# Draws random numbers in between, from all generators: a case begins with the same ones
# each time, and the answer does not depend on them.
import random

import numpy as np

def softmax(scores):
    noise = random.random() + np.random.rand() + torch.rand(1)
    e = torch.exp(scores - scores.max(0).values + 0 * noise)
    return e / e.sum(0)
