# Computes in a process of its own and by another program: both are waited for, nothing
# is wrong with that.
import os
import subprocess

if os.fork() == 0:
    os._exit(0)
os.wait()
print(subprocess.run(["echo", "1"], capture_output=True, text=True).stdout)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
