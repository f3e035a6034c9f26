"""The inner walls: each submission runs in a fork that shuts itself in.

Two processes are forked for it. The first, the keeper, sets the scene (namespaces,
empty folders), forks the second and from then on only buries the dead; the second takes
on every limit (`locks`) and then runs the submission. What is started inside can't
outlive `Jailed.end`, nor the warm process.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from . import kernel, locks, processes
from .jailed import Jailed, remove
from .limits import Limits
from .locks import LAYERS, WORK, Jail

__all__ = ["LAYERS", "WORK", "Jailed", "LayerError", "spawn"]


class LayerError(Exception):
    """A wall could not be built, so nothing was run."""


def spawn(
    level: str,
    limits: Limits,
    slot: int,
    main: Callable[[], None],
    keep: tuple[int, ...] = (),
    gpu: bool = False,
    without: frozenset[str] = frozenset(),
) -> Jailed:
    """Run `main` in a process that is shut in, and return when it is.

    level   : one of `jail.LEVELS`, the one that this process was started with
    slot    : tells apart what runs at the same time: 0 to 3999
    keep    : the open files that `main` needs; all others are closed
    gpu     : leave the address space unlimited, and the graphics processors in reach
    without : some of LAYERS to leave out; for tests of the others

    This process must have one thread only, and no children but those made here.
    Raises LayerError when a wall can't be built; then `main` has not run.
    """
    if unknown := without - LAYERS:
        raise ValueError(f"no such layers: {', '.join(sorted(unknown))}")
    folder = None
    if level != "namespaces":
        folder = Path(tempfile.mkdtemp(prefix=f"by-hand-{os.getpid()}-"))
    uid = None if "uid" in without else locks.other_user(level, slot)
    jail = Jail(level, limits, keep, gpu, without, folder, uid)
    try:
        pid, report = fork(jail, main)
    except OSError as error:
        if folder is not None:
            remove(folder)
        raise LayerError(f"no new process: {error}") from None
    jailed = Jailed(pid, jail.private, folder, report, limits.memory)
    said = jailed.hear()
    if said != "ready":
        jailed.end()
        raise LayerError(said or "the process died while it was shut in")
    return jailed


def fork(jail: Jail, main: Callable[[], None]) -> tuple[int, int]:
    """Fork the keeper; its number, and the file on which it reports."""
    read, write = os.pipe()
    home = -1
    try:
        if jail.private:
            home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            kernel.unshare(kernel.CLONE_NEWPID)  # for the children, not for us
        elif sys.platform == "linux":
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        pid = os.fork()
        if pid == 0:
            keeper(jail, main, write)
        return pid, read
    except BaseException:
        os.close(read)
        raise
    finally:
        if home >= 0:
            kernel.setns(home, kernel.CLONE_NEWPID)
            os.close(home)
        os.close(write)


def keeper(jail: Jail, main: Callable[[], None], report: int) -> NoReturn:
    """Set the scene, fork the submission, and bury whatever it leaves."""
    try:
        warm = os.getppid()
        calm_signals()
        os.setsid()
        locks.silence()
        if jail.private:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        else:
            signal.signal(signal.SIGTERM, lambda *_: leave(jail))
            if sys.platform == "linux":
                kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
                kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
        if jail.namespaces:
            locks.scene(jail)
        pid = os.fork()
        if pid == 0:
            submission(jail, main, report)
        locks.close_all_but((report,))
        if jail.private:
            kernel.drop_capabilities()
        if jail.level != "none":  # it may be of the same user as what it keeps
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        while True:
            ended, status = bury()
            if ended == pid:
                fate = os.waitstatus_to_exitcode(status)
                os.write(report, f"{fate}\n".encode())
            elif not ended and jail.private:
                os._exit(0)
            elif not ended and os.getppid() != warm:
                leave(jail)
    except BaseException as error:
        fail(report, error)


def bury() -> tuple[int, int]:
    """Wait for a process to end, and say which; (0, 0), a bit later, for none."""
    try:
        ended = os.waitpid(-1, 0 if sys.platform == "linux" else os.WNOHANG)
    except ChildProcessError:
        ended = 0, 0
    if not ended[0] and os.getpid() != 1:
        time.sleep(0.05)
    return ended


def leave(jail: Jail) -> NoReturn:
    """Without a namespace that would do it: end all that is left, and tidy up."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # this is what it asks for
    with suppress(ChildProcessError):
        while True:
            processes.end_descendants(os.getpid())
            os.wait()
    if jail.folder is not None:
        remove(jail.folder)
    os._exit(0)


def calm_signals() -> None:
    """Forget what the warm process does on signals, and hold none back."""
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def submission(jail: Jail, main: Callable[[], None], report: int) -> NoReturn:
    """Take on every limit, say that all is ready, run `main`, and end."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        locks.close_all_but((*jail.keep, report))
        locks.lock(jail)
        os.write(report, b"ready\n")
        os.close(report)
    except BaseException as error:
        fail(report, error)
    try:
        main()
    except BaseException:
        os._exit(1)
    os._exit(0)


def fail(report: int, error: BaseException) -> NoReturn:
    """Say in one line what went wrong, and end."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    os.write(report, f"{text}\n".encode())
    os._exit(1)
