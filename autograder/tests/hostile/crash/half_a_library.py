# Leaves torch's threads in the middle of something, forks, and computes in the child, as
# a broken library does: it hangs or crashes, and is ended.
# limits: seconds=1
# says: ended the process
import ctypes
import threading

lock = threading.Lock()

def softmax(scores):
    ctypes.CDLL(None).raise_ = None
    ctypes.memset(id(scores), 0, 64)
    return scores.sum()
