# Sends itself the signal that nobody survives.
import os
import signal

def softmax(scores):
    os.kill(os.getpid(), signal.SIGKILL)
