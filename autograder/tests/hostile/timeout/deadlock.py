# Waits for itself.
import threading

lock = threading.Lock()
lock.acquire()

def softmax(scores):
    lock.acquire()
