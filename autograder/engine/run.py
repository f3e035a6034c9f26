"""Take a rebuilt notebook through a jail, and keep what came of every cell and check.

The notebook runs from top to bottom in one shell. At every check the shell forks: the
copy stands still there and waits. When a cell kills the shell, or has to be stopped,
the notebook goes on from the last of these copies without that cell. Only when the
notebook is through, and nothing of it runs any more, does each copy get the lines of
its check, visible ones first, hidden ones when the visible values are in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .limits import Limits
from .master import Master, MasterCell
from .plan import Entry, Plan
from .shown import amount, outputs, words
from .warm import Reply, Submission, Warm

#: what came of a case: its frame's JSON and blobs, and whether it is a hidden one
Case = tuple[dict[str, Any], list[memoryview], bool]


@dataclass
class Ran:
    """What came of a cell.

    outputs : what it showed, in nbformat's form
    why     : "done", or what stopped it: "timeout", "memory", "output", "garbled",
              "died", "late"
    error   : the exception that ended it ("" when none did), and its words
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    why: str = "done"
    error: str = ""
    text: str = ""


@dataclass
class Checked:
    """What came of a check.

    cases  : by label, the last frame of each case that it has, with whether it is
             hidden; each taken only while it was the turn of such cases
    why    : as of a cell; "blank" when there was no answer to run
    answer : how the answer's cells ran, in order
    """

    cases: dict[str, Case] = field(default_factory=dict)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    why: str = "done"
    error: str = ""
    text: str = ""
    answer: list[Ran] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Run:
    """What came of a submission: by number of the plan's entry, and by check.

    cpu : seconds of CPU that cells and checks have used, as their shells report it
    """

    cells: dict[int, Ran] = field(default_factory=dict)
    checks: dict[str, Checked] = field(default_factory=dict)
    cpu: float = 0.0


def run(master: Master, plan: Plan, warm: Warm) -> Run:
    """Run a plan.

    Raises WarmDiedError when the warm process itself was lost.
    """
    with warm.submission(master.limits, master.files) as session:
        return _Runner(master, plan, session).run()


class _Runner:
    def __init__(self, master: Master, plan: Plan, session: Submission) -> None:
        self.master, self.plan, self.session = master, plan, session
        self.done = Run()
        #: the waiting copies: (number of the entry, channel), the start being the first
        self.held: list[tuple[int, int]] = []
        self.shell: int | None = 0

    def run(self) -> Run:
        """The cells, then the checks."""
        start, _ = self.session.hold(0)
        if start is not None:
            self.held.append((-1, start))
        for number, entry in enumerate(self.plan.entries):
            if entry.role == "check":
                if entry.cell is not None and not self._blank(entry.cell):
                    self._hold(number)
            elif entry.runs is not None and entry.runs.strip():
                self.done.cells[number] = self._cell(number, entry)
        if self.shell is not None:
            self.session.drop(self.shell, strays=True)
        self._checks()
        return self.done

    # ----------------------------------------------------------------------- cells

    def _hold(self, number: int) -> None:
        """Keep a copy of the notebook as it stands at a check.

        A shell that can't be copied was spoilt by a cell before: once more without
        chance's part in it, then without the student's cells since the last copy.
        """
        if self.session.warm.gpu:
            return self._replay(number)
        why = "died"
        for attempt in range(3):
            if attempt == 2:
                self._blame(number, why)
            if attempt:
                self._again(number)
            if self.shell is None:
                return
            copy, why = self.session.hold(self.shell)
            if copy is not None:
                self.held.append((number, copy))
                return

    def _replay(self, number: int) -> None:
        """A copy for a check where a GPU is used.

        CUDA does not survive a fork: a fresh copy of the start runs the cells again.
        """
        if self.shell is None:
            return
        copy, _ = self.session.hold(self.held[0][1])
        if copy is None:
            return
        going, self.shell = self.shell, copy
        for between in range(number):
            ran = self.done.cells.get(between)
            if ran is not None and ran.why == "done":
                self._try(between, self.plan.entries[between])
        self.shell = going
        self.held.append((number, copy))

    def _blame(self, number: int, why: str) -> None:
        """Count the student's cells since the last copy as what spoilt the shell."""
        since = self.held[-1][0] if self.held else -1
        for between in range(since + 1, number):
            ran = self.done.cells.get(between)
            if ran is not None and self.plan.entries[between].mine:
                ran.why = why if ran.why == "done" else ran.why

    def _cell(self, number: int, entry: Entry) -> Ran:
        """Run a cell; when that ends the shell, go on without it."""
        ran = self._try(number, entry)
        if ran.why not in ("done", "late"):
            self._again(number)
        return ran

    def _try(self, number: int, entry: Entry) -> Ran:
        if self.shell is None:
            return Ran(why="died")
        order: dict[str, Any] = {"do": "cell", "source": entry.runs}
        given = entry.cell is not None and entry.role in ("given", "open")
        if given and not entry.mine:
            assert entry.cell is not None
            order["restore"] = self.master.needed(entry.cell.text)
            order["keep"] = [
                name for name, cell in self.master.given.items() if cell is entry.cell
            ]
        reply = self.session.ask(self.shell, order, self._limits(entry).seconds)
        self.done.cpu += self._cpu(reply)
        return Ran(
            shown(reply, self.master.limits),
            reply.why,
            words(reply.done.get("error"), 100),
            words(reply.done.get("text"), 300),
        )

    def _limits(self, entry: Entry) -> Limits:
        """The limits of a cell: an answer's are its check's."""
        if entry.cell is None:
            return self.master.limits
        check = self.master.by_name.get(f"{entry.cell.name}-check")
        if check is not None:
            return self.master.limits_for(check)
        own = entry.cell.metadata.get("limits")
        return self.master.limits.but(own) if own else self.master.limits

    def _again(self, number: int) -> None:
        """Go on from the last waiting copy: the cells since then run again, but for
        those that had to be stopped."""
        self.shell = None
        if not self.held:
            return
        since, copy = self.held[0 if self.session.warm.gpu else -1]
        self.shell, _ = self.session.hold(copy)
        for between in range(since + 1, number):
            entry = self.plan.entries[between]
            ran = self.done.cells.get(between)
            if ran is None or ran.why != "done" or self.shell is None:
                continue
            again = self._try(between, entry)
            if again.why != "done":
                self.done.cells[between] = again
                self._again(number)
                return

    # ---------------------------------------------------------------------- checks

    def _checks(self) -> None:
        """Give the checks' lines to the copies that wait at them.

        The visible ones of all checks come first: while a process runs whose outputs
        and words the student will see, none has been told a hidden case.
        """
        at = dict(self.held)
        rows = []
        for number, entry in enumerate(self.plan.entries):
            if entry.role == "check" and entry.cell is not None:
                checked = self._begin(entry.cell, at.get(number))
                self.done.checks[entry.cell.name] = checked
                rows.append((entry.cell, at.get(number), checked))
        for hidden in (False, True):
            for check, channel, checked in rows:
                if channel is not None and checked.why == "done":
                    self._lines(check, channel, checked, hidden)

    def _begin(self, check: MasterCell, channel: int | None) -> Checked:
        """A check before its lines run, and why they don't where they don't."""
        checked = Checked(answer=self._answer(check))
        stopped = [ran.why for ran in checked.answer if ran.why != "done"]
        if self._blank(check):
            checked.why = "blank"
        elif stopped:
            checked.why = stopped[-1]
        elif channel is None:
            checked.why = "late" if self.session.left <= 0 else "died"
        return checked

    def _lines(
        self, check: MasterCell, channel: int, checked: Checked, hidden: bool
    ) -> None:
        """Run the visible or the hidden lines of a check."""
        more = bool(check.hidden_lines) and self._has_hidden(check)
        lines = check.hidden_lines if hidden else check.visible_lines
        if lines and (not hidden or more):
            order = {
                "do": "check",
                "source": lines,
                "answer": check.answer,
                "restore": self.master.needed(lines),
                "plain": self.master.plain(lines),
                "salt": self.master.seed if hidden else None,
            }
            seconds = self.master.limits_for(check).seconds - checked.seconds
            reply = self.session.ask(
                channel, order, max(seconds, 0.1), last=hidden or not more
            )
            self._keep(check, checked, reply, hidden)
        elif hidden and not check.visible_lines:
            self.session.drop(channel)

    def _has_hidden(self, check: MasterCell) -> bool:
        cases = self.master.expected.checks[check.name]["cases"]
        return any(case["hidden"] for case in cases)

    def _blank(self, check: MasterCell) -> bool:
        """True when the answer is as it was given out, and no other cell has it."""
        if check.answer not in self.plan.untouched:
            return False
        answer = self.master.by_name[check.answer]
        return not self.plan.holding(answer, self.master.names_of(answer))

    def _answer(self, check: MasterCell) -> list[Ran]:
        """How the cells that hold a check's answer ran."""
        answer = self.master.by_name[check.answer]
        numbers = self.plan.holding(answer, self.master.names_of(answer))
        return [self.done.cells[n] for n in numbers if n in self.done.cells]

    def _keep(
        self, check: MasterCell, checked: Checked, reply: Reply, hidden: bool
    ) -> None:
        cases = self.master.expected.checks[check.name]["cases"]
        known = {case["label"] for case in cases if case["hidden"] is hidden}
        for head, blobs in reply.frames:
            label = head.get("label")
            if head["t"] == "case" and isinstance(label, str) and label in known:
                checked.cases[label] = (head, blobs, hidden)
        checked.why = reply.why
        checked.seconds += reply.seconds
        checked.error = checked.error or words(reply.done.get("error"), 100)
        if not hidden:  # words may tell what a hidden case hands over
            checked.outputs += shown(reply, self.master.limits)
            checked.text = words(reply.done.get("text"), 300)
        self.done.cpu += self._cpu(reply)

    def _cpu(self, reply: Reply) -> float:
        """CPU seconds of an order, as its shell says, and no more than it can be."""
        return amount(reply.done.get("cpu"), 64 * self.master.limits.submission)


def shown(reply: Reply, limits: Limits) -> list[dict[str, Any]]:
    """What a shell showed on an order, cleaned."""
    raw = [head.get("output") for head, _ in reply.frames if head.get("t") == "output"]
    return outputs(raw, limits)
