"""For the tests of the engine: what must stay out of reach, and one class graded.

`Outside` lays out files, sockets and words that nothing of a submission may reach;
`Room` grades submissions of the small course one after the other in one warm process,
and looks after each whether anything got out or stayed behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import select
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat

from autograder.engine import graded, jail, master, warm
from autograder.engine.graded import Graded
from autograder.grading import results
from autograder.grading.feedback import direct_page, plain_page
from autograder.grading.gradebook import Known
from autograder.tests.odd_class import answer, cell

HOSTILE = Path(__file__).parent / "hostile"
STATUSES = results.STATUSES
#: what tricks put together and print when they hold something that is not theirs
SMUGGLED = "SMUGG" + "LED"
#: limits under which a trick shows what it does: time is short only where it is to run
#: out, so that a slow computer takes none for late
LIMITS = {"seconds": 30, "submission": 120, "memory": 1500 * 2**20}
SHORT = {"seconds": 1.5, "submission": 30}


@dataclass
class Trick:
    """A file of the corpus: its text, and what its first comment says.

    cell   : what the text is, see hostile/README.md
    limits : limits that differ from the corpus's own
    other  : the status of the other exercise
    says   : words of the reason that the student reads
    level  : the only level at which it holds
    rule   : "kept" where the exercise forbids to call what it asks to write
    """

    path: Path
    text: str
    cell: str = "answer"
    limits: dict[str, float] = field(default_factory=dict)
    other: str = "right"
    says: str = ""
    level: str = ""
    rule: str = ""

    @property
    def status(self) -> str:
        """What it must get: the name of its folder."""
        return self.path.parent.name

    @classmethod
    def read(cls, path: Path) -> Trick:
        """Read a file of the corpus."""
        text = path.read_text(encoding="utf-8")
        trick = cls(path, text)
        comment = re.match(r"(?:#.*\n)*", text)
        assert comment is not None
        for line in comment[0].splitlines():
            found = re.fullmatch(r"# (cell|level|limits|other|rule|says): (.+)", line)
            if found is None:
                continue
            name, value = found[1], found[2]
            if name == "limits":
                pairs = (pair.split("=") for pair in value.split())
                trick.limits = {key: json.loads(number) for key, number in pairs}
            else:
                setattr(trick, name, value)
        trick.other = trick.other.partition(",")[0]
        trick.level = trick.level.partition(",")[0]
        return trick


def tricks() -> list[Trick]:
    """The corpus."""
    return [Trick.read(path) for path in sorted(HOSTILE.glob("*/*.py"))]


class Outside:
    """What must stay out of reach; everybody on this computer may read and write it."""

    def __init__(self, course: Path) -> None:
        self.word = "canary" + secrets.token_hex(8)
        self.folder = Path(tempfile.mkdtemp(prefix="by-hand-outside-"))
        self.course = self.folder / "course"
        shutil.copytree(course, self.course)
        private = (
            "class/gradebook.db",
            "class/results/ada/attention.json",
            "class/submitted/ada/attention/attention.ipynb",
            "solutions/attention/key.txt",
        )
        self.files = [self.course / name for name in private]
        self.files += [self.folder / "home/.ssh/id_ed25519", self.folder / "tmp.txt"]
        for path in self.files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"secret = {self.word!r}\n")
        for path in (self.folder, *self.folder.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.tcp.getsockname()[1]))
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(str(self.folder / "socket"))
        (self.folder / "socket").chmod(0o777)
        self.abstract = socket.socket(socket.AF_UNIX)
        self.abstract.bind(f"\0{self.word[6:]}")
        for listener in (self.unix, self.abstract):
            listener.listen()
        self.before = self.look()
        os.environ["BY_HAND_SECRET"] = self.word

    def filled(self, text: str) -> str:
        """A trick with the places of what it is after."""
        for name, value in {
            "__COURSE__": self.course,
            "__OUTSIDE__": self.folder,
            "__PORT__": self.tcp.getsockname()[1],
            "__ABSTRACT__": self.word[6:],
            "__GRADER__": os.getpid(),
        }.items():
            text = text.replace(name, str(value))
        return text

    def look(self) -> dict[str, tuple[Any, ...]]:
        """Everything there is, with what can be seen of it."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if path in self.files else b""
            found[str(path)] = (status.st_mode, status.st_uid, content)
            if not path.is_dir():
                found[str(path)] += (status.st_mtime_ns, status.st_nlink)
        return found

    def check(self, seen: str) -> None:
        """Nothing was reached, changed, or told in what was seen."""
        assert self.word not in seen
        assert self.word[::-1] not in seen
        assert self.look() == self.before
        sockets = [self.tcp, self.udp, self.unix, self.abstract]
        assert select.select(sockets, [], [], 0)[0] == []

    def close(self) -> None:
        """Clear all of it away."""
        os.environ.pop("BY_HAND_SECRET", None)
        for listener in (self.tcp, self.udp, self.unix, self.abstract):
            listener.close()
        shutil.rmtree(self.folder)


class Room:
    """The small course, and one warm process that grades for it."""

    def __init__(self, course: Path, level: str) -> None:
        self.outside = Outside(course)
        self.course = self.outside.course
        loaded = master.load("attention", self.course)
        self.master = replace(loaded, limits=loaded.limits.but(LIMITS))
        self.lenient = without_rules(self.master)
        self.marker = f"# {secrets.token_hex(16)}"
        self.warm = warm.Warm(level, 0, (*self.master.imports, self.marker))
        first = jail.users(level)
        self.users = range(first, first + 100)
        self.warm.start()
        self.idle = self.processes()
        released = self.course / "exercises" / "attention" / "attention.ipynb"
        self.released = nbformat.read(released, as_version=4)
        self.honest = self.notebook()
        answer(self.honest)

    def master_with(self, **limits: float) -> master.Master:
        """The assignment, under other limits."""
        return replace(self.master, limits=self.master.limits.but(limits))

    def notebook(self) -> nbformat.NotebookNode:
        """The released notebook, to be filled in."""
        return nbformat.from_dict(json.loads(json.dumps(self.released)))

    def close(self) -> None:
        """End the warm process, and clear everything away."""
        self.warm.stop()
        self.outside.close()
        assert not self.processes()

    # -------------------------------------------------------------------- grading

    def grade(self, data: bytes | dict, student: str = "mallory", **limits: float):
        """Grade the bytes of a notebook, or a notebook; hold the result against its
        rules and see that nothing got out or stayed."""
        if not isinstance(data, bytes):
            data = json.dumps(data).encode()
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "attention.ipynb"
            path.write_bytes(data)
            return self.grade_path(path, student, **limits)

    def grade_path(self, path: Path, student: str = "mallory", **limits: float):
        """Grade what lies at a path."""
        mine = self.master_with(**limits) if limits else self.master
        handed = graded.take(student, path, mine.limits)
        result = graded.grade(mine, handed, self.warm)
        seen = everything(result)
        self.outside.check(seen)
        assert SMUGGLED not in seen
        left = self.left()
        assert not left, left
        return result

    def grade_trick(self, trick: Trick) -> Graded:
        """Grade a file of the corpus."""
        text = self.outside.filled(trick.text)
        short = SHORT if trick.status == "timeout" else {}
        limits = {**short, **trick.limits}
        # what tests the walls must not be stopped by a rule that reads its text
        with self.under(self.master if trick.rule else self.lenient):
            return self._grade_text(trick, text, **limits)

    @contextlib.contextmanager
    def under(self, other: master.Master) -> Iterator[None]:
        """Grade by another master for a while."""
        before, self.master = self.master, other
        try:
            yield
        finally:
            self.master = before

    def _grade_text(self, trick: Trick, text: str, **limits: float) -> Graded:
        if trick.cell == "file":
            return self.grade(text.encode(), **limits)
        notebook = self.notebook()
        if trick.cell == "answer":
            answer(notebook, text)
        else:
            times = re.fullmatch(r"added(?: (\d+) times)?", trick.cell)
            assert times is not None, trick.cell
            answer(notebook)
            place = notebook.cells.index(cell(notebook, "softmax"))
            for _ in range(int(times[1] or 1)):
                notebook.cells.insert(place, nbformat.v4.new_code_cell(text))
        return self.grade(notebook, **limits)

    def grade_honest(self) -> None:
        """Somebody honest gets full marks, from the process that was there before."""
        process = self.warm.process
        result = self.grade(self.honest, "ada").result
        assert statuses(result) == {"softmax": "right", "twice": "right"}
        assert result.score == result.max_score == 5
        assert self.warm.process is process

    # ------------------------------------------------------------------ processes

    def processes(self) -> set[int]:
        """All processes that come from the warm one, and the warm one itself."""
        parents, mine = {}, set()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            pid = int(entry.name)
            with contextlib.suppress(OSError):
                status = (entry / "stat").read_text(errors="replace")
                parents[pid] = int(status.rpartition(")")[2].split()[1])
                if entry.stat().st_uid in self.users:
                    mine.add(pid)
            with contextlib.suppress(OSError):
                if self.marker.encode() in (entry / "environ").read_bytes():
                    mine.add(pid)
        if self.warm.process is not None:
            mine.add(self.warm.process.pid)
        while more := {p for p, q in parents.items() if q in mine} - mine:
            mine |= more
        return {p for p in mine if Path(f"/proc/{p}").exists()}

    def left(self) -> list[str]:
        """What runs and did not when the warm process was idle."""
        if self.warm.process is None or self.warm.process.pid not in self.idle:
            self.warm.stop()  # it was lost on the way
            self.warm.start()
            self.idle = self.processes()
        return [named(pid) for pid in sorted(self.processes() - self.idle)]


def without_rules(found: master.Master) -> master.Master:
    """The assignment with nothing forbidden in an answer's text."""
    checks = {
        name: {key: value for key, value in check.items() if key != "forbid"}
        for name, check in found.expected.checks.items()
    }
    return replace(found, expected=replace(found.expected, checks=checks))


def named(pid: int) -> str:
    """A process by its number and its command."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return f"{pid} (gone)"
    return f"{pid} {b' '.join(words).decode(errors='replace')[:200]}"


def statuses(result: results.Result) -> dict[str, str]:
    """The status of every answer."""
    return {check.answer: check.status for check in result.checks}


def everything(made: Graded) -> str:
    """All that a grading leaves, as text; it has to fit into files, and the page that
    the student gets tells nothing of hidden cases and does nothing when it is opened.
    """
    text = results.as_text(made.result)
    text.encode("utf-8")
    assert len(text) < 200_000
    page = plain_page(made.result)
    if made.notebook is not None:
        page = direct_page(made.notebook, made.result, Known())
        nbformat.validate(nbformat.from_dict(made.notebook))
        notebook = json.dumps(made.notebook, ensure_ascii=False)
        notebook.encode("utf-8")
        text += notebook
    assert "a secret label" not in page  # tricks that know it write it in two parts
    assert "<script>alert" not in page
    page.encode("utf-8")
    return text + page
