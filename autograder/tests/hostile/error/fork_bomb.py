# Forks without end: it may have so many processes and no more, then forking fails.
# (It gives up after 500.)
import os

def softmax(scores):
    for _ in range(500):
        if os.fork() == 0:
            import time
            time.sleep(100)
            os._exit(0)
