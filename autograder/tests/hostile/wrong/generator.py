# Returns a generator without end: it is no value.
def softmax(scores):
    return (1.0 for _ in iter(int, 1))
