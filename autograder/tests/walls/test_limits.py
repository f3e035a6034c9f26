"""What the kernel counts for a submission, and what the warm process sees of it."""

from __future__ import annotations

import pytest

MIB = 1 << 20


def test_memory_has_a_limit(shut) -> None:
    code = (
        "try: bytearray({size}); tell('had it')\nexcept MemoryError: tell('too much')"
    )
    limits = {"memory": 512 * MIB}
    assert shut.told(code.format(size=300 * MIB), limits=limits) == "had it"
    assert shut.told(code.format(size=520 * MIB), limits=limits) == "too much"
    assert shut.told(code.format(size=520 * MIB), "memory", limits=limits) == "had it"
    assert shut.told(code.format(size=520 * MIB), limits=limits, gpu=True) == "had it"


@pytest.mark.slow
def test_processor_time_has_a_limit(spaces) -> None:
    code = "tell('begun')\nwhile True: pass"
    answer = spaces.run(code, limits={"submission": 0.5}, wait=True)
    assert answer["fate"] == -24  # SIGXCPU


def test_small_things(shut) -> None:
    code = """
    import resource
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    tell({
        "score": int(open("/proc/self/oom_score_adj").read()),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        "core": resource.getrlimit(resource.RLIMIT_CORE)[1],
        "umask": oct(os.umask(0)),
        "alone": int(status["NoNewPrivs"]),
        "filters": int(status["Seccomp"]),
        "capabilities": [int(status[f"Cap{x}"], 16) for x in
                         ("Inh", "Prm", "Eff", "Bnd", "Amb")],
    })
    """
    assert shut.told(code) == {
        "score": 1000,
        "files": 256,
        "core": 0,
        "umask": "0o77",
        "alone": 1,
        "filters": 2,
        "capabilities": [0] * 5 if can_bound(shut) else [0, 0, 0, shut_bound(shut), 0],
    }
    off = ("score", "privileges", "seccomp", "landlock", "capabilities", "uid", "user")
    without = shut.told(code, *off)
    assert without["score"] == 0
    assert without["alone"] == (shut.level == "namespaces")  # bubblewrap sets it too
    assert without["filters"] == 0


def can_bound(warm) -> bool:
    """Whether it may lower what programs could ever gain (a plain user may not)."""
    return warm.level == "namespaces" or warm.user == "root"


def shut_bound(warm) -> int:
    """What a plain user's programs could gain: nothing, with no_new_privs."""
    code = "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
    return warm.told(code + "tell(int(status['CapBnd'], 16))")


def test_capabilities_are_missed_when_kept(spaces) -> None:
    code = """
    from autograder.engine import kernel
    tell(attempt(lambda: kernel.mount("tmpfs", os.getcwd(), "tmpfs", 0)))
    """
    assert spaces.told(code) == "EPERM"
    assert spaces.told(code, "seccomp", "landlock") == "EPERM"
    kept = ("seccomp", "landlock", "uid", "user", "capabilities")
    assert spaces.told(code, *kept) == "done"


def test_it_is_another_user(shut) -> None:
    code = "tell([os.getuid(), os.geteuid(), os.getgid(), os.getgroups()])"
    uid, *rest = shut.told(code)
    assert uid != 0
    assert rest[:2] == [uid, uid]
    if shut.user == "root":
        assert uid >= 1_900_000_000
        assert rest[2] == []
        assert shut.told(code, "uid", "user")[0] == 0
    else:
        assert shut.told(code, "user")[0] == (0 if shut.level == "namespaces" else uid)


HOLD = """
def hold(megabytes):
    global held
    held = b"x" * (megabytes << 20)
"""


def test_memory_of_children_is_counted(any_level) -> None:
    code = HOLD + "import time\nif os.fork() == 0: hold(150); tell('held')\nwait()"
    answer = any_level.run(code)
    assert answer["left"] == []
    assert 150 * MIB <= answer["memory"] < 250 * MIB
    assert any_level.run("tell(1); wait()")["memory"] < 50 * MIB


def test_what_forks_share_is_counted_once(any_level) -> None:
    code = HOLD + "hold(150)\nif os.fork() and os.fork() and os.fork(): tell(1)\nwait()"
    assert 150 * MIB <= any_level.run(code)["memory"] < 250 * MIB


def test_what_a_fork_makes_its_own_is_counted(any_level) -> None:
    code = (
        "held = bytearray(100 << 20)\n"
        "for n in range(0, len(held), 4096): held[n] = 1\n"
        "if os.fork() == 0:\n"
        "    for n in range(0, len(held), 4096): held[n] = 2\n"
        "    tell('changed')\n"
        "wait()"
    )
    assert 200 * MIB <= any_level.run(code)["memory"] < 280 * MIB


def test_when_it_matters_it_is_counted_exactly(spaces) -> None:
    """Memory given back and asked for again is not held twice, nor what is shared."""
    code = HOLD + (
        "hold(100)\n"
        "if os.fork() == 0:\n"
        "    for _ in range(3): churn = b'y' * (60 << 20); del churn\n"
        "    tell('done')\n"
        "wait()"
    )
    high = spaces.run(code)["memory"]
    exact = spaces.run(code, "memory", limits={"memory": 110 * MIB})["memory"]
    assert high > 150 * MIB
    assert 100 * MIB <= exact < 130 * MIB
