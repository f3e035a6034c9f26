# The cell's last line is an object whose display never ends.
class Slow:
    def __repr__(self):
        while True:
            pass

def softmax(scores):
    return scores

Slow()
