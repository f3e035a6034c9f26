"""What a submission's process does to itself before the submission runs in it."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import kernel, landlock, processes, seccomp
from .limits import Limits
from .view import GPU

WORK = "/desk"
FOLDERS = ("/tmp", "/dev/shm", WORK)  # in memory, for each submission anew
NAMESPACES = ("pid", "ipc", "mount", "user")
USERS = ("uid", "capabilities", "privileges")
COUNTS = ("memory", "processes", "file", "files", "cpu", "score")
REFUSALS = ("dumpable", "landlock", "seccomp")
LAYERS = frozenset(NAMESPACES + USERS + COUNTS + REFUSALS)

STUDENT = 1000  # a plain user's number in there, where it is nobody else's

DEVICES = ("null", "zero", "full", "random", "urandom")
TERMINALS = ("ptmx", "pts", "tty")  # only where they are nobody else's
# of /proc and /sys, where the rest would tell of other processes
FACTS = ("cpuinfo", "meminfo", "stat", "self", "sys/vm/overcommit_memory")


@dataclass(frozen=True)
class Jail:
    """What one submission is shut in with; see `layers.spawn`.

    folder : where it works outside namespaces
    uid    : the user to become; None: there is no choice
    """

    level: str
    limits: Limits
    keep: tuple[int, ...]
    gpu: bool
    without: frozenset[str]
    folder: Path | None
    uid: int | None

    def has(self, layer: str) -> bool:
        """Whether a layer is to be there."""
        return layer not in self.without

    @property
    def namespaces(self) -> bool:
        """Whether there are namespaces."""
        return self.level == "namespaces"

    @property
    def private(self) -> bool:
        """Whether its processes are in a namespace that dies with the first."""
        return self.namespaces and self.has("pid")

    @property
    def work(self) -> str:
        """The folder it works in."""
        return WORK if self.folder is None else str(self.folder)


def other_user(level: str, slot: int) -> int | None:
    """The user that a submission is to become, where there is a choice."""
    if level == "none" or os.geteuid() != 0:
        return None
    uid = int(os.environ.get("BY_HAND_UID", "61000")) + slot
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= uid < first + count:
            return uid
    return None


def silence() -> None:
    """Nothing to read, and nobody to write to."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.close(null)


def close_all_but(keep: tuple[int, ...]) -> None:
    """Close every file but 0, 1, 2 and those to keep."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208
        if int(name) > 2 and int(name) not in keep:
            with suppress(OSError):  # the list itself was one of them
                os.close(int(name))


def scene(jail: Jail) -> None:
    """New namespaces with empty folders in memory and a /proc of their own."""
    if jail.has("ipc"):
        kernel.unshare(kernel.CLONE_NEWIPC)
    if not jail.has("mount"):
        return
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    covered = [p for p in view() if any(Path(p).is_relative_to(f) for f in FOLDERS)]
    opened = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in covered}
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    owner = "" if jail.uid is None else f",uid={jail.uid},gid={jail.uid}"
    for folder in FOLDERS:
        mode = "0700" + owner if folder == WORK else "1777"
        options = f"size={jail.limits.scratch},nr_inodes=8192,mode={mode}"
        kernel.mount("tmpfs", folder, "tmpfs", flags, options)
    for path, descriptor in opened.items():
        uncover(Path(path), Path(f"/proc/self/fd/{descriptor}"))
    if jail.has("pid"):
        kernel.mount("proc", "/proc", "proc", flags | kernel.MS_NOEXEC)


def uncover(path: Path, opened: Path) -> None:
    """Bring back what an empty folder has covered."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if opened.is_dir():
        path.mkdir()
    else:
        path.touch()
    kernel.mount(str(opened), str(path), "", kernel.MS_BIND | kernel.MS_REC)


def view() -> list[str]:
    """What the outer wall lets us read."""
    return json.loads(os.environ.get("BY_HAND_VIEW", "[]"))


def lock(jail: Jail) -> None:
    """Take on every limit, one after the other; there is no way back.

    Raises OSError for one that can't be had here.
    """
    seen = view()
    for name in [name for name in os.environ if name.startswith("BY_HAND_")]:
        del os.environ[name]
    os.environ.update(HOME=jail.work, TMPDIR=jail.work)
    tempfile.tempdir = None  # it remembers another
    os.umask(0o077)
    if jail.level == "none":
        limit(jail)
    else:
        if jail.has("score"):
            Path("/proc/self/oom_score_adj").write_text("1000")
        apart = jail.namespaces and jail.uid is None and new_user(jail)
        limit(jail, apart)
        become(jail)
    os.chdir(jail.work)
    if jail.level == "none":
        return
    if jail.has("privileges"):
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if jail.has("dumpable"):
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    newest = landlock.version() if jail.has("landlock") else 0
    if newest:
        landlock.lock(*paths(jail, seen))
    elif jail.level == "landlock" and jail.has("landlock"):
        raise OSError("this kernel has no Landlock")
    if jail.has("seccomp"):  # and what Landlock does not cover yet
        signals = jail.private or jail.uid is not None or newest >= landlock.SCOPES_FROM
        seccomp.lock(
            shared=not jail.namespaces,
            signals=signals,
            truncate=jail.namespaces or newest >= landlock.CUT_FROM,
        )


def new_user(jail: Jail) -> bool:
    """For a plain user: a user namespace in which none further can be made.

    In it processes are counted anew. Returns whether it was to be had.
    """
    if not jail.has("user"):
        return False
    uid, gid = os.geteuid(), os.getegid()
    try:
        kernel.unshare(kernel.CLONE_NEWUSER)
    except OSError:
        return False
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{STUDENT} {uid} 1")
    write("/proc/self/gid_map", f"{STUDENT} {gid} 1")
    with suppress(OSError):
        write("/proc/sys/user/max_user_namespaces", "0")
    release = os.uname().release.split(".")
    return (int(release[0]), int(release[1].split("-")[0])) >= (5, 14)


def write(path: str, text: str) -> None:
    """Write in one call, as the files of /proc want it."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def limit(jail: Jail, apart: bool = False) -> None:
    """Set the limits that the kernel counts for a process or for a user.

    apart: the user's processes are counted in a namespace of their own.
    """
    limits = jail.limits
    count = limits.processes
    if jail.uid is None and not apart:  # others of this user count too
        count *= 1 + min(8, os.cpu_count() or 1)  # room for the other slots
        count += others()
    wanted = {
        "memory": (resource.RLIMIT_AS, limits.memory + address_space()),
        "processes": (resource.RLIMIT_NPROC, count),
        "file": (resource.RLIMIT_FSIZE, limits.file),
        "files": (resource.RLIMIT_NOFILE, 256),
        "cpu": (resource.RLIMIT_CPU, max(1, int(limits.submission * 2))),
    }
    if jail.gpu:
        del wanted["memory"]
    for name, (number, value) in wanted.items():
        if jail.has(name):
            lower(number, value, strict=jail.level != "none")
    for name in ("RLIMIT_CORE", "RLIMIT_MSGQUEUE"):
        if hasattr(resource, name):
            lower(getattr(resource, name), 0, strict=False)


def address_space() -> int:
    """What this process has mapped already: libraries, of which torch brings many."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * processes.PAGE
    except OSError:
        return 0


def others() -> int:
    """How many processes this user has already (the kernel does not count root's)."""
    if sys.platform != "linux" or os.geteuid() == 0:
        return 4096
    return processes.threads_of(os.getuid())


def lower(number: int, value: int, strict: bool) -> None:
    """Lower one limit; a soft one in force already stays when it is lower.

    strict: raise OSError when the system won't.
    """
    hard = resource.getrlimit(number)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    ceiling = value
    if number == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY:
        ceiling = value + 1  # a signal first, so that it does not look like a crash
    try:
        resource.setrlimit(number, (value, ceiling))
    except (OSError, ValueError) as error:
        if strict:
            raise OSError(f"limit {number} at {value}: {error}") from None


def become(jail: Jail) -> None:
    """Become a user of no rights."""
    if jail.has("capabilities"):
        kernel.drop_bounding()
    if jail.uid is not None:
        if jail.folder is not None:
            os.chown(jail.folder, jail.uid, jail.uid)
        os.setgroups([])
        os.setresgid(jail.uid, jail.uid, jail.uid)
        os.setresuid(jail.uid, jail.uid, jail.uid)
    if jail.has("capabilities"):
        kernel.drop_capabilities()


def paths(jail: Jail, seen: list[str]) -> tuple[list[str], list[str], list[str]]:
    """What may be read, worked in, and used, for Landlock."""
    names = DEVICES + (TERMINALS if jail.namespaces else ())
    devices = [f"/dev/{name}" for name in names]
    if jail.gpu:
        devices += [str(p) for name in GPU for p in Path("/dev").glob(name)]
    if jail.namespaces:  # the outer wall has left nothing that may not be read
        return ["/"], list(FOLDERS), devices
    if jail.level == "container":
        return ["/"], [jail.work], devices
    facts = [f"/proc/{name}" for name in FACTS] + ["/sys/devices/system/cpu"]
    if jail.gpu:
        facts += ["/sys", "/proc/driver"]
    return [*seen, *facts], [jail.work], devices
