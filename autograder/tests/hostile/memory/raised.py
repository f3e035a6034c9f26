# Raises MemoryError, as Python does when there is no more.
def softmax(scores):
    raise MemoryError
