# Starts threads without end: they count as processes do.
# (It gives up after 500.)
import threading
import time

def softmax(scores):
    for _ in range(500):
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
