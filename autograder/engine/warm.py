"""The grader's end of a warm process: start it, give it work, start it anew."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CourseError
from . import frames, jail
from .limits import Limits

PACKAGE = Path(__file__).parents[1]
#: what the warm process may read of the course's package: nothing that knows answers
READABLE = ("__init__.py", "errors.py", "paths.py", "checking", "engine")
#: how long a warm process may take to start, and to answer beyond a limit (s)
START, GRACE = 120.0, 15.0


class WarmDiedError(Exception):
    """The warm process itself is gone, or silent; what it was doing is lost."""


class NotBegunError(WarmDiedError):
    """A submission could not even be shut in; nothing of it has run."""


@dataclass(frozen=True)
class Reply:
    """What came back for an order.

    frames  : the frames before the last, each with its blobs
    done    : the shell's last frame, {} when it never came
    why     : "done", "timeout", "memory", "output", "garbled" or "died"
    seconds : wall clock
    """

    frames: list[tuple[dict[str, Any], list[memoryview]]]
    done: dict[str, Any]
    why: str
    seconds: float


class Warm:
    """A warm process in its jail. Not for several threads at once.

    level   : see `jail.LEVELS`
    slot    : number of this process among those that run side by side
    imports : import statements to have done already
    without : layers to leave out; for tests of what each is good for, only
    """

    def __init__(
        self,
        level: str,
        slot: int = 0,
        imports: tuple[str, ...] = (),
        gpu: bool = False,
        without: tuple[str, ...] = (),
    ) -> None:
        self.level, self.slot, self.gpu = level, slot, gpu
        self.imports, self.without = imports, without
        self.process: subprocess.Popen[bytes] | None = None
        self.said: Any = None
        self.scratch: tempfile.TemporaryDirectory[str] | None = None
        self.heard = bytearray()

    def start(self) -> None:
        """Start the process and wait until it is warm; nothing if it is already.

        Raises CourseError, with what it said, when it does not start.
        """
        if self.process is not None and self.process.poll() is None:
            return
        argv = [sys.executable, "-m", "autograder.engine.zygote", self.level]
        own = self.level in ("namespaces", "container")  # there /tmp is its own
        self.scratch = None if own else tempfile.TemporaryDirectory(prefix="by-hand-")
        home = self.scratch.name if self.scratch else "/tmp"
        extra = {
            "BY_HAND_IMPORTS": "\n".join(self.imports),
            "BY_HAND_FONTS": str(fonts()[0]) if fonts() else "",
            "BY_HAND_SCRATCH": self.scratch.name if self.scratch else "",
            "MPLCONFIGDIR": f"{home}/matplotlib",
            "IPYTHONDIR": f"{home}/ipython",
        }
        command, env = jail.command(
            self.level,
            argv + (["gpu"] if self.gpu else []),
            [PACKAGE / name for name in READABLE] + fonts(),
            self.gpu,
            extra,
        )
        self.said = tempfile.TemporaryFile()  # noqa: SIM115
        self.heard.clear()
        self.process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            start_new_session=True,
        )
        try:
            self._read(time.monotonic() + START)
            self._try()
        except WarmDiedError as error:
            self.stop()
            self.said.seek(0)
            words = self.said.read()[-2000:].decode("utf-8", "replace").strip()
            words = words or str(error)
            raise CourseError(
                f"the process that runs submissions ({self.level}) does not start:\n"
                f"{words}",
                "see `python -m autograder doctor`; another way: --isolation LEVEL",
            ) from None

    def _try(self) -> None:
        """See that a submission can run: a cell that must work.

        Raises WarmDiedError when it does not.
        """
        with self.submission(Limits(), {"given.txt": b"1"}) as session:
            source = "import secrets\nassert open('given.txt').read() == '1'"
            reply = session.ask(0, {"do": "cell", "source": source}, START)
        if not reply.done.get("ok"):
            said = reply.done.get("text") or reply.why
            raise WarmDiedError(f"a cell that must work does not: {said}")

    def stop(self) -> None:
        """Stop the process, and with it everything that it has forked."""
        process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, 9)
            process.wait()
        assert process.stdout is not None
        process.stdout.close()
        if self.scratch is not None:  # where it could not do this itself
            self.scratch.cleanup()

    # ------------------------------------------------------------------ submissions

    @contextlib.contextmanager
    def submission(
        self, limits: Limits, files: dict[str, bytes]
    ) -> Iterator[Submission]:
        """A jail for one submission; when the block ends, nothing of it is left."""
        self.start()
        request = {
            "do": "begin",
            "slot": self.slot,
            "limits": limits.as_dict(),
            "without": list(self.without),
        }
        reply = self.request(request, [], limits.seconds)
        if reply.why != "done":
            self.stop()
            raise NotBegunError(reply.done.get("text", "no shell could be started"))
        session = Submission(self, limits)
        try:
            order = {"do": "files", "names": list(files)}
            session.ask(0, order, limits.seconds, list(files.values()))
            yield session
        finally:
            if self.process is not None:
                self.request({"do": "end"}, [], limits.seconds)

    def request(
        self, head: dict[str, Any], blobs: list[bytes], seconds: float
    ) -> Reply:
        """Send a request and read frames until its end.

        Raises WarmDiedError; the process is stopped then, and starts anew next time.
        """
        if self.process is None:
            raise WarmDiedError("it was stopped")
        assert self.process.stdin is not None
        until = time.monotonic() + seconds + GRACE
        try:
            self.process.stdin.write(frames.dump(head, blobs))
            self.process.stdin.flush()
            before: list[tuple[dict[str, Any], list[memoryview]]] = []
            done: dict[str, Any] = {}
            while True:
                answer, raw = self._read(until)
                if answer["t"] == "end":
                    why = answer["why"]
                    done = done or answer
                    return Reply(before, done, why, answer.get("seconds", 0.0))
                if answer["t"] == "done":
                    done = answer
                else:
                    before.append((answer, raw))
        except (OSError, WarmDiedError, frames.FrameError) as error:
            self.stop()
            raise WarmDiedError(str(error)) from None

    def _read(self, until: float) -> tuple[dict[str, Any], list[memoryview]]:
        return frames.read(lambda n: self._take(n, until))

    def _take(self, n: int, until: float) -> bytes:
        """n bytes of what the process says; more are kept for the next time."""
        assert self.process is not None and self.process.stdout is not None
        handle = self.process.stdout.fileno()
        while len(self.heard) < n:
            left = until - time.monotonic()
            if left <= 0 or not select.select([handle], [], [], left)[0]:
                raise WarmDiedError("it does not answer")
            part = os.read(handle, 2**20)
            if not part:
                raise WarmDiedError("it ended")
            self.heard += part
        taken = bytes(self.heard[:n])
        del self.heard[:n]
        return taken


class Submission:
    """One submission's jail: channels of shells, and a clock for all of it."""

    def __init__(self, warm: Warm, limits: Limits) -> None:
        self.warm, self.limits = warm, limits
        self.until = time.monotonic() + limits.submission

    @property
    def left(self) -> float:
        """Seconds that this submission still has."""
        return self.until - time.monotonic()

    def ask(
        self,
        channel: int,
        order: dict[str, Any],
        seconds: float,
        blobs: list[bytes] | None = None,
        last: bool = False,
    ) -> Reply:
        """Give an order to a shell, within the seconds that are left.

        last : kill the shell when it has carried out the order
        """
        seconds = min(seconds, self.left)
        if seconds <= 0:
            return Reply([], {}, "late", 0.0)
        head = {
            "do": "ask",
            "channel": channel,
            "order": order,
            "seconds": seconds,
            "last": last,
        }
        reply = self.warm.request(head, blobs or [], seconds)
        if reply.why == "failed":
            return Reply([], {}, "died", 0.0)
        return reply

    def hold(self, channel: int) -> tuple[int | None, str]:
        """Fork a shell: the number of the copy, or None and why there is none."""
        seconds = min(self.limits.seconds, max(self.left, 0.1))
        head = {"do": "hold", "channel": channel, "seconds": seconds}
        reply = self.warm.request(head, [], seconds)
        if reply.why != "done":
            return None, "died" if reply.why == "failed" else reply.why
        return int(reply.done["channel"]), "done"

    def drop(self, channel: int, strays: bool = False) -> None:
        """Kill a shell that is not needed any more.

        strays : kill as well all that cells have started and left behind
        """
        head = {"do": "drop", "channel": channel, "all": strays}
        self.warm.request(head, [], self.limits.seconds)


def fonts() -> list[Path]:
    """Where matplotlib keeps its list of fonts on this machine, if it is there."""
    home = Path(os.environ.get("MPLCONFIGDIR") or "~/.cache/matplotlib").expanduser()
    return [home] if list(home.glob("fontlist-*.json")) else []
