# The same, while it prints all the time, so that the grader never has a quiet moment to
# look.
# limits: seconds=60 memory=1200000000 text_kills=100000000
# says: memory
import os
import time

def softmax(scores):
    for _ in range(12):
        if os.fork() == 0:
            kept = [bytearray(b"x") * 2**27]
            time.sleep(100)
            os._exit(0)
    while True:
        print("talking " * 10, flush=True)
        time.sleep(0.001)
