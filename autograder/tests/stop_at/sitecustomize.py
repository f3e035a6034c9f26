"""Kills the process that imports this just before it changes the class's folder for
the n-th time: a file written, renamed or removed there, a statement that changes the
gradebook. n is in STOP_AT (0: never); what is counted is written to STOP_COUNT.

Python imports a module of this name by itself when it starts; those that the process
starts don't count, for the variables are gone.
"""

from __future__ import annotations

import atexit
import os
import signal
import sqlite3.dbapi2
import sys
from typing import Any

AT = os.environ.pop("STOP_AT", "")
WRITES = os.O_WRONLY | os.O_RDWR
FILES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir"}
READS = ("SELECT", "PRAGMA", "BEGIN")
seen: list[str] = []


def change(what: str) -> None:
    """One more: perhaps the last."""
    seen.append(" ".join(what.split()))
    if len(seen) == int(AT):
        os.kill(os.getpid(), signal.SIGKILL)


def hook(event: str, args: tuple[Any, ...]) -> None:
    """What the interpreter tells before it does something."""
    writes = event in FILES or (event == "open" and (args[2] or 0) & WRITES)
    if writes and "/class/" in str(args[0]):
        change(f"{event} {args[0]}")


def connect(*args: Any, **more: Any) -> sqlite3.Connection:
    """sqlite3.connect, for a connection that tells of its statements."""
    made = plain(*args, **more)
    made.set_trace_callback(
        lambda text: text.lstrip().startswith(READS) or change(text)
    )
    return made


def tell(where: str) -> None:
    """Leave the count, and what it is of."""
    with open(where, "w") as file:  # noqa: PTH123
        file.write("\n".join(seen))


if AT:
    atexit.register(tell, os.environ.pop("STOP_COUNT", os.devnull))
    sys.addaudithook(hook)
    plain, sqlite3.dbapi2.connect = sqlite3.connect, connect
