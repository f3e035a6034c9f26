# Aborts, as a library does that has found itself broken.
import os

def softmax(scores):
    os.abort()
