# Gives the value of the call before, for which the first has none: items and cases are
# apart, but a function may remember, and is wrong then.
last = []

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    last.append(e / e.sum(0))
    return last[0]
