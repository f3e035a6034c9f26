"""The warm process's end of a shell's socket: frames in, orders out.

Whatever comes is a student's process's. What no shell of ours would send ends that
shell, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Any

from . import frames

#: the JSON around a value; and the most that a frame without one may have (bytes)
SLACK = 2**20

#: a frame's JSON, and all of it as it came
Frame = tuple[dict[str, Any], bytes]


class GoneError(Exception):
    """A channel's process is no more, or has to be stopped; says why: "died",
    "timeout", "memory", "output" (too much of it) or "garbled" (what it sent)."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a socket; the first learns who writes to it."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    if hasattr(socket, "SO_PASSCRED"):
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return mine, theirs


@dataclass(eq=False)
class Channel:
    """The warm end of a shell's socket.

    pid    : of the process at the other end, as the kernel knows it (0: unknown)
    handle : stands for that process, and never for another with its number
    buffer : bytes that came and are no whole frame yet
    """

    socket: socket.socket
    pid: int = 0
    handle: int = -1
    buffer: bytearray = field(default_factory=bytearray)

    def close(self) -> None:
        """Let go of the process; a shell that nobody gives orders ends."""
        self.socket.close()
        if self.handle >= 0:
            os.close(self.handle)

    def kill(self) -> None:
        """End the process, and let go of it."""
        with contextlib.suppress(OSError, AttributeError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        self.close()

    def send(self, data: bytes, until: float) -> None:
        """Send bytes. Raises OSError, or GoneError when nobody takes them in time."""
        self.socket.settimeout(max(0.1, until - time.monotonic()))
        try:
            self.socket.sendall(data)
        except TimeoutError:
            raise GoneError("timeout") from None

    def hear(self) -> None:
        """Take what is there to be read. Raises GoneError when nobody is there."""
        try:
            data = self.socket.recv(2**20)
        except OSError:
            data = b""
        if not data:
            raise GoneError("died")
        self.buffer += data

    def hear_first(self) -> None:
        """The same for the first bytes, and learn from the kernel who sent them.

        No sender can claim to be another: the kernel writes it down.
        """
        if not hasattr(socket, "SO_PASSCRED"):
            return self.hear()
        try:
            data, extra, _, _ = self.socket.recvmsg(2**16, socket.CMSG_SPACE(12))
        except OSError:
            data, extra = b"", []
        if not data:
            raise GoneError("died")
        self.buffer += data
        for level, kind, content in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                self.pid = struct.unpack("3i", content[:12])[0]
                with contextlib.suppress(OSError, AttributeError, ValueError):
                    self.handle = os.pidfd_open(self.pid)

    def frame(self, value: int) -> Frame | None:
        """The next frame; None when it is not all there yet.

        value : how large a value may be (bytes)

        Raises GoneError for what is too large, and for what no shell of ours sends.
        """
        if len(self.buffer) < frames.HEAD:
            return None
        try:
            head = bytes(self.buffer[: frames.HEAD])
            text, raw = frames.sizes(head, value + SLACK)
            size = frames.HEAD + text + raw
            if len(self.buffer) < size:
                return None
            frame = bytes(self.buffer[:size])
            del self.buffer[:size]
            at = frames.HEAD + text
            told, _ = frames.load(frame[frames.HEAD : at], frame[at:])
        except frames.TooLargeError:
            raise GoneError("output") from None
        except frames.FrameError:
            raise GoneError("garbled") from None
        kind = told.get("t")
        known = (
            kind == "case"
            or (kind == "output" and isinstance(told.get("output"), dict))
            or (kind in ("ready", "done") and size <= SLACK)
        )
        if not known:
            raise GoneError("garbled")
        return told, frame
