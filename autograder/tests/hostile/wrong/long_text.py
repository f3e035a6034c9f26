# Returns a text of seven megabytes: the reason does not quote it.
def softmax(scores):
    return "long" * (7 * 2**18)
