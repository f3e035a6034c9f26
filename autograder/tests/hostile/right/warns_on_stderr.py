# Writes warnings and lines to stderr, as libraries do: an honest answer loses nothing
# by it (stock nbgrader gives it nothing).
import sys
import warnings

def softmax(scores):
    print("a line on stderr", file=sys.stderr)
    warnings.warn("and a warning")
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)

print("a line on stderr", file=sys.stderr)
