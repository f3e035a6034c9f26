# Writes to /tmp, /dev/shm and its own folder until they are full, and makes as many
# empty files as it can: they are small and its own, and others have theirs.
# level: namespaces, elsewhere its folder has no size of its own
import os
from pathlib import Path

full = 0
for folder in ("/tmp", "/dev/shm", os.getcwd()):
    try:
        for number in range(30):
            Path(folder, f"large-{number}").write_bytes(bytes(8 * 2**20))
    except OSError:
        full += 1
    try:
        for number in range(20_000):
            Path(folder, f"small-{number}").touch()
    except OSError:
        pass
print("full:", full)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)
