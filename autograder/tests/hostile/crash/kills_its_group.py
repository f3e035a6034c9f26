# Sends a signal to its whole group of processes.
import os
import signal

os.kill(0, signal.SIGKILL)
