"""The calls of the kernel that Python has no names for, each raising OSError."""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def syscall(number: int, *args: int | ctypes.Array | None) -> int:
    """Make a system call by its number; integers are passed as 64 bits."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return _checked(_libc.syscall(ctypes.c_long(number), *wide), f"syscall {number}")


def prctl(option: int, *args: int) -> int:
    """Change an attribute of this process."""
    four = [ctypes.c_ulong(a) for a in (*args, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(ctypes.c_int(option), *four), f"prctl {option}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones."""
    _checked(_libc.unshare(ctypes.c_int(flags)), f"unshare {flags:#x}")


def setns(descriptor: int, kind: int) -> None:
    """Enter the namespace that an open file of /proc/PID/ns stands for."""
    _checked(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount `source` on `target`; empty strings are passed as NULL."""
    words = [word.encode() or None for word in (source, target, kind)]
    option = options.encode() or None
    _checked(
        _libc.mount(*words, ctypes.c_ulong(flags), option), f"mount {kind} on {target}"
    )


def drop_bounding() -> None:
    """Let no capability be gained again, by whatever program."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # beyond the last one, or not ours to drop
            break


def drop_capabilities() -> None:
    """Give up every capability that this process has."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # the third version of the call
    _checked(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
