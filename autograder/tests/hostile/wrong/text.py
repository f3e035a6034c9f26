# Returns the numbers as text.
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return str((e / e.sum(0)).tolist())
