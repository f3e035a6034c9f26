# Returns lists that hold the same list again and again: 10^30 entries in little memory.
def softmax(scores):
    value = [1.0] * 10
    for _ in range(15):
        value = [value] * 100
    return value
