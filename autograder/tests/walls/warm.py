"""Runs pieces of code behind the walls, for the tests.

    python warm.py outer SETTINGS   takes the place of the warm process (see `Warm`)
    python warm.py inner            is the warm process: a job a line, an answer a line

In a piece of code, `tell(value)` is what the test gets to see, `attempt(what)` says
what came of a call, `wait()` stays until the end, and `warm` is the warm process.
"""

from __future__ import annotations

import errno
import json
import os
import select
import socket
import subprocess
import sys
import textwrap
import time
import traceback
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).parents[3]
NOBODY = 65534


def attempt(what: Callable[[], object]) -> str:
    """What came of it: "done", or the name of the error."""
    try:
        what()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    return "done"


def fails(*_: object) -> None:
    """In place of something that works."""
    raise OSError("it is broken")


def job(
    level: str,
    code: str,
    limits: dict | None = None,
    without: tuple[str, ...] = (),
    gpu: bool = False,
    end: bool = True,
    wait: bool = False,
    abi: int | None = None,
    broken: str = "",
) -> dict:
    """What the code told, and what was to be seen of it from outside.

    end  : end it then, or else leave it running
    wait : until it has ended by itself
    abi  : as if the kernel had only that version of Landlock
    broken : a function of `locks` that fails
    """
    from autograder.engine import landlock, layers, locks
    from autograder.engine.limits import Limits

    if abi is not None:
        have, landlock.version = landlock.version, lambda: abi
        try:
            return job(level, code, limits, without, gpu, end, wait)
        finally:
            landlock.version = have
    if broken:
        whole = getattr(locks, broken)
        setattr(locks, broken, fails)
        try:
            return job(level, code, limits, without, gpu, end, wait)
        finally:
            setattr(locks, broken, whole)
    warm = os.getpid()
    ours, theirs = socket.socketpair()

    def main() -> None:
        def tell(value: object) -> None:
            theirs.sendall(json.dumps(value).encode() + b"\n")

        names = {"tell": tell, "attempt": attempt, "warm": warm}
        names |= {"wait": lambda: time.sleep(60), "os": os, "Path": Path}
        try:
            exec(textwrap.dedent(code), {"__name__": "code", **names})
        except BaseException:
            tell({"raised": traceback.format_exc()})
            raise

    try:
        jailed = layers.spawn(
            level,
            Limits().but(limits or {}),
            0,
            main,
            (theirs.fileno(),),
            gpu,
            frozenset(without),
        )
    except layers.LayerError as error:
        return {"error": str(error)}
    theirs.close()
    heard = b""
    while not heard.endswith(b"\n") and select.select([ours], [], [], 30)[0]:
        piece = ours.recv(1 << 16)
        if not piece:
            break
        heard += piece
    if not end:
        return {"told": json.loads(heard)}
    while wait and jailed.fate() is None:
        time.sleep(0.001)
    inside = jailed.pids()
    answer = {
        "told": json.loads(heard.splitlines()[0]) if heard else None,
        "processes": len(inside),
        "memory": jailed.memory(),
        "fate": jailed.fate(),
    }
    jailed.end()
    answer["left"] = [pid for pid in inside if Path(f"/proc/{pid}").exists()]
    return answer


class Warm:
    """A warm process that runs pieces of code; started as a user, behind a level.

    user    : "root" or "user"; to be a plain user root becomes nobody
    python  : the interpreter
    project : the folder in which the package lies
    readable, extra, without: as for `jail.command`
    """

    def __init__(
        self,
        level: str,
        user: str = "root",
        python: str = sys.executable,
        project: Path = PROJECT,
        readable: tuple[Path, ...] = (),
        extra: dict | None = None,
        without: tuple[str, ...] = (),
    ) -> None:
        self.level, self.user = level, user
        settings = {
            "level": level,
            "readable": [str(path) for path in readable],
            "extra": extra,
            "without": without,
        }
        here = project / "autograder/tests/walls/warm.py"
        self.process = subprocess.Popen(
            [*become(user), python, str(here), "outer", json.dumps(settings)],
            env={**os.environ, "PYTHONPATH": str(project)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            cwd="/",
        )

    def run(self, code: str, *without: str, limits: dict | None = None, **more) -> dict:
        """Run a piece of code without some layers; what `job` answers."""
        task = {"level": self.level, "code": code, "limits": limits, "without": without}
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({**task, **more}) + "\n")
        return json.loads(self.process.stdout.readline())

    def told(self, code: str, *without: str, **more) -> object:
        """What the code told; nothing may be left of it."""
        answer = self.run(code, *without, **more)
        assert answer.get("left") == [], answer
        return answer["told"]

    def close(self) -> None:
        """End it, as the grader does: by saying nothing more."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(20)


def become(user: str) -> list[str]:
    """What a command needs in front to be run by that user."""
    if user == "root" or os.geteuid() != 0:
        return []
    number = str(NOBODY)
    words = ["setpriv", "--reuid", number, "--regid", number, "--clear-groups"]
    return [*words, "env"]  # setpriv itself still reaches what only root may start


def outer(settings: dict) -> None:
    """Become the warm process behind the outer wall."""
    from autograder.engine import jail

    words, env = jail.command(
        settings["level"],
        [sys.executable, __file__, "inner"],
        [Path(__file__), *map(Path, settings["readable"])],
        extra=settings["extra"],
        without=frozenset(settings["without"]),
    )
    os.execvpe(words[0], words, env)


if __name__ == "__main__":
    if sys.argv[1] == "outer":
        outer(json.loads(sys.argv[2]))
    for line in sys.stdin:
        print(json.dumps(job(**json.loads(line))), flush=True)
