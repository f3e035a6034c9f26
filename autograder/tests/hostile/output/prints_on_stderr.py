# The same on stderr, in a case, without line ends.
# says: far too much
import sys

def softmax(scores):
    while True:
        sys.stderr.write("x" * 1000)
