"""Inside the outer jail: the warm process, from which every submission is forked.

    python -m autograder.engine.zygote LEVEL < requests > replies

It imports what notebooks import, computes nothing, holds no answer and never runs a
student's line: it forks, locks the fork in (`layers`), passes orders to the shells in
there, and watches clock, bytes and memory. One request at a time:

    begin  a new submission, with a broker of its own; its shell is channel 0
    ask    give an order to a channel, pass on what it sends, say how that ended;
           with `last`, kill its process then
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
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from . import frames, layers, pages
from .channel import Channel, Frame, GoneError, pair
from .limits import Limits

#: how often memory is looked at, and how long killed processes are waited for (s)
WATCH, SWEEP = 0.1, 5.0
#: the cases of one check, and what their values may have together, in values
CASES, VALUES = 1000, 8


DONE = {"t": "end", "why": "done"}
FAILED = {"t": "end", "why": "failed", "text": "no submission runs"}


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
        self.look = 0.0

    def run(self) -> None:
        """Answer requests until there are no more, or the grader is gone.

        Each submission has a broker, a fork that answers from its beginning to its
        end. What passes through the broker's memory is gone with it: nothing of one
        submission is left where the next one is forked from.
        """
        with contextlib.suppress(EOFError, BrokenPipeError):
            self.reply({"t": "warm"})
            while True:
                request, _ = frames.read(self.take)
                if request["do"] != "begin":
                    self.reply(FAILED)
                    continue
                broker = os.fork()
                if broker == 0:
                    self.serve_one(request)
                _, status = os.waitpid(broker, 0)
                self.reply(FAILED if status else DONE)

    def serve_one(self, request: dict[str, Any]) -> NoReturn:
        """Answer the requests of one submission but the last: its end is ours."""
        code = 1
        try:
            blobs: list[memoryview] = []
            while request["do"] != "end":
                try:
                    answer = getattr(self, f"do_{request['do']}")(request, blobs)
                except (layers.LayerError, GoneError) as error:
                    answer = {**FAILED, "text": str(error)}
                self.reply(answer)
                request, blobs = frames.read(self.take)
            self.do_end(request, blobs)
            code = 0
        except (EOFError, BrokenPipeError):  # the grader is gone
            self.do_end({}, [])
            code = 0
        finally:
            os._exit(code)

    def take(self, n: int) -> bytes:
        """n bytes of the requests."""
        data = self.requests.read(n)
        if len(data) < n:
            raise EOFError
        return data

    def reply(self, head: dict[str, Any]) -> None:
        """Send a frame to the grader."""
        self.replies.write(frames.dump(head))
        self.replies.flush()

    # ----------------------------------------------------------------- the requests

    def do_begin(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Fork and lock in a shell for a submission."""
        self.do_end({}, [])
        self.limits = Limits().but(request["limits"])
        self.look = time.monotonic() + WATCH
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
        self.greet(channel, time.monotonic() + self.limits.seconds)
        return {"t": "end", "why": "done", "channel": 0}

    def do_hold(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Fork a channel's shell; the copy becomes the next channel."""
        channel = self.channel(request)
        mine, theirs = pair()
        copy = Channel(mine)
        self.channels.append(copy)
        until = time.monotonic() + float(request["seconds"])
        try:
            with theirs:
                channel.send(frames.dump({"do": "hold"}), until)
                socket.send_fds(channel.socket, [b"h"], [theirs.fileno()])
            self.greet(copy, until)
            for head, _ in self.listen(channel, until):
                if head["t"] == "done":
                    break
        except (OSError, GoneError) as error:
            why = str(error) if isinstance(error, GoneError) else "died"
            self.kill(copy)
            self.kill(channel)
            self.sweep()
            return {"t": "end", "why": why}
        return {"t": "end", "why": "done", "channel": len(self.channels) - 1}

    def do_ask(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Give an order; pass on every frame; say how it ended."""
        channel = self.channel(request)
        began = time.monotonic()
        until = began + float(request["seconds"])
        why = "done"
        try:
            order = frames.dump(request["order"], [bytes(blob) for blob in blobs])
            channel.send(order, until)
            self.pass_on(channel, until)
        except OSError:
            why = "died"
        except GoneError as gone:
            why = str(gone)
        if why != "done" or request.get("last"):
            self.kill(channel)
        if why != "done":
            self.sweep()
        seconds = round(time.monotonic() - began, 4)
        return {"t": "end", "why": why, "seconds": seconds}

    def pass_on(self, channel: Channel, until: float) -> None:
        """Pass on what a shell sends on an order, up to its last frame.

        Raises GoneError.
        """
        text = pictures = cases = values = 0
        for head, frame in self.listen(channel, until):
            if head["t"] == "ready":
                raise GoneError("garbled")
            if head["t"] == "case":
                cases, values = cases + 1, values + len(frame)
            elif head["t"] == "output":
                picture = "data" in head["output"]
                pictures += len(frame) if picture else 0
                text += 0 if picture else len(frame)
            if (
                text > self.limits.text_kills
                or pictures > self.limits.pictures * 4
                or cases > CASES
                or values > self.limits.value * VALUES
            ):
                raise GoneError("output")
            self.replies.write(frame)
            if head["t"] == "done":
                return

    def do_drop(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Kill the process of a channel; with `all`, what it has started too."""
        self.kill(self.channel(request))
        if request.get("all"):
            self.sweep()
        return {"t": "end", "why": "done"}

    def do_end(self, request: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Kill everything of the submission; nothing of it is left afterwards."""
        for channel in self.channels:
            if channel is not None:
                channel.close()
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

    def greet(self, channel: Channel, until: float) -> None:
        """Wait for a new shell's first frame; the kernel says who sent it.

        Raises GoneError.
        """
        self.wait(channel, until)
        channel.hear_first()
        for head, _ in self.listen(channel, until):
            if head["t"] != "ready":
                raise GoneError("garbled")
            return

    def listen(self, channel: Channel, until: float) -> Iterator[Frame]:
        """The frames of a channel: the JSON of each, and all of it as it came.

        Raises GoneError.
        """
        while True:
            while (frame := channel.frame(self.limits.value)) is not None:
                yield frame
            self.wait(channel, until)
            channel.hear()

    def wait(self, channel: Channel, until: float) -> None:
        """Wait until a channel has bytes; look at the memory now and then."""
        while True:
            now = time.monotonic()
            if now >= until:
                raise GoneError("timeout")
            if now >= self.look:
                if self.jailed and self.jailed.memory() > self.limits.memory:
                    raise GoneError("memory")
                self.look = time.monotonic() + WATCH
            heard = (channel.socket, self.requests)
            ready, _, _ = select.select(heard, [], [], min(until - now, WATCH))
            if self.requests in ready:  # requests come one by one: this is their end
                raise EOFError
            if ready:
                return

    def kill(self, channel: Channel) -> None:
        """Kill a channel's process."""
        self.channels[self.channels.index(channel)] = None
        channel.kill()

    def sweep(self) -> None:
        """Kill all that is no channel's process (what a cell has left behind), and
        wait for a while until its memory is free."""
        if self.jailed is None:
            return
        stay = {c.pid for c in self.channels if c is not None} | {self.jailed.pid}
        until = time.monotonic() + SWEEP
        while (strays := set(self.jailed.pids()) - stay) and time.monotonic() < until:
            for pid in strays:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)


def fonts() -> None:
    """Take over matplotlib's list of fonts, which takes a second to make."""
    home = Path(os.environ.get("MPLCONFIGDIR", ""))
    given = os.environ.pop("BY_HAND_FONTS", "")
    if given and home.name:
        home.mkdir(parents=True, exist_ok=True)
        for path in Path(given).glob("fontlist-*.json"):
            shutil.copy(path, home)


def main() -> None:
    """Warm up, then answer requests; the grader may be killed, and this tidies up."""
    scratch = os.environ.pop("BY_HAND_SCRATCH", "")
    try:
        work()
    finally:
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)


def work() -> None:
    """Warm up, then answer requests."""
    level, gpu = sys.argv[1], "gpu" in sys.argv[2:]
    imports = os.environ.pop("BY_HAND_IMPORTS", "").splitlines()
    fonts()
    from . import shell  # torch, matplotlib and IPython: a second or two

    with contextlib.redirect_stdout(sys.stderr):
        shell.stand_ins()
        keeper = shell.Shell()
        shell.warm_up(imports)
        keeper.rehearse()
    gc.collect()
    gc.freeze()
    pages.collapse()
    Zygote(level, gpu, keeper.serve).run()


if __name__ == "__main__":
    main()
