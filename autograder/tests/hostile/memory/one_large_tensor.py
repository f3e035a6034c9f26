# Asks for a tensor of two terabytes.
# says: memory
def softmax(scores):
    return torch.zeros(2**41, dtype=torch.uint8)
