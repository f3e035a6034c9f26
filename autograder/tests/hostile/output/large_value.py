# Returns a tensor of forty megabytes: the most that a value may have is eight.
# says: far too much
def softmax(scores):
    return torch.zeros(10**7)
