# Empties the given table whenever it is called: the other exercise has its own, but the
# next case of the same check is given what is left of it.
def softmax(scores):
    X.zero_()
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
