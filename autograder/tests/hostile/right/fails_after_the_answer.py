# The cell raises behind the function: what was defined counts.
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)

1 / 0
