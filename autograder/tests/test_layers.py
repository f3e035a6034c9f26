"""Every wall holds, and each test turns red without its wall."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from autograder.engine import jail


class Warm:
    """A warm process behind the outer wall, that runs pieces of code inside."""

    def __init__(self, level: str) -> None:
        self.level = level
        words, env = jail.command(
            level, [sys.executable, "-m", "autograder.tests.walls"], []
        )
        self.process = subprocess.Popen(
            words,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def run(
        self, code: str, without: tuple[str, ...] = (), gpu=False, **limits
    ) -> dict:
        job = {
            "level": self.level,
            "code": code,
            "limits": limits,
            "without": without,
            "gpu": gpu,
        }
        self.process.stdin.write(json.dumps(job) + "\n")
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(20)


@pytest.fixture(scope="module", params=["namespaces", "none"])
def warm(request):
    process = Warm(request.param)
    yield process
    process.close()


def test_the_folder_is_empty_and_one_may_work_there(warm) -> None:
    answer = warm.run(
        """
        import os
        open("mine", "w").write("x")
        tell([os.listdir("."), os.getcwd() == os.environ["HOME"]])
        """
    )
    assert answer["told"] == [["mine"], True]
    assert answer["left"] == []


def test_daemons_are_gone_in_the_end(warm) -> None:
    answer = warm.run(
        """
        import os
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                tell("the daemon is there")
                wait()
            os._exit(0)
        """
    )
    assert answer["told"] == "the daemon is there"
    assert answer["left"] == []


def test_only_own_processes_are_seen() -> None:
    warm = Warm("namespaces")
    seen = warm.run("import os; tell([p for p in os.listdir('/proc') if p.isdigit()])")
    assert seen["told"] == ["1", "2"]
    assert len(os.listdir("/proc")) > 2
    warm.close()
