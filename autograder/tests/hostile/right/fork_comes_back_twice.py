# Forks and lets the child run on out of the cell: the child ends where the cell does,
# only its parent answers.
import os

os.fork()
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
