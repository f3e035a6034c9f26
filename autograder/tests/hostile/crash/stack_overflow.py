# Recurses through C, far beyond what the stack holds.
# says: ended the process
import sys

sys.setrecursionlimit(10**9)

def softmax(scores):
    return sorted([scores], key=softmax)
