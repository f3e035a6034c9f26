"""A submission that runs, as seen from the warm process that shut it in."""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from . import processes

PROC = processes.PROC
PATIENCE = 5.0  # for the outermost process to end itself (s)
MANY = 10_000  # files in its folder
_running: set[int] = set()


class Jailed:
    """One submission with everything that it starts; made by `layers.spawn`.

    pid : the outermost of its processes, which started the others

    private : whether its processes are in a namespace that dies with the outermost
    folder  : where it works, to be removed at the end; None: nothing to remove
    report  : open file on which the outermost process reports
    limit   : how much memory it may hold (bytes)
    """

    def __init__(
        self, pid: int, private: bool, folder: Path | None, report: int, limit: int
    ) -> None:
        self.pid = pid
        self._private = private
        self._folder = folder
        self._report = report
        self._limit = limit
        self._ended = False
        self._own = processes.resident(os.getpid())
        self._first: dict[tuple[int, int], int] = {}
        self._fate: int | None = None
        _running.add(pid)

    def hear(self) -> str:
        """The next line that is reported from inside; empty when nothing will come."""
        line = b""
        while not line.endswith(b"\n") and (piece := os.read(self._report, 1)):
            line += piece
        return line.decode(errors="replace").strip()

    def fate(self) -> int | None:
        """How `main` ended: its exit code, or minus the signal; None while it runs."""
        if self._fate is None and not self._ended:
            os.set_blocking(self._report, False)
            with suppress(BlockingIOError):
                text = self.hear()
                self._fate = int(text) if text else None
        return self._fate

    def pids(self) -> list[int]:
        """All its living processes, the outermost included."""
        if self._ended:
            return []
        family = processes.descendants(self.pid)
        keeper = processes.look(self.pid)
        return sorted(family | ({self.pid} if keeper and keeper.alive else set()))

    def memory(self) -> int:
        """Bytes that all its processes hold beyond what is the warm process's.

        Counted high where nothing depends on it; when that is more than it may have,
        what its processes share is counted once, if the kernel lets us see it (not for
        a plain user without namespaces). Where its folder is on a disk, and so has no
        size of its own, what is written there counts too.
        """
        pids = [pid for pid in self.pids() if pid != self.pid]
        high = sum(self._most(pid) for pid in pids) + written(self._folder)
        if high <= self._limit:
            return high
        shares = [processes.share(pid) for pid in pids if (PROC / str(pid)).exists()]
        ours = processes.share(os.getpid())
        if None in shares or ours is None:
            return high
        borrowed = max(0, processes.resident(os.getpid()) - ours)
        return max(0, sum(filter(None, shares)) - borrowed) + written(self._folder)

    def _most(self, pid: int) -> int:
        """The most that a process can hold for itself.

        A fork shares what it found, so it can have made its own only the pages that it
        was given since, or what it holds more than when we first saw it.
        """
        process = processes.look(pid)
        if process is None:
            return 0
        now = processes.resident(pid)
        if process.parent == self.pid and not self._first:  # `main` itself
            self._first[pid, process.born] = self._own
        first = self._first.setdefault((pid, process.born), now)
        return min(now, max(now - first, process.faults * processes.PAGE))

    def end(self) -> None:
        """Kill every one of its processes, and return when nothing is left."""
        if self._ended:
            return
        if self._private:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        else:
            self._sweep()
        _running.discard(self.pid)
        os.close(self._report)
        self._ended = True
        if self._folder is not None:
            remove(self._folder)

    def _sweep(self) -> None:
        """Have the outermost process end all below it, and itself; or else do it."""
        with suppress(OSError):
            os.kill(self.pid, signal.SIGTERM)
            os.kill(self.pid, signal.SIGCONT)  # level none: stopped from inside
        until = time.monotonic() + PATIENCE
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            if time.monotonic() > until:
                processes.end_descendants(self.pid)
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.001)
        if ended[1]:  # it did not get to the end: what it left is now ours
            self._bury_strays()

    def _bury_strays(self) -> None:
        """End our children that no outermost process is, and what they leave to us."""
        while strays := [
            pid
            for pid, process in processes.processes().items()
            if process.parent == os.getpid() and pid not in _running
        ]:
            for pid in strays:
                processes.end_descendants(pid)
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def written(folder: Path | None) -> int:
    """Bytes in a folder; very many files are as good as endless ones."""
    if folder is None:
        return 0
    total = count = 0
    for inside, _, names in os.walk(folder):
        count += 1 + len(names)
        if count > MANY:
            return 2**50
        for path in (Path(inside, name) for name in names):
            with suppress(OSError):
                total += path.lstat().st_blocks * 512
    return total


def remove(folder: Path) -> None:
    """Remove a folder, whatever its owner did to the modes in it."""
    with suppress(OSError):
        folder.chmod(0o700)
        for inside, folders, _ in os.walk(folder):
            for path in (Path(inside, name) for name in folders):
                if not path.is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
