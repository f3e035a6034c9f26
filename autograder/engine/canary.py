"""The canary: a harmless prisoner that tries every way out, before others are let in.

Outside, `sing` lays out what must stay out of reach (a secret file, a file to spoil, a
listening socket, a process to kill), and starts this module behind the walls; there it
tries to reach each of them and says what it could do.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Start = Callable[[list[str], list[Path]], tuple[list[str], dict[str, str]]]

SECONDS = 60  # for a container that has to wake up


@dataclass(frozen=True)
class Outside:
    """What the canary must not reach.

    secret : a file to read; spoil: a file to write; port: where someone listens;
    pid    : a process to kill
    """

    secret: str
    spoil: str
    port: int
    pid: int


@contextmanager
def outside() -> Iterator[Outside]:
    """Lay everything out, and clear it away afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="by-hand-canary-") as name,
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=-1) as victim,
    ):
        folder = Path(name)
        folder.chmod(0o777)
        secret, spoil = folder / "secret", folder / "spoil"
        for path in (secret, spoil):
            path.write_text("untouched")
            path.chmod(0o666)
        try:
            yield Outside(
                str(secret), str(spoil), listener.getsockname()[1], victim.pid
            )
            if spoil.read_text() != "untouched":
                raise EscapeError("it could write a file outside")
            if victim.poll() is not None:
                raise EscapeError("it could kill a process outside")
        finally:
            victim.kill()


class EscapeError(Exception):
    """The canary got out, or did not come through alive."""


def sing(start: Start, level: str, without: tuple[str, ...] = ()) -> None:
    """Let the canary try a level; `start` is `jail.command` for it.

    without: layers to leave out, for tests of the canary

    Raises EscapeError, with what the system said, when a wall is missing or can't be
    built.
    """
    try:
        with outside() as things:
            told = json.dumps({"level": level, "without": without, **vars(things)})
            argv = [sys.executable, "-m", f"{__package__}.canary", told]
            words, env = start(argv, [])
            done = subprocess.run(
                words,
                env=env,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                stdin=subprocess.DEVNULL,
            )
            judge(done)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EscapeError(f"it does not start: {error}") from None


def judge(done: subprocess.CompletedProcess[str]) -> None:
    """Raise EscapeError unless the canary came back and could do nothing."""
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise EscapeError(said[-1])
    try:
        could = [str(thing) for thing in json.loads(done.stdout)]
    except (ValueError, TypeError):
        raise EscapeError(f"it said {done.stdout[:80]!r}") from None
    if could:
        raise EscapeError("it could " + ", ".join(could))


def escapes(things: dict[str, Any]) -> Iterator[str]:
    """The ways out that are open, as what could be done."""
    for name, attempt in attempts(things).items():
        try:
            attempt()
        except OSError:
            continue
        yield name


def attempts(things: dict[str, Any]) -> dict[str, Callable[[], object]]:
    """Every way out, by what it would be to succeed."""
    return {
        "read a file outside": lambda: Path(things["secret"]).read_bytes(),
        "write a file outside": lambda: Path(things["spoil"]).write_text("spoilt"),
        "make a socket": lambda: socket.socket().close(),
        "reach the network": lambda: reach(things["port"]),
        "see a process outside": lambda: look(things["pid"]),
        "kill a process outside": lambda: kill(things["pid"]),
        "kill the warm process": lambda: kill(things["warm"], 0),
        "start any number of processes": multiply,
    }


def reach(port: int) -> None:
    """Connect to a port of this host."""
    socket.create_connection(("127.0.0.1", port), timeout=2).close()


def look(pid: int) -> None:
    """See what a process was called with."""
    if b"input()" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        raise OSError("another process has that number here")


def kill(pid: int, number: int = 9) -> None:
    """Send a signal, if to the process meant: in a namespace numbers are others'."""
    if pid in (os.getpid(), os.getppid()):
        raise OSError("another process has that number here")
    os.kill(pid, number)


def multiply() -> None:
    """Start one process more than one may: of root's the kernel counts none."""
    import resource  # not on Windows, where this file is imported all the same

    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def works() -> Iterator[str]:
    """What a submission needs and does not have, as what it could not do."""
    home = sys.base_prefix
    if not os.access(home, os.R_OK | os.X_OK):
        yield f"not read its Python in {home}: other users may not enter there"
        return
    try:
        import colorsys  # noqa: F401  (a module that nobody has imported yet)
    except (ImportError, OSError) as error:
        yield f"not import what it needs ({error})"
    try:
        Path("mine").write_text("works")
    except OSError as error:
        yield f"not write in its own folder ({error})"
    try:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    except OSError as error:
        yield f"not fork ({error})"


def main() -> None:
    """Behind the outer wall: shut a canary in, and print what it could do."""
    from . import layers
    from .limits import Limits

    things = json.loads(sys.argv[1])
    things["warm"] = os.getpid()
    ours, theirs = socket.socketpair()

    def canary() -> None:
        could: list[str] = []
        try:
            could += works()
            could += escapes(things)
        except Exception as error:
            could.append(f"not live ({type(error).__name__}: {error})")
        theirs.sendall(json.dumps(could).encode())

    jailed = layers.spawn(
        things["level"],
        Limits(),
        0,
        canary,
        keep=(theirs.fileno(),),
        without=frozenset(things["without"]),
    )
    theirs.close()
    with ours.makefile() as answer:
        text = answer.read()
    jailed.end()
    print(text or json.dumps(["not live"]))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(f"{error}")
