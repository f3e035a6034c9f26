# The cell leaves behind processes that hold too much, and then goes on for a while: they
# are ended with it, and what comes after has its own memory.
# limits: seconds=60 memory=1200000000
# says: memory
import os
import time

for _ in range(12):
    if os.fork() == 0:
        kept = [bytearray(b"x") * 2**27]
        time.sleep(100)
        os._exit(0)
time.sleep(100)
