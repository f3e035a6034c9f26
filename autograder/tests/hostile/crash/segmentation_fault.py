# Reads memory at address 0.
import ctypes

def softmax(scores):
    ctypes.string_at(0)
