"""The processes of this computer: who started whom, and what memory each holds."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")
MEMORY = ("RssAnon", "RssShmem", "VmSwap")


@dataclass(frozen=True)
class Process:
    """One process.

    alive  : False when it has ended and its parent has not asked how
    parent : the process that started it, or took it over
    born   : when it was started (ticks)
    faults : pages of memory that it was given since
    """

    alive: bool
    parent: int
    born: int
    faults: int


def processes() -> dict[int, Process]:
    """All processes that are to be seen from here, the dead included."""
    if not (PROC / "self").exists():
        return by_ps()
    found = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (process := look(int(entry.name))):
            found[int(entry.name)] = process
    return found


def look(pid: int) -> Process | None:
    """One process, or None when there is no such."""
    if not (PROC / "self").exists():
        return by_ps().get(pid)
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    alive = fields[0] not in "ZX"
    return Process(alive, int(fields[1]), int(fields[19]), int(fields[7]))


def by_ps() -> dict[int, Process]:
    """The same where there is no /proc."""
    words = ["ps", "-axo", "pid=,ppid=,stat="]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as ps:
        rows = [line.split() for line in ps.communicate()[0].splitlines()]
    found = {int(r[0]): Process(r[2][0] != "Z", int(r[1]), 0, 0) for r in rows}
    found.pop(ps.pid, None)  # itself
    return found


def descendants(root: int) -> set[int]:
    """All living processes that `root` started, and those that they did."""
    if children_are_listed():
        family: set[int] = set()
        fresh = {root}
        while fresh := {child for pid in fresh for child in children(pid)} - family:
            family |= fresh
        return {pid for pid in family if (one := look(pid)) and one.alive}
    known = processes()
    family = {root}
    while more := {p for p, q in known.items() if q.parent in family} - family:
        family |= more
    return {pid for pid in family - {root} if known[pid].alive}


def children_are_listed() -> bool:
    """Whether the kernel lists them, so that we need not look at all processes."""
    return (PROC / f"self/task/{os.getpid()}/children").exists()


def children(pid: int) -> list[int]:
    """What all threads of a process started, as far as it still exists."""
    found: list[int] = []
    with suppress(OSError):
        for task in (PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def end_descendants(root: int) -> None:
    """Kill all that `root` started, however quickly they start others.

    They are stopped first, all of them: what is stopped starts nothing.
    """
    stopped: set[int] = set()
    while family := descendants(root):
        fresh = family - stopped
        for pid in fresh or family:
            with suppress(OSError):
                os.kill(pid, signal.SIGSTOP if fresh else signal.SIGKILL)
        stopped |= fresh
        if not fresh:
            time.sleep(0.001)


def threads_of(uid: int) -> int:
    """How many processes and threads of a user there are, as far as can be seen."""
    count = 0
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            fields = status(int(entry.name))
            if fields.get("Uid", "-1").split()[0] == str(uid):
                count += int(fields["Threads"])
    return count


def status(pid: int) -> dict[str, str]:
    """What the kernel tells of a process, by name; empty when it has ended."""
    try:
        text = (PROC / str(pid) / "status").read_text(errors="replace")
    except OSError:
        return {}
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def resident(pid: int) -> int:
    """The memory of a process that is no file, shared or not (bytes)."""
    fields = status(pid)
    return sum(int(fields.get(name, "0").split()[0]) for name in MEMORY) * 1024


def share(pid: int) -> int | None:
    """The same with what is shared divided among its holders; None: not to be seen."""
    try:
        text = (PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in text.splitlines()[1:])
    names = ("Pss_Anon", "Pss_Shmem", "SwapPss")
    return sum(int(fields.get(name, "0").split()[0]) for name in names) * 1024
