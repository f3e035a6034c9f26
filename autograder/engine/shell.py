"""Inside the jail: a notebook's process, for one student's cells.

It takes orders over a socket, one at a time, and answers each with frames, the last
of which says `done`:

    files  put the assignment's files into the work folder
    cell   run a cell as a notebook would, and send what it shows
    hold   fork: the copy stands still where the notebook is now, and takes orders
    check  run the cases of a check, and send the value of each

Everything here runs beside the student's code and may be changed by it. So nothing
here is believed: it holds no expected value, and what it sends is only a value.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import io
import os
import random
import resource
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from traitlets.config import Config

import autograder

from ..checking import record, salt, values
from . import frames
from .outlets import Notebook, Stream, written

#: cells and a check as notebooks have them: a definition, a value, a mistake
REHEARSAL = (
    '''import numpy as np
import torch
def f(x):
    """A softmax."""
    e = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)
''',
    "print(f(torch.randn(2, 3) @ torch.randn(3, 3)))\nnp.arange(6.0).reshape(2, 3)",
)
REHEARSED = """
from autograder.checking.values import randn
check("a", f, randn(2, 3, seed=1))
check("b", lambda x: {"a": x.T.tolist(), "b": np.ones(2)}, randn(2, 3, seed=1))
"""


class Channel:
    """The socket to the warm process."""

    def __init__(self, handle: int) -> None:
        self.socket = socket.socket(fileno=handle)
        self.lock = threading.RLock()  # a notebook's threads may print
        self.spare = os.dup(handle)

    def take(self, n: int) -> bytes:
        """n bytes; the process ends when there is nobody to give them."""
        parts = []
        while n:
            part = self.socket.recv(min(n, 2**20))
            if not part:
                os._exit(0)
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def order(self) -> tuple[dict[str, Any], list[memoryview]]:
        """The next order."""
        return frames.read(self.take)

    def handle(self) -> int:
        """The file descriptor that comes after a `hold`.

        There is room for it even where the notebook has opened all it may.
        """
        os.close(self.spare)
        _, handles, _, _ = socket.recv_fds(self.socket, 1, 1)
        return handles[0]

    def send(self, head: dict[str, Any], blobs: list[bytes] | None = None) -> None:
        """Send a frame. Raises TypeError or ValueError when it can't be written."""
        frame = frames.dump(head, blobs)
        with self.lock:
            self.socket.sendall(frame)


class Nobody:
    """Takes what is sent during the rehearsal."""

    def send(self, head: dict[str, Any], blobs: list[bytes] | None = None) -> None:
        """Write the frame, and drop it."""
        frames.dump(head, blobs)


class Shell:
    """An IPython shell whose outputs are frames. Made once, in the warm process."""

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.cache_size = 0
        config.InteractiveShell.colors = "NoColor"
        self.ip: Any = Notebook.instance(config=config)
        self.ip.by_hand = self
        self.ip.enable_gui = lambda gui=None: None
        self.ip.enable_matplotlib("inline")
        self.ip._showtraceback = self.keep_error
        self.ip.system = self.system
        self.channel: Any = None
        self.kept: dict[str, Any] = {}
        self.error: dict[str, Any] | None = None
        self.out, self.err = Stream(self, "stdout"), Stream(self, "stderr")

    # ------------------------------------------------------------- what cells show

    def show(self, output: dict[str, Any]) -> None:
        """Send an output, in nbformat's own form."""
        if self.channel is not None:
            self.channel.send({"t": "output", "output": output})

    def display(self, kind: str, data: Any, metadata: Any) -> None:
        """Send rich data."""
        self.flush()
        plain = {mime: written(content) for mime, content in dict(data).items()}
        output = {"output_type": kind, "data": plain, "metadata": dict(metadata or {})}
        self.show(output)

    def keep_error(self, kind: Any, error: Any, lines: list[str]) -> None:
        """An exception that ended a cell: shown as a notebook does, and reported."""
        self.flush()
        name, text = kind.__name__, record.printable(str(error))[:2000]
        if isinstance(error, SyntaxError) and error.lineno:
            text = f"{error.msg} (line {error.lineno})"
        self.error = {"error": name, "text": text.strip().split("\n")[0][:300]}
        self.show(
            {
                "output_type": "error",
                "ename": name,
                "evalue": text,
                "traceback": [str(line)[:20000] for line in lines][:60],
            }
        )

    def system(self, command: str) -> None:
        """`!command`: what it prints is the cell's output."""
        with subprocess.Popen(
            self.ip.var_expand(command, depth=1),
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process:
            assert process.stdout is not None
            while text := process.stdout.read(4096):
                print(text, end="")
        self.ip.user_ns["_exit_code"] = process.returncode

    def flush(self) -> None:
        """Send the text that has gathered."""
        self.out.flush()
        self.err.flush()

    # ----------------------------------------------------------------- the orders

    def serve(self, handle: int) -> NoReturn:
        """Take orders until nobody gives any."""
        self.channel = Channel(handle)
        sys.stdout, sys.stderr = self.out, self.err
        self.channel.send({"t": "ready", "pid": os.getpid()})
        me = os.getpid()
        while True:
            order, blobs = self.channel.order()
            if order["do"] == "hold":
                self.hold()
                me = os.getpid()
                continue
            used = cpu()
            try:
                done = getattr(self, f"do_{order['do']}")(order, blobs)
            except Exception as error:  # ours, or of what a student's code left of it
                text = record.printable(f"{error}")[:300]
                done = {"ok": False, "error": type(error).__name__, "text": text}
            if os.getpid() != me:  # a cell forked, and its child came back to us
                os._exit(0)
            self.flush()
            self.channel.send({"t": "done", "cpu": round(cpu() - used, 4), **done})

    def hold(self) -> None:
        """Fork; the copy answers on the socket that comes next."""
        assert self.channel is not None
        handle = self.channel.handle()
        if os.fork():
            os.close(handle)
            self.channel.spare = os.dup(self.channel.socket.fileno())
            self.channel.send({"t": "done"})
            return
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)  # a signal to one's own group is not for its copies
        self.channel.socket.close()
        self.channel = Channel(handle)
        self.channel.send({"t": "ready", "pid": os.getpid()})

    def do_files(self, order: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Write the assignment's files, and begin with the same random numbers."""
        for name, blob in zip(order["names"], blobs, strict=True):
            Path(name).write_bytes(blob)
        sys.path.append(str(Path.cwd()))  # for what `%%writefile` writes
        random.seed(0)
        record._same_randomness()
        return {}

    def do_cell(self, order: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Run a cell.

        keep    : names whose values, as this given cell leaves them, are kept
        restore : names that stand as they were kept while this cell runs
        """
        names = self.ip.user_ns
        own = self.restore(order.get("restore", []))
        self.error = None
        result = self.ip.run_cell(order["source"], store_history=False, silent=False)
        for name in order.get("keep", []):
            if name in names:
                self.kept[name] = copied(names[name])
            own.pop(name, None)
        names.update(own)
        if not result.success and self.error is None:
            kind = type(result.error_before_exec or result.error_in_exec).__name__
            self.error = {"error": kind, "text": ""}
        return {"ok": bool(result.success), **(self.error or {})}

    def rehearse(self) -> None:
        """Run a cell, a mistake and a check of ours, in the warm process.

        What Python, IPython and torch set up at their first use is there then for every
        fork; nothing else of it is left.
        """
        before = dict(self.ip.user_ns)
        self.channel = Nobody()
        out, err = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = self.out, self.err
        try:
            for source in REHEARSAL:
                self.do_cell({"source": source}, [])
            self.do_check({"source": REHEARSED, "answer": "f"}, [])
            self.flush()
        finally:
            sys.stdout, sys.stderr = out, err
            self.channel, self.error = None, None
            self.ip.user_ns.clear()
            self.ip.user_ns.update(before)
            for name in ("last_type", "last_value", "last_traceback"):
                if hasattr(sys, name):
                    delattr(sys, name)

    def restore(self, wanted: list[str]) -> dict[str, Any]:
        """Put given names back; returns the student's own values under them."""
        names = self.ip.user_ns
        own = {}
        for name in wanted:
            if name in self.kept:
                if name in names and names[name] is not self.kept[name]:
                    own[name] = names[name]
                names[name] = copied(self.kept[name])
        return own

    def do_check(self, order: dict[str, Any], blobs: list[memoryview]) -> dict:
        """Run the lines of a check; each case's value is sent as it comes.

        restore : given names that stand as they were kept
        plain   : names of Python's own, whatever the notebook calls so
        """
        names = self.ip.user_ns
        self.restore(order.get("restore", []))
        plain = {name: getattr(builtins, name) for name in order.get("plain", [])}
        answer = str(order["answer"])

        def check(label: str, fn: Any, *args: Any, **options: Any) -> None:
            try:
                case = record.run_case(str(label), fn, args, answer)
            except Exception:  # an object of their own that does not bear to be seen
                odd = values.Opaque("value that can't be read")
                case = record.Record(str(label), "value", odd)
            self.flush()
            self.send_case(case)

        scope = {**names, **plain, "check": check}
        salt.set_salt(order.get("salt"))
        try:
            exec(compile(order["source"], "<check>", "exec"), scope)
        except BaseException as error:
            text = record.printable(str(error))[:300]
            return {"ok": False, "error": type(error).__name__, "text": text}
        finally:
            salt.set_salt(None)
            names.update({k: v for k, v in scope.items() if k not in plain})
        return {"ok": True}

    def send_case(self, case: record.Record) -> None:
        """Send what a case gave."""
        assert self.channel is not None
        head: dict[str, Any] = {
            "t": "case",
            "label": case.label,
            "status": case.status,
            "error": case.error,
            "reason": case.reason,
            "mutated": case.mutated,
            "seconds": round(case.seconds, 4),
        }
        blobs: list[bytes] = []
        try:
            if case.status == "value":
                head["value"], blobs = frames.pack(case.value)
            self.channel.send(head, blobs)
        except OSError:
            raise
        except Exception:  # an object of their own that does not let itself be read
            odd = {"kind": "opaque", "type": "value that can't be read"}
            self.channel.send({**head, "error": None, "reason": None, "value": odd})


class StandIn:
    """`check` in a student's own cells, and the opening lines of a merged check."""

    def __call__(self, *args: Any, **options: Any) -> None:
        """Nothing is judged here."""

    def start(self, *args: Any) -> None:
        """Nothing is opened."""

    def score(self) -> None:
        """No score."""


def stand_ins() -> None:
    """Put in place what the course's package offers to notebooks."""
    package: Any = autograder
    package.check = StandIn()
    package.worksheet = lambda *args, **options: None


def copied(value: Any) -> Any:
    """A copy of data; functions, classes and modules are themselves."""
    if isinstance(value, np.ndarray) or type(value) in (list, dict, set):
        return copy.deepcopy(value)
    if values.is_tensor(value):
        return record._copy(value)
    return value


def cpu() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    mine = resource.getrusage(resource.RUSAGE_SELF)
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime


def warm_up(imports: list[str]) -> None:
    """Import what notebooks import and draw one empty plot: nothing is computed.

    imports : import statements of the assignment's given cells
    """
    import matplotlib.pyplot as plt

    for line in imports:
        names: dict[str, Any] = {}
        try:
            exec(line, names)
        except Exception:  # what is missing here is missing for the cell as well
            continue
    record._same_randomness()
    figure, axes = plt.subplots(1, 2, layout="constrained")
    axes[0].plot([0, 1], label="a")
    axes[0].legend()
    figure.savefig(io.BytesIO(), format="png")
    plt.close(figure)
