"""The inner walls: each submission runs in a fork that shuts itself in.

Two processes are forked for it. The first, the keeper, sets the scene (namespaces,
empty folders), forks the second and only reaps from then on; the second takes on every
limit and then runs the submission. Nothing that is started inside can outlive `end`.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from . import kernel
from .limits import Limits

WORK = "/desk"
UID = 61000


class LayerError(Exception):
    """A wall could not be built, so nothing was run."""


@dataclass
class Jail:
    """What one submission is shut in with; the arguments of `spawn`."""

    level: str
    limits: Limits
    slot: int
    keep: tuple[int, ...]
    gpu: bool
    without: frozenset[str]
    work: str

    @property
    def namespaces(self) -> bool:
        return self.level == "namespaces"

    @property
    def uid(self) -> int | None:
        """The user to become, where we may choose."""
        if self.level == "none" or os.geteuid() != 0 or not real_root():
            return None
        return UID + self.slot

    def has(self, layer: str) -> bool:
        return layer not in self.without


def real_root() -> bool:
    """Whether other users exist here: not in the user namespace of a plain user."""
    return Path("/proc/self/uid_map").read_text().split()[2] != "1"


def spawn(
    level: str,
    limits: Limits,
    slot: int,
    main: Callable[[], None],
    keep: tuple[int, ...] = (),
    gpu: bool = False,
    without: frozenset[str] = frozenset(),
) -> Jailed:
    """Run `main` in a process that is shut in, and return at once.

    level   : one of `jail.LEVELS`, the one that this process was started with
    slot    : tells apart what runs at the same time (0, 1, 2, ...)
    keep    : the open files that `main` needs; all others are closed
    gpu     : leave the address space unlimited
    without : layers left out, for tests of the others

    Raises LayerError when a wall can't be built; then `main` has not run.
    """
    work = WORK if level == "namespaces" else tempfile.mkdtemp(prefix="by-hand-")
    jail = Jail(level, limits, slot, keep, gpu, without, work)
    home = -1
    read, write = os.pipe()
    if jail.namespaces:
        home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        kernel.unshare(kernel.CLONE_NEWPID)
    try:
        pid = os.fork()
        if pid == 0:
            keeper(jail, main, write)
    finally:
        if home >= 0:
            kernel.setns(home, kernel.CLONE_NEWPID)
            os.close(home)
    os.close(write)
    jailed = Jailed(pid, jail, read)
    said = jailed.hear()
    if said != "ready":
        jailed.end()
        raise LayerError(said or "the process died while it was shut in")
    return jailed


def keeper(jail: Jail, main: Callable[[], None], report: int) -> NoReturn:
    """Set the scene, fork the submission, and reap whatever it leaves."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD}:
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        if jail.namespaces:
            scene(jail)
        else:
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        pid = os.fork()
        if pid == 0:
            submission(jail, main, report)
        close_all_but((report,))
        kernel.drop_capabilities()
        fate = 0
        while True:
            try:
                ended, status = os.wait()
            except ChildProcessError:
                break
            if ended == pid:
                fate = os.waitstatus_to_exitcode(status)
                os.write(report, f"{fate}\n".encode())
    except BaseException as error:
        fail(report, error)
    os._exit(0)


def fail(report: int, error: BaseException) -> NoReturn:
    """Say in one line what went wrong, and end."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    os.write(report, f"{text}\n".encode())
    os._exit(1)


def scene(jail: Jail) -> None:
    """New namespaces with empty folders in memory and a /proc of their own."""
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    folders = ("/tmp", "/dev/shm", WORK)
    seen = json.loads(os.environ.get("BY_HAND_VIEW", "[]"))
    hidden = [p for p in seen if any(Path(p).is_relative_to(f) for f in folders)]
    opened = {p: os.open(p, os.O_PATH) for p in hidden}
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    owner = "" if jail.uid is None else f",uid={jail.uid},gid={jail.uid}"
    for folder in folders:
        mode = "0700" if folder == WORK else "1777"
        size = f"size={jail.limits.scratch},nr_inodes=8192,mode={mode}"
        kernel.mount("tmpfs", folder, "tmpfs", flags, size + owner)
    for path, descriptor in opened.items():
        Path(path).parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            Path(path).mkdir()
        else:
            Path(path).touch()
        source = f"/proc/self/fd/{descriptor}"
        kernel.mount(source, path, "", kernel.MS_BIND | kernel.MS_REC)
    kernel.mount("proc", "/proc", "proc", flags | kernel.MS_NOEXEC)


def submission(jail: Jail, main: Callable[[], None], report: int) -> NoReturn:
    """Take on every limit, say that all is ready, run `main`, and end."""
    code = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        close_all_but((*jail.keep, report))
        os.environ.update(HOME=jail.work, TMPDIR=jail.work)
        os.umask(0o077)
        limit(jail)
        if jail.level != "none" and jail.has("capabilities"):
            kernel.drop_bounding()
        if jail.uid is not None and jail.has("uid"):
            os.setgroups([])
            os.setresgid(jail.uid, jail.uid, jail.uid)
            os.setresuid(jail.uid, jail.uid, jail.uid)
        os.chdir(jail.work)
        if jail.level != "none":
            if jail.has("capabilities"):
                kernel.drop_capabilities()
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        os.write(report, b"ready\n")
        os.close(report)
    except BaseException as error:
        fail(report, error)
    try:
        main()
        code = 0
    except SystemExit:
        code = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def limit(jail: Jail) -> None:
    """Set the limits that the kernel counts for a process or a user."""
    limits = jail.limits
    wanted = {
        resource.RLIMIT_FSIZE: limits.file,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits.submission * 2),
    }
    if not jail.gpu:
        wanted[resource.RLIMIT_AS] = limits.memory
    if jail.uid is not None:
        wanted[resource.RLIMIT_NPROC] = limits.processes
    for name, value in wanted.items():
        hard = value + 1 if name == resource.RLIMIT_CPU else value
        resource.setrlimit(name, (value, hard))


def close_all_but(keep: tuple[int, ...]) -> None:
    """Close every file except 0, 1, 2 and those to keep."""
    low = 3
    for number in sorted({*keep}):
        if number >= low:
            os.closerange(low, number)
            low = number + 1
    os.closerange(low, 1 << 20)


class Jailed:
    """A submission that runs; made by `spawn`.

    pid : the outermost of its processes
    """

    def __init__(self, pid: int, jail: Jail, report: int) -> None:
        self.pid = pid
        self.jail = jail
        self._report = report
        self._ended = False

    def hear(self) -> str:
        """The next line that the keeper or the submission reports."""
        line = b""
        while not line.endswith(b"\n"):
            piece = os.read(self._report, 1)
            if not piece:
                break
            line += piece
        return line.decode(errors="replace").strip()

    def pids(self) -> list[int]:
        """All its living processes, as this process sees them."""
        if self._ended:
            return []
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    stat = Path(f"/proc/{entry}/stat").read_text()
                except OSError:
                    continue
                state, parent = stat.rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    parents[int(entry)] = int(parent)
        family = {self.pid}
        while True:
            more = {p for p, q in parents.items() if q in family} - family
            if not more:
                return sorted(family & parents.keys())
            family |= more

    def memory(self) -> int:
        """Bytes that its processes hold beyond what they share with this one."""
        own = anonymous(os.getpid())
        return sum(max(0, anonymous(pid) - own) for pid in self.pids())

    def end(self) -> None:
        """Kill all of it, and return when nothing is left."""
        if self._ended:
            return
        if self.jail.namespaces:
            os.kill(self.pid, signal.SIGKILL)
        else:
            while others := [pid for pid in self.pids() if pid != self.pid]:
                for pid in others:
                    os.kill(pid, signal.SIGKILL)
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._report)
        self._ended = True
        if self.jail.work != WORK:
            shutil.rmtree(self.jail.work, ignore_errors=True)


def anonymous(pid: int) -> int:
    """Bytes of memory of a process that are no files."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    names = ("RssAnon", "RssShmem", "VmSwap")
    return sum(int(fields.get(name, "0").split()[0]) for name in names) * 1024
