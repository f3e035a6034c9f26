"""Run a command, and end when nothing that it started is left: a script.

    python watch.py COMMAND...

Says on its last line how the command ended, and how many processes outlived it for
however short a time. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: whoever loses its parent becomes our child


def main(command: list[str]) -> None:
    """Run and wait."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    code = subprocess.Popen(command).wait()
    orphans = 0
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
        orphans += 1
    print(f"\n{code} {orphans}")


if __name__ == "__main__":
    main(sys.argv[1:])
