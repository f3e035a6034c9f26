# Tries to overwrite the gradebook, a result and files of the system and of the course's
# own package, to rename, to link and to remove them: it can change nothing but its own.
import os
import sys
from pathlib import Path

import autograder

done = []
targets = [
    "__COURSE__/class/gradebook.db",
    "__COURSE__/class/results/ada/attention.json",
    "__OUTSIDE__/tmp.txt",
    "/etc/passwd",
    "/usr/bin/env",
    sys.executable,
    autograder.__file__,
    torch.__file__,
]
for name in targets:
    here = str(Path(name).parent / "by-hand-mine")
    for attempt in (
        lambda: Path(name).open("r+").write("{}"),
        lambda: os.truncate(name, 0),
        lambda: os.rename(name, name + ".old"),
        lambda: os.unlink(name),
        lambda: os.link(name, "link"),
        lambda: Path(here).write_text("mine"),
        lambda: os.symlink("/", here),
        lambda: os.mkfifo(here),
    ):
        try:
            attempt()
            if "by-hand-outside" in name or os.stat(name).st_size == 0:
                done.append(name)
        except OSError:
            pass
    for attempt in (  # these may do nothing, and say that they did it
        lambda: os.chmod(name, 0),
        lambda: os.chown(name, os.getuid(), -1),
        lambda: os.utime(name, (0, 0)),
    ):
        try:
            attempt()
        except OSError:
            pass
print(done)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return str(done) if done else e / e.sum(0)
