# Calls itself without end: Python stops that.
# says: RecursionError
def softmax(scores):
    return softmax(scores)
