# Sleeps, and uses no processor time at all.
import time

def softmax(scores):
    time.sleep(10_000)
