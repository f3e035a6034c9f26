# Returns a whole number of a hundred thousand digits.
def softmax(scores):
    return 1 << 400_000
