# The same by the keys of a dictionary and in a set.
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    if scores.numel() > 4:
        return {"SMUGG" + "LED": {"SMUGG" + "LED"}}
    return e / e.sum(0)
