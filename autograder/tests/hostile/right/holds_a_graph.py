# Returns a tensor that requires a gradient and holds a graph of a thousand steps: only
# its numbers cross.
def softmax(scores):
    scores = scores.clone().requires_grad_()
    e = torch.exp(scores - scores.max(0).values)
    for _ in range(1000):
        e = e * 1.0
    return e / e.sum(0)
