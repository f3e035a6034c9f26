# Imports what is not there.
# says: ModuleNotFoundError
import pandas_from_somewhere

def softmax(scores):
    return scores
