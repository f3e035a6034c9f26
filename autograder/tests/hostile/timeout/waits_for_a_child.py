# Waits for a child that never ends, in a session of its own.
import subprocess

def softmax(scores):
    return subprocess.run(["sleep", "998"], start_new_session=True).returncode
