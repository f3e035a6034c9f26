"""Progress of a long command: one line that changes on a terminal, else plain lines."""

from __future__ import annotations

import time
from typing import TextIO


class Progress:
    """Counts steps and says how fast they go and how long the rest will take."""

    def __init__(self, total: int, out: TextIO) -> None:
        self.total, self.out = total, out
        self.done = 0
        self.began = time.monotonic()
        self.terminal = out.isatty()
        self.width = 0

    def step(self, name: str, outcome: str) -> None:
        """One more is done."""
        self.done += 1
        line = f"[{self.done}/{self.total}] {name}: {outcome}"
        if not self.terminal:
            print(line, file=self.out, flush=True)
            return
        line += f"   ({self.pace()})"
        self.out.write("\r" + line.ljust(self.width))
        self.out.flush()
        self.width = len(line)

    def pace(self) -> str:
        """The rate so far, and the time left at that rate."""
        spent = max(time.monotonic() - self.began, 1e-6)
        left = round((self.total - self.done) * spent / self.done)
        rate = 60 * self.done / spent
        return f"{rate:.0f} a minute, {left // 60}:{left % 60:02d} left"

    def close(self) -> None:
        """End the line; in plain output, say how fast it went."""
        if self.done and self.terminal:
            self.out.write("\n")
        elif self.done:
            spent = time.monotonic() - self.began
            print(f"{self.done} in {spent:.0f} s", file=self.out, flush=True)
