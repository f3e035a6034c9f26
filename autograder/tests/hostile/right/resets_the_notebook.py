# Clears all names of the notebook before it answers: the given names are there again
# for the checks.
%reset -f
import torch

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
