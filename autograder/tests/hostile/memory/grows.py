# Grows a list without end.
# limits: seconds=60 memory=1200000000
# says: Memory
def softmax(scores):
    kept = []
    while True:
        kept.append(bytearray(2**24))
