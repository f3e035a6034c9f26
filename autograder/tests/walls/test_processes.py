"""Processes: all are ended, few may run at a time, and others are out of reach."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from autograder.engine import processes
from autograder.tests.walls.conftest import USERS
from autograder.tests.walls.warm import become

DAEMON = """
import signal
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        tell("the daemon is there")
        wait()
    os._exit(0)
os.wait()
os._exit(0)
"""


def test_daemons_are_seen_and_gone_in_the_end(any_level) -> None:
    answer = any_level.run(DAEMON)
    assert answer["told"] == "the daemon is there"
    assert answer["processes"] >= 2  # with the keeper
    assert answer["left"] == []


ROOM = 40  # others of the same user may come and go meanwhile


def living(pids: set[int]) -> list[int]:
    """Those that still run."""
    return [pid for pid in pids if (one := processes.look(pid)) and one.alive]


@pytest.mark.parametrize("way", ["children", "/proc", "ps"])
def test_every_way_to_find_them(monkeypatch, way) -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo; wait"], stdout=-1) as shell:
        shell.stdout.readline()
        if way != "children":
            monkeypatch.setattr(processes, "children_are_listed", lambda: False)
        if way == "ps":
            monkeypatch.setattr(processes, "PROC", Path("/nowhere"))
        found = processes.descendants(os.getpid())
        assert shell.pid in found
        ours = [p for p, q in processes.processes().items() if q.parent == os.getpid()]
        assert set(ours) <= found
        assert len(processes.descendants(shell.pid)) == 1
        assert processes.look(shell.pid).parent == os.getpid()
        processes.end_descendants(shell.pid)
        shell.kill()
        shell.wait()
        assert not living(processes.descendants(shell.pid) | {shell.pid})


@pytest.mark.parametrize("number", [9, 19])
@pytest.mark.parametrize("user", USERS)
def test_where_nothing_protects_the_keeper_it_is_replaced(kept, user, number) -> None:
    code = f"""
    keeper = os.getppid()
    if os.fork() == 0:
        os.setsid()
        tell(attempt(lambda: os.kill(keeper, {number})))
    wait()
    """
    warm = kept("none", user)
    answer = warm.run(code)
    assert answer["told"] == "done"
    assert answer["left"] == []
    assert warm.told("tell('the next one runs')") == "the next one runs"


@pytest.mark.parametrize("code", [DAEMON, "tell('the daemon is there')"])
@pytest.mark.parametrize("who", ["the grader", "the warm process"])
def test_nothing_outlives_who_started_it(start, shut, who, code) -> None:
    warm = start(shut.level, shut.user)
    folder = warm.told("tell(os.getcwd())")
    assert warm.run(code, end=False)["told"] == "the daemon is there"
    top = warm.process.pid
    inside = processes.descendants(top)
    assert inside
    if who == "the grader" or shut.level == "landlock":
        os.kill(top, signal.SIGKILL)
    else:
        os.kill(min(inside), signal.SIGKILL)
    warm.process.wait()
    for _ in range(1000):
        if not living(inside):
            break
        time.sleep(0.01)
    assert not living(inside)
    assert not list(Path(folder).parent.glob(f"by-hand-{top}-*"))


def test_a_fork_bomb_ends(shut) -> None:
    code = """
    children = 0
    try:
        while children < 500:
            if os.fork() == 0:
                wait()
            children += 1
    except BlockingIOError:
        pass
    tell(children)
    wait()
    """
    most = 8 * (1 + min(8, os.cpu_count() or 1)) + ROOM
    assert 6 <= shut.told(code, limits={"processes": 8}) <= most
    code = code.replace("500", str(most + 2))
    assert shut.told(code, "processes", limits={"processes": 8}) == most + 2


def test_a_thread_bomb_ends(shut) -> None:
    code = """
    import threading, time
    count = 0
    try:
        while count < 150:
            threading.Thread(target=time.sleep, args=[60], daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    tell(count)
    """
    most = 8 * (1 + min(8, os.cpu_count() or 1)) + ROOM
    assert 6 <= shut.told(code, limits={"processes": 8}) <= most
    code = code.replace("150", str(most + 2))
    assert shut.told(code, "processes", limits={"processes": 8}) == most + 2


def test_a_bomb_that_does_not_stop_is_ended(shut) -> None:
    code = """
    tell("lit")
    while True:
        try: os.fork()
        except OSError: pass
    """
    answer = shut.run(code, limits={"processes": 16})
    assert answer["told"] == "lit"
    assert answer["left"] == []
    assert shut.told("tell('the next one runs')") == "the next one runs"


def test_only_its_own_processes_are_seen(spaces) -> None:
    code = "tell(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))"
    assert spaces.told(code) == [1, 2]
    assert len(spaces.told(code, "pid")) > 2
    assert len(spaces.told(code, "mount")) > 2


def test_other_processes_can_not_be_looked_at(bare) -> None:
    code = """
    tell([attempt(lambda: open(f"/proc/{warm}/cmdline")),
          attempt(lambda: os.listdir("/proc"))])
    """
    assert bare.told(code) == ["EACCES", "EACCES"]
    assert bare.told(code, "landlock") == ["done", "done"]


def test_no_signal_reaches_the_warm_process(bare) -> None:
    code = "tell(attempt(lambda: os.kill(warm, 0)))"
    assert bare.told(code) == "EPERM"
    assert bare.told(code, "landlock", "uid", "capabilities", "seccomp") == "done"


def test_every_wall_alone_keeps_signals_from_it(bare) -> None:
    code = "tell(attempt(lambda: os.kill(warm, 0)))"
    walls = {"landlock", "uid" if bare.user == "root" else "seccomp"}
    for wall in walls:
        assert bare.told(code, *(walls - {wall}), "capabilities") == "EPERM", wall


def test_no_signal_leaves_the_namespace(spaces, start) -> None:
    open_ = start("namespaces", spaces.user, without=("pid",))
    with subprocess.Popen([*become(spaces.user), "sleep", "60"]) as victim:
        code = f"tell(attempt(lambda: os.kill({victim.pid}, 0)))"
        assert spaces.told(code) == "ESRCH"
        off = ("pid", "mount", "user", "uid", "capabilities", "landlock", "seccomp")
        assert open_.told(code, *off) == "done"
        victim.kill()


def test_the_keeper_can_not_be_ended_from_inside(shut) -> None:
    code = """
    import time
    keeper = os.getppid()
    for number in (15, 2, 1, 9, 19):
        attempt(lambda: os.kill(keeper, number))
    time.sleep(0.05)
    tell(os.getppid() == keeper)
    wait()
    """
    assert shut.told(code) is True
