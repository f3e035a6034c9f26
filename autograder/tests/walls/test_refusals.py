"""System calls: what no honest answer needs is refused, by seccomp and others."""

from __future__ import annotations

import os
import platform
import re
import socket
from pathlib import Path

import pytest

from autograder.engine import landlock, seccomp, syscalls

CALL = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    result = libc.syscall(ctypes.c_long(number), *words)
    return errno.errorcode[ctypes.get_errno()] if result < 0 else "done"
"""


def number(name: str) -> int:
    """The number of a system call here."""
    column, _ = syscalls.machine()
    tables = (*syscalls.NEVER, *syscalls.SOMETIMES)
    return {k: v for t in tables for k, v in syscalls.numbers(t, column).items()}[name]


def test_every_named_call_is_refused(shut) -> None:
    column, _ = syscalls.machine()
    calls = [n for t in syscalls.NEVER for n in syscalls.numbers(t, column).values()]
    code = f"{CALL}tell([n for n in {calls} if call(n, 0, 0, 0, 0, 0, 0) != 'EPERM'])"
    assert len(calls) > 60
    assert shut.told(code) == []


def test_newer_calls_do_not_exist(shut) -> None:
    code = f"{CALL}tell([call(n, 0, 0) for n in (463, 467, 500, 1 << 30 | 39)])"
    assert shut.told(code) == ["ENOSYS"] * 4


@pytest.mark.parametrize(
    ("name", "args", "open_"),
    [
        ("ptrace", (0, 0, 0, 0), "done"),  # PTRACE_TRACEME
        ("unshare", (0x10000000,), "done"),  # a user namespace
        ("keyctl", (0, -3, 0), "done"),  # the session's keyring
        ("memfd_create", (0, 0), "EFAULT"),
        ("shmget", (0, 4096, 0o1600), "done"),
        ("prctl", (4, 1, 0, 0, 0), "done"),  # PR_SET_DUMPABLE
        ("setpriority", (0, 1, 5), ("EPERM", "ESRCH", "done")),
        ("prlimit64", (1, 7, 0, 0), ("EPERM", "done")),
        ("socket", (2, 1, 0), "done"),
        ("socket", (16, 3, 0), "done"),  # netlink
        ("socketpair", (2, 1, 0, 0), "EFAULT"),
        ("clone", (0x10000000 | 17, 0, 0, 0, 0), "done"),
        ("ioctl", (0, 0x5412, 0), ("ENOTTY", "EIO", "EACCES")),  # typing for others
    ],
)
def test_one_by_one(shut, name, args, open_) -> None:
    code = f"{CALL}tell(call({number(name)}, *{args}))"
    if name == "clone":  # it may come back twice
        code += "\nos._exit(0)"
    assert shut.told(code) == "EPERM"
    allowed = shut.told(code, "seccomp", "user")
    assert allowed in (open_ if isinstance(open_, tuple) else (open_, "ENOSYS"))


def test_sockets_that_would_reach_others_by_path(bare) -> None:
    calls = [number(name) for name in syscalls.names(syscalls.SOCKETS)]
    code = f"{CALL}tell({{call(n, 1, 1, 0, 0) for n in {calls}}})"
    assert bare.told(code.replace("tell(", "tell(list(") + ")") == ["EPERM"]
    code = f"{CALL}tell(call({number('socketpair')}, 1, 2, 0, 0))"  # datagrams
    assert bare.told(code) == "EPERM"
    assert bare.told(code, "seccomp") == "EFAULT"
    code = f"{CALL}tell(call({number('sendto')}, 0, 0, 0, 0, 1 << 40, 110))"
    assert bare.told(code) == "EPERM"
    assert bare.told(code, "seccomp") == "ENOTSOCK"


def test_processes_of_its_own_can_talk(spaces) -> None:
    """As the workers of torch's data loaders do."""
    code = """
    import multiprocessing
    from multiprocessing.connection import Client, Listener
    with Listener() as listener:
        if os.fork() == 0:
            Client(listener.address).send("hello")
            os._exit(0)
        said = listener.accept().recv()
    with multiprocessing.Pool(2) as pool:
        tell([said, pool.map(abs, [-1, -2])])
    """
    assert spaces.told(code) == ["hello", [1, 2]]


def test_clone3_is_as_if_it_did_not_exist(shut) -> None:
    code = f"{CALL}tell(call({number('clone3')}, 0, 0))"
    assert shut.told(code) == "ENOSYS"
    assert shut.told(code, "seccomp") == "EINVAL"


def test_io_uring(shut) -> None:
    code = f"{CALL}tell(call({number('io_uring_setup')}, 1, 0))"
    assert shut.told(code) == "EPERM"
    switch = Path("/proc/sys/kernel/io_uring_disabled")
    if not switch.exists() or switch.read_text().strip() == "0":
        assert shut.told(code, "seccomp") == "EFAULT"


def test_a_plain_users_namespace_has_no_other_in_it(spaces) -> None:
    code = f"{CALL}tell(call({number('unshare')}, 0x10000000))"
    if spaces.user == "user":
        assert spaces.told(code, "seccomp") == "ENOSPC"


def test_the_keeper_can_not_be_looked_into(shut) -> None:
    code = """
    tell([attempt(lambda: open(f"/proc/{os.getppid()}/mem", "r+b")),
          attempt(lambda: open(f"/proc/{os.getppid()}/environ").read())])
    """
    assert shut.told(code) == ["EACCES"] * 2
    assert shut.told(code, "landlock", "user") == ["EACCES"] * 2


def test_own_forks_can_not_look_into_each_other(shut) -> None:
    """What one fork is told, another must not read: they belong to one user."""
    code = """
    secret, first = b"hidden cases", os.getpid()
    if os.fork() == 0:
        tell([attempt(lambda: open(f"/proc/{first}/mem", "rb")),
              attempt(lambda: os.readlink(f"/proc/{first}/fd/0")),
              attempt(lambda: open(f"/proc/{first}/environ").read())])
        os._exit(0)
    wait()
    """
    assert shut.told(code) == ["EACCES"] * 3
    assert shut.told(code, "dumpable", "uid", "user") == ["done"] * 3


CONNECT = """
import socket
def connect(family, address):
    with socket.socket(family) as one:
        one.settimeout(2)
        one.connect(address)
tell(attempt(lambda: connect({family}, {address!r})))
"""
TCP, UNIX = int(socket.AF_INET), int(socket.AF_UNIX)


@pytest.fixture
def listener():
    """Someone who listens on this host."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


def reached(server: socket.socket) -> bool:
    """Whether someone came."""
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def test_the_network_is_out_of_reach(shut, start, listener) -> None:
    code = CONNECT.format(family=TCP, address=listener.getsockname())
    assert shut.told(code) == "EPERM"
    if shut.level == "namespaces":
        assert shut.told(code, "seccomp", "landlock") == "ECONNREFUSED"
    elif landlock.version() >= landlock.TCP_FROM:
        assert shut.told(code, "seccomp") == "EACCES"
    assert not reached(listener)
    open_ = start(shut.level, shut.user, without=("network",))
    assert open_.told(code, "seccomp", "landlock") == "done"
    assert reached(listener)


def test_no_datagram_leaves(shut) -> None:
    code = """
    import socket
    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.sendto(b"x", ("127.0.0.1", 9))
    tell(attempt(send))
    """
    assert shut.told(code) == "EPERM"
    assert shut.told(code, "seccomp") == "done"


def test_sockets_of_this_host_are_out_of_reach(bare, outside) -> None:
    path = outside / "socket"
    with socket.socket(UNIX) as server:
        server.bind(str(path))
        path.chmod(0o777)
        server.listen()
        server.settimeout(0)
        code = CONNECT.format(family=UNIX, address=str(path))
        assert bare.told(code) == "EPERM"
        assert not reached(server)
        assert bare.told(code, "seccomp", "landlock") == "done"
        assert reached(server)


def test_abstract_sockets_are_out_of_reach(shut, start) -> None:
    name = f"\0by-hand-{os.getpid()}"
    with socket.socket(UNIX) as server:
        server.bind(name)
        server.listen()
        server.settimeout(0)
        code = CONNECT.format(family=UNIX, address=name)
        if shut.level == "namespaces":
            assert shut.told(code, "landlock") == "ECONNREFUSED"
        else:
            assert shut.told(code) == "EPERM"
        if landlock.version() >= landlock.SCOPES_FROM:
            assert shut.told(code, "seccomp") in ("EPERM", "ECONNREFUSED")
        assert not reached(server)
        open_ = start(shut.level, shut.user, without=("network",))
        assert open_.told(code, "seccomp", "landlock") == "done"
        assert reached(server)


@pytest.mark.parametrize("abi", [0, 1, 4, 5])
def test_where_landlock_lets_signals_through_seccomp_does_not(bare, abi) -> None:
    code = "tell([attempt(lambda: os.kill(pid, 0)) for pid in (warm, os.getpid())])"
    answer = bare.run(code, abi=abi)
    if abi == 0:
        assert "no Landlock" in answer["error"]
    else:
        own = "EPERM" if bare.user == "user" else "done"
        assert answer["told"] == ["EPERM", own]


# -- the filter itself ----------------------------------------------------------------


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_fits(machine, monkeypatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    for options in ((True, True, True), (True, False, False), (False, True, True)):
        code = seccomp.program(seccomp.rules(*options))
        assert len(code) % 8 == 0
        assert 100 < len(code) // 8 < 4096


def test_on_an_unknown_machine_there_is_no_filter(monkeypatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "z80")
    with pytest.raises(OSError, match="z80"):
        seccomp.program(seccomp.rules(True, True, True))


@pytest.mark.parametrize(
    ("machine", "header", "pattern"),
    [
        (0, "x86_64-linux-gnu/asm/unistd_64.h", r"__NR_(\w+) (\d+)"),
        (1, "asm-generic/unistd.h", r"__NR(?:3264)?_(\w+) (\d+)"),
    ],
)
def test_the_numbers_are_the_kernels(machine, header, pattern) -> None:
    """Compared with the kernel's own table where that is installed."""
    path = Path("/usr/include") / header
    text = path.read_text() if path.exists() else ""
    theirs = {name: int(n) for name, n in re.findall(f"#define {pattern}", text)}
    ours = {
        name: n
        for table in (*syscalls.NEVER, *syscalls.SOMETIMES)
        for name, n in syscalls.numbers(table, machine).items()
    }
    assert len(ours) == len(set(ours.values())) > 100
    wrong = {name for name, n in ours.items() if theirs.get(name, n) != n}
    assert not wrong
