# Leaves `...` in the value.
def softmax(scores):
    return [[..., 1.0]]
