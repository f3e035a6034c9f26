# Recurses far beyond what the stack holds.
import sys

sys.setrecursionlimit(10**9)

def deep(value):
    return [deep(value)] + sorted([value], key=deep)

def softmax(scores):
    return deep(scores)
