"""Runs pieces of code behind the walls, for the tests; itself the warm process.

One job a line on stdin, one answer a line on stdout. In a piece of code, `tell(value)`
is what the test gets to see, and `wait()` keeps the process there until the end.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import textwrap
import time
import traceback
from collections.abc import Callable

from autograder.engine import layers
from autograder.engine.limits import Limits


def job(level: str, code: str, limits: dict, without: list[str], gpu: bool) -> dict:
    """What the code told, and what was to be seen of it from outside."""
    ours, theirs = socket.socketpair()

    def main() -> None:
        def tell(value: object) -> None:
            theirs.sendall(json.dumps(value).encode() + b"\n")

        def attempt(what: Callable[[], object]) -> str:
            try:
                return f"did it: {what()}"
            except OSError as error:
                return type(error).__name__

        names = {"tell": tell, "attempt": attempt, "wait": lambda: time.sleep(60)}
        try:
            exec(textwrap.dedent(code), {"__name__": "code", **names})
        except BaseException:
            tell({"raised": traceback.format_exc()})

    try:
        jailed = layers.spawn(
            level,
            Limits().but(limits),
            0,
            main,
            (theirs.fileno(),),
            gpu,
            frozenset(without),
        )
    except layers.LayerError as error:
        ours.close(), theirs.close()
        return {"error": str(error)}
    theirs.close()
    heard = b""
    while not heard.endswith(b"\n") and select.select([ours], [], [], 30)[0]:
        piece = ours.recv(1 << 16)
        if not piece:
            break
        heard += piece
    ours.close()
    answer = {
        "told": json.loads(heard) if heard else None,
        "processes": len(jailed.pids()),
        "memory": jailed.memory(),
    }
    inside = jailed.pids()
    jailed.end()
    answer["left"] = [pid for pid in inside if os.path.exists(f"/proc/{pid}")]
    return answer


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(job(**json.loads(line))), flush=True)
