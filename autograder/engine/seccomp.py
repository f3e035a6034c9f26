"""A filter for system calls: what no honest answer asks of the kernel is refused.

What is not named is allowed, for torch and its threads need hundreds of calls; a call
newer than this file is answered as if the kernel did not have it.
"""

from __future__ import annotations

import ctypes
import errno
import struct
import termios
from dataclasses import dataclass, replace

from . import kernel, syscalls

PR_SET_SECCOMP, MODE_FILTER = 22, 2

# a filter's instructions: load a word, and a mask, jump if equal, jump if at least, end
LOAD, AND, EQUAL, AT_LEAST, END = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # where the words lie
KILL = 0x80000000
ALLOW = 0x7FFF0000

NEW_NAMESPACES = 0x7E020000
AF_UNIX, DATAGRAM, RAW = 1, 2, 3
F_SETOWN, F_SETOWN_EX = 8, 15
FIOSETOWN, SIOCSPGRP = 0x8901, 0x8902


@dataclass(frozen=True)
class Rule:
    """Refuse a call, always or when one of its arguments is so.

    name   : of the call
    answer : the error it is given (0: it does nothing and reports success)
    word   : which argument to look at, as 32-bit words (2 for each argument)
    mask   : the bits to look at
    value  : what they are compared with
    equal  : refuse when they are equal; False: when they are not
    """

    name: str
    answer: int = errno.EPERM
    word: int = -1
    mask: int = 0xFFFFFFFF
    value: int = 0
    equal: bool = True


def rules(shared: bool, signals: bool, truncate: bool) -> list[Rule]:
    """The rules, as few as the other walls allow.

    shared   : it runs among this host's files and sockets, shut in by Landlock alone:
               the modes and times of files stay as they are, and no socket is made
    signals  : whether it may send signals (else not even to its own processes)
    truncate : whether it may cut files by their path
    """
    found = [Rule(name) for text in syscalls.NEVER for name in syscalls.names(text)]
    other = Rule("", word=0, equal=False)  # the first argument is another process
    found += [
        Rule("clone", word=0, mask=NEW_NAMESPACES, equal=False),
        Rule("clone3", errno.ENOSYS),  # its flags can't be seen: libc falls back
        Rule("prctl", word=0, value=kernel.PR_SET_DUMPABLE),
        Rule("socket", word=0, value=AF_UNIX, equal=False),
        Rule("socketpair", word=0, value=AF_UNIX, equal=False),
        Rule("ioctl", word=2, value=termios.TIOCSTI),
        Rule("ioctl", word=2, value=termios.TIOCLINUX),
        *(replace(other, name=name) for name in ("prlimit64", "sched_setaffinity")),
        *(replace(other, name=f"sched_set{x}") for x in ("scheduler", "param", "attr")),
        *(Rule(name, word=2, equal=False) for name in ("setpriority", "ioprio_set")),
        Rule("setpriority", word=0, equal=False),
    ]
    if shared:
        found += [Rule(name) for name in syscalls.names(syscalls.SOCKETS)]
        # datagrams can be sent to any address, even from one of a pair
        found += [
            Rule("socketpair", word=2, mask=0xF, value=v) for v in (DATAGRAM, RAW)
        ]
        found += [Rule("sendto", word=word, equal=False) for word in (8, 9)]
        found += [Rule(name, 0) for name in syscalls.names(syscalls.MODES)]
        found += [
            Rule(name, errno.EOPNOTSUPP) for name in syscalls.names(syscalls.OWNERS)
        ]
    if not signals:
        found += [Rule(name) for name in syscalls.names(syscalls.SIGNALS)]
        found += [Rule("fcntl", word=2, value=v) for v in (F_SETOWN, F_SETOWN_EX)]
        found += [Rule("ioctl", word=2, value=v) for v in (FIOSETOWN, SIOCSPGRP)]
    if not truncate:
        found += [Rule("truncate")]
    return found


def program(wanted: list[Rule]) -> bytes:
    """The rules as a filter for this machine.

    Raises OSError on a machine whose system calls we don't know.
    """
    column, name = syscalls.machine()
    numbers = {
        call: number
        for table in (*syscalls.NEVER, *syscalls.SOMETIMES)
        for call, number in syscalls.numbers(table, column).items()
    }
    steps = [
        (LOAD, 0, 0, MACHINE),
        (EQUAL, 1, 0, name),
        (END, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, syscalls.LAST + 1),
        (END, 0, 0, refusal(errno.ENOSYS)),
    ]
    for rule in wanted:
        if rule.name in numbers:
            steps += one(rule, numbers[rule.name])
    steps.append((END, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def one(rule: Rule, number: int) -> list[tuple[int, int, int, int]]:
    """The steps of one rule; the call's number is loaded before and after."""
    end = (END, 0, 0, refusal(rule.answer))
    if rule.word < 0:
        return [(EQUAL, 0, 1, number), end]
    there, not_there = (0, 1) if rule.equal else (1, 0)
    return [
        (EQUAL, 0, 5, number),
        (LOAD, 0, 0, ARGUMENTS + 4 * rule.word),
        (AND, 0, 0, rule.mask),
        (EQUAL, there, not_there, rule.value),
        end,
        (LOAD, 0, 0, NUMBER),
    ]


def refusal(error: int) -> int:
    """What a filter returns to answer a call with an error."""
    return 0x00050000 | error


def lock(shared: bool, signals: bool, truncate: bool) -> None:
    """Put the filter over this process and all it will start; see `rules`.

    Raises OSError where the kernel has no filters.
    """
    code = program(rules(shared, signals, truncate))
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    pointer = ctypes.create_string_buffer(header, len(header))
    kernel.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(pointer))
