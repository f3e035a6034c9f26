# Deletes its own name at the end of the cell.
# says: NameError
def softmax(scores):
    return scores

del softmax
