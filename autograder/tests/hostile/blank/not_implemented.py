# The text as it was given out, with a remark.
def softmax(scores):
    # I had no time
    raise NotImplementedError("softmax")
