# Opens files without end inside a case.
# says: OSError
def softmax(scores):
    kept = []
    while True:
        kept.append(open("/dev/null"))
