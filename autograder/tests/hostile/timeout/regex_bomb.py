# Matches a pattern that takes for ever.
import re

def softmax(scores):
    return re.match(r"(a+)+$", "a" * 40 + "b")
