# Returns a list in a list in a list, a hundred thousand deep, and one that holds itself.
def softmax(scores):
    value = []
    if scores.numel() > 2:
        value.append(value)
        return value
    for _ in range(100_000):
        value = [value]
    return value
