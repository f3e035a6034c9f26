# Ends in the middle of a text.
# says: SyntaxError
def softmax(scores):
    return """scores
