# Computes a power that takes a day, inside one instruction: no signal of Python's would
# be heard.
def softmax(scores):
    return 7 ** (10**10) % 10
