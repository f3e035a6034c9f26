# Returns comparisons instead of numbers, and complex numbers.
def softmax(scores):
    if scores.numel() > 2:
        return scores == scores
    return torch.complex(scores, scores)
