"""Inside the outer jail: the warm process, from which every submission is forked.

    python -m autograder.engine.zygote LEVEL < requests > replies

It imports what notebooks import, computes nothing, holds no answer and never runs a
student's line: it forks, locks the fork in (`layers`), passes orders to the shells in
there, and watches clock, bytes and memory. One request at a time:

    begin  a new submission; its shell is channel 0
    ask    give an order to a channel, pass on what it sends, say how that ended
    hold   the shell of a channel forks; the copy is a channel of its own
    drop   kill the process of a channel
    end    kill everything of the submission
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from . import frames, layers
from .limits import Limits

#: how long nothing may be heard before memory is looked at (s)
WATCH = 0.1
#: what may be said between two frames of text: JSON around it, pictures, small values
SLACK = 2**20


class GoneError(Exception):
    """A channel's process is no more, or had to be stopped; says why."""


@dataclass
class Channel:
    """The warm end of a shell's socket.

    pid    : of the process at the other end, as the kernel knows it
    buffer : bytes that came and are no whole frame yet
    """

    socket: socket.socket
    pid: int = 0
    buffer: bytearray = field(default_factory=bytearray)


class Zygote:
    """The warm process: requests in, replies out."""

    def __init__(self, level: str, gpu: bool, serve: Callable[[int], Any]) -> None:
        self.level, self.gpu, self.serve = level, gpu, serve
        self.requests: BinaryIO = os.fdopen(os.dup(0), "rb")
        self.replies: BinaryIO = os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        self.jailed: layers.Jailed | None = None
        self.channels: list[Channel | None] = []
        self.limits = Limits()

    def run(self) -> None:
        """Answer requests until there are no more, or the grader is gone."""
        with contextlib.suppress(EOFError, BrokenPipeError):
            self.reply({"t": "warm"})
            while True:
                request, blobs = frames.read(self.take)
                try:
                    answer = getattr(self, f"do_{request['do']}")(request, blobs)
                    self.reply(answer)
                except (layers.LayerError, GoneError) as error:
                    self.reply({"t": "end", "why": "failed", "text": str(error)})
        self.do_end({}, [])

    def take(self, n: int) -> bytes:
        """n bytes of the requests."""
        data = self.requests.read(n)
        if len(data) < n:
            raise EOFError
        return data

    def reply(self, head: dict[str, Any], blobs: list[bytes] | None = None) -> None:
        """Send a frame to the grader."""
        self.replies.write(frames.dump(head, blobs))
        self.replies.flush()

    # ----------------------------------------------------------------- the requests

    def do_begin(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Fork and lock in a shell for a submission."""
        self.do_end({}, [])
        self.limits = Limits().but(request["limits"])
        mine, theirs = pair()
        with theirs:
            self.jailed = layers.spawn(
                self.level,
                self.limits,
                int(request["slot"]),
                lambda: self.serve(theirs.fileno()),
                keep=(theirs.fileno(),),
                gpu=self.gpu,
                without=frozenset(request.get("without", [])),
            )
        channel = Channel(mine)
        self.channels = [channel]
        self.greet(channel)
        return {"t": "end", "why": "done", "channel": 0}

    def do_hold(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Fork a channel's shell; the copy becomes the next channel."""
        channel = self.channel(request)
        mine, theirs = pair()
        with theirs:
            try:
                channel.socket.sendall(frames.dump({"do": "hold"}))
                socket.send_fds(channel.socket, [b"h"], [theirs.fileno()])
            except OSError:
                raise GoneError("died") from None
        copy = Channel(mine)
        self.channels.append(copy)
        self.greet(copy)
        for head, _, _ in self.listen(channel, time.monotonic() + self.limits.seconds):
            if head["t"] == "done":
                break
        return {"t": "end", "why": "done", "channel": len(self.channels) - 1}

    def do_ask(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Give an order; pass on every frame; say how it ended."""
        channel = self.channel(request)
        began = time.monotonic()
        why, text, shown = "died", 0, 0
        try:
            order = frames.dump(request["order"], [bytes(blob) for blob in blobs])
            channel.socket.sendall(order)
            until = began + float(request["seconds"])
            for head, blobs_, size in self.listen(channel, until):
                if head["t"] == "done":
                    self.reply(head)
                    why = "done"
                    break
                if head["t"] == "output":
                    text += size
                    picture = "data" in head.get("output", {})
                    limits = self.limits
                    most = limits.pictures * 4 if picture else limits.text_kills
                    shown += size if picture else 0
                    if (shown if picture else text - shown) > most:
                        raise GoneError("output")
                self.reply(head, [bytes(blob) for blob in blobs_])
        except OSError:
            why = "died"
        except GoneError as gone:
            why = str(gone)
        except frames.FrameError:
            why = "output"
        if why != "done":
            self.kill(channel)
        seconds = round(time.monotonic() - began, 4)
        return {"t": "end", "why": why, "seconds": seconds}

    def do_drop(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Kill the process of a channel."""
        self.kill(self.channel(request))
        return {"t": "end", "why": "done"}

    def do_end(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Kill everything of the submission; nothing of it is left afterwards."""
        for channel in self.channels:
            if channel is not None:
                channel.socket.close()
        self.channels = []
        jailed, self.jailed = self.jailed, None
        if jailed is not None:
            jailed.end()
        return {"t": "end", "why": "done"}

    # --------------------------------------------------------------------- channels

    def channel(self, request: dict[str, Any]) -> Channel:
        """The channel that a request names; GoneError when its process is no more."""
        found = self.channels[int(request["channel"])]
        if found is None:
            raise GoneError("died")
        return found

    def greet(self, channel: Channel) -> None:
        """Wait for a new shell's first frame; the kernel says who sent it."""
        until = time.monotonic() + self.limits.seconds
        first, who = self.first(channel, until)
        channel.buffer += first
        for head, _, _ in self.listen(channel, until):
            if head["t"] != "ready":
                raise GoneError("died")
            channel.pid = who or int(head["pid"])
            return
        raise GoneError("died")

    def first(self, channel: Channel, until: float) -> tuple[bytes, int]:
        """The first bytes from a channel, and the sender's process id (0: unknown)."""
        self.wait(channel, until)
        if not hasattr(socket, "SO_PASSCRED"):
            return channel.socket.recv(2**16), 0
        data, extra, _, _ = channel.socket.recvmsg(2**16, socket.CMSG_SPACE(12))
        for level, kind, content in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                return data, struct.unpack("3i", content[:12])[0]
        return data, 0

    def listen(
        self, channel: Channel, until: float
    ) -> Iterator[tuple[dict[str, Any], list[memoryview], int]]:
        """The frames of a channel, each with its size.

        Raises GoneError("died"), GoneError("timeout") or GoneError("memory").
        """
        most = self.limits.value + frames.MAX_JSON
        buffer = channel.buffer
        while True:
            while len(buffer) >= frames.HEAD:
                text, raw = frames.sizes(bytes(buffer[: frames.HEAD]), most)
                if raw > self.limits.value:
                    raise frames.FrameError("a value that is too large")
                whole = frames.HEAD + text + raw
                if len(buffer) < whole:
                    break
                parts = bytes(buffer[frames.HEAD : whole])
                del buffer[:whole]
                head, blobs = frames.load(parts[:text], parts[text:])
                if not isinstance(head.get("t"), str):
                    raise frames.FrameError("a frame without a name")
                yield head, blobs, whole
            self.wait(channel, until)
            try:
                data = channel.socket.recv(2**20)
            except OSError:
                data = b""
            if not data:
                raise GoneError("died")
            buffer += data

    def wait(self, channel: Channel, until: float) -> None:
        """Wait until a channel has bytes; look at the memory now and then."""
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise GoneError("timeout")
            heard = (channel.socket, self.requests)
            ready, _, _ = select.select(heard, [], [], min(left, WATCH))
            if self.requests in ready:  # requests come one by one: this is their end
                raise EOFError
            if ready:
                return
            if self.jailed and self.jailed.memory() > self.limits.memory:
                raise GoneError("memory")

    def kill(self, channel: Channel) -> None:
        """Kill a channel's process and what it has started."""
        channel.socket.close()
        self.channels[self.channels.index(channel)] = None
        pids = self.jailed.pids() if self.jailed else []
        if channel.pid in pids:  # it may be gone, and its number somebody else's
            with contextlib.suppress(OSError):
                os.kill(channel.pid, signal.SIGKILL)


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a socket; the first learns who writes to it."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    if hasattr(socket, "SO_PASSCRED"):
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return mine, theirs


def fonts() -> None:
    """Take over matplotlib's list of fonts, which takes a second to make."""
    home = Path(os.environ.get("MPLCONFIGDIR", ""))
    given = os.environ.pop("BY_HAND_FONTS", "")
    if given and home.name:
        home.mkdir(parents=True, exist_ok=True)
        for path in Path(given).glob("fontlist-*.json"):
            shutil.copy(path, home)


def main() -> None:
    """Warm up, then answer requests."""
    level, gpu = sys.argv[1], "gpu" in sys.argv[2:]
    imports = os.environ.pop("BY_HAND_IMPORTS", "").splitlines()
    fonts()
    from . import shell  # torch, matplotlib and IPython: a second or two

    with contextlib.redirect_stdout(sys.stderr):
        shell.stand_ins()
        keeper = shell.Shell()
        shell.warm_up(imports)
    gc.collect()
    gc.freeze()
    Zygote(level, gpu, keeper.serve).run()


if __name__ == "__main__":
    main()
