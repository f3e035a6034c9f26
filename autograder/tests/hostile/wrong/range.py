# Returns a range of 10^18 numbers.
def softmax(scores):
    return range(10**18)
