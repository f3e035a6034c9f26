# Lets twelve processes hold as much as each may, which no limit of a single process
# counts: together it is too much.
# limits: seconds=60 memory=1200000000
# says: memory
import os
import time

def softmax(scores):
    for _ in range(12):
        if os.fork() == 0:
            kept = [bytearray(b"x") * 2**27]
            time.sleep(100)
            os._exit(0)
    time.sleep(100)
