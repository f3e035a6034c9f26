"""Landlock: a process gives up, for good, all files but those under some folders.

It is kept by the kernel (5.13 or later), needs no privileges, and also shuts a process
off from those outside: it may not trace them, nor (6.12) send them signals.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

from . import kernel

CREATE, ADD_RULE, RESTRICT = 444, 445, 446  # the same on every machine
ONLY_VERSION = 1
BENEATH = 1

EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
CUT, CONTROL = 1 << 14, 1 << 15  # truncate; control a device
DEVICES = 1 << 6 | 1 << 11  # make a device
# how many of the rights on files each version knows
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP_FROM, SCOPES_FROM, CUT_FROM = 4, 6, 3


def version() -> int:
    """The version of Landlock here; 0 where there is none."""
    try:
        return kernel.syscall(CREATE, None, 0, ONLY_VERSION)
    except OSError:
        return 0


def lock(read: list[str], work: list[str], use: list[str]) -> None:
    """Leave this process only what is named; no_new_privs must be set.

    read : files and folders to read, and programs in them to run
    work : folders to do everything in, except making devices
    use  : devices to read, write and control
    What does not exist is passed over. TCP, signals to processes outside and abstract
    sockets outside are given up too, where the kernel has that.

    Raises OSError where there is no Landlock.
    """
    have = version()
    rights = (1 << RIGHTS[max(1, min(have, max(RIGHTS)))]) - 1
    attributes = struct.pack(
        "@QQQ",
        rights,
        0b11 if have >= TCP_FROM else 0,
        0b11 if have >= SCOPES_FROM else 0,
    )
    size = 8 if have < TCP_FROM else 16 if have < SCOPES_FROM else 24
    buffer = ctypes.create_string_buffer(attributes, 24)
    ruleset = kernel.syscall(CREATE, buffer, size, 0)
    try:
        for path in read:
            allow(ruleset, path, (EXECUTE | READ | LIST) & rights)
        for path in work:
            allow(ruleset, path, rights & ~DEVICES)
        for path in use:
            allow(ruleset, path, (READ | WRITE | CUT | CONTROL) & rights)
        kernel.syscall(RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def allow(ruleset: int, path: str, rights: int) -> None:
    """Allow something under a folder, or with a file."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= EXECUTE | WRITE | READ | CUT | CONTROL
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, descriptor), 12)
        kernel.syscall(ADD_RULE, ruleset, BENEATH, rule, 0)
    finally:
        os.close(descriptor)
