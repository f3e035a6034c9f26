# The same by another program, with an empty environment and no open files, so that it
# can't be told by them: it is gone all the same.
import subprocess

subprocess.Popen(
    ["setsid", "sleep", "997"],
    env={},
    start_new_session=True,
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
