# Raises: the reason says what, and in which line of the cell.
# says: ZeroDivisionError
def softmax(scores):
    return scores / (1 // 0)
