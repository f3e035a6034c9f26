# Returns a tensor of 10^12 entries that holds one number: it is not written out.
def softmax(scores):
    return torch.ones(1).expand(10**6, 10**6)
