"""Rebuild a submission from the master: whose cell is which, and what runs in turn.

Of the student's notebook only the text of answers and of cells that the student added
is taken. Whatever happened to the rest (moved, split, merged, doubled, deleted, ids
lost in another editor), the notebook comes out in the master's order, each added cell
behind the one that it followed. What was odd is said, and costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import names
from .master import Master, MasterCell
from .submission import Cell, RefusedError, Submitted, joined, squeezed

Say = Callable[[str], None]
_START = re.compile(r"^check\.start\(.*?[\"'](\w+)[\"']\s*\)", re.MULTILINE)


@dataclass
class Entry:
    """A cell of the rebuilt notebook.

    cell : the master's cell; None for one that the student added
    text : what stands in it
    kind : "code", "markdown" or "raw"
    runs : what of it runs, None when nothing does (a check runs by itself)
    mine : True when the text is the student's
    seen : what it showed when it was saved, where it does not run again
    """

    cell: MasterCell | None
    text: str
    kind: str
    runs: str | None = None
    mine: bool = False
    seen: list[Any] = field(default_factory=list)

    @property
    def role(self) -> str:
        """The master's role, or "own"."""
        return self.cell.role if self.cell else "own"


@dataclass
class Plan:
    """The rebuilt notebook, and what was odd about the submission."""

    entries: list[Entry]
    warnings: list[str] = field(default_factory=list)
    #: answers that were never touched
    untouched: set[str] = field(default_factory=set)

    def holding(self, answer: MasterCell, wanted: frozenset[str]) -> list[int]:
        """The student's cells that hold an answer: its own, and others that bind
        some of the names it is to bind."""
        return [
            number
            for number, entry in enumerate(self.entries)
            if entry.mine
            and entry.runs
            and (entry.cell is answer or names.bound(entry.runs) & wanted)
        ]


def make(master: Master, submitted: Submitted, experiments: bool = False) -> Plan:
    """The rebuilt notebook of a submission.

    experiments : run the open cells too (they show something with the student's
                  functions, and nothing depends on them); else what they showed when
                  the notebook was saved is kept

    Raises RefusedError when no cell of the assignment is in it.
    """
    claims = _Claims(master, submitted.cells)
    if not any(who is not None and who.name for who in claims.whose):
        raise RefusedError(
            f"none of its {len(submitted.cells)} cells belongs to "
            f"{master.assignment!r}: is it the notebook of another assignment?"
        )
    plan = Plan([], list(submitted.warnings))
    followers = claims.followers()
    plan.entries += [_own(cell) for cell in followers.pop(None, [])]
    for cell in master.cells:
        plan.entries += _entries(master, cell, claims.of(cell), plan)
        plan.entries += [_own(own) for own in followers.get(id(cell), [])]
    plan.warnings += claims.warnings
    if not experiments:
        _rest(plan)
    return plan


def _rest(plan: Plan) -> None:
    """Open cells that bind nothing which another cell mentions need not run again."""
    texts = [
        entry.text
        for entry in plan.entries
        if entry.role == "check" or (entry.runs and entry.role != "open")
    ]
    wanted = frozenset[str]().union(*map(names.free, texts))
    for entry in reversed(plan.entries):
        if entry.role != "open" or entry.runs is None:
            continue
        if names.bound(entry.runs) & wanted:
            wanted |= names.free(entry.runs)
        else:
            entry.runs = None


def _own(cell: Cell) -> Entry:
    code = cell.kind == "code"
    return Entry(None, cell.text, cell.kind, cell.text if code else None, mine=True)


def _entries(
    master: Master, cell: MasterCell, copies: list[Cell], plan: Plan
) -> list[Entry]:
    """The entries of one master cell, with the copies of it that were handed in."""
    say = plan.warnings.append
    if cell.role == "prose":
        return [Entry(cell, cell.text, "markdown")]
    if cell.role == "check":
        return [Entry(cell, cell.full, "code"), *_checks(cell, copies, say)]
    if cell.role == "given":
        return _given(cell, copies, say)
    if cell.role == "open":
        text = copies[-1].text if copies else cell.text
        mine = squeezed(text) != squeezed(cell.text)
        seen = copies[-1].outputs if copies else []
        return [Entry(cell, text, "code", text, mine, seen)]
    if cell.role == "written":
        return [_written(cell, copies, say)]
    return [_answer(master, cell, copies, plan)]


def _checks(cell: MasterCell, copies: list[Cell], say: Say) -> list[Entry]:
    """What a student wrote into a check: its definitions run, behind it."""
    if not copies:
        say(f"check '{cell.name}' was missing and was put back")
    if len(copies) > 1:
        say(f"check '{cell.name}' was there {len(copies)} times")
    if any(squeezed(copy.text) != squeezed(cell.text) for copy in copies):
        say(f"check '{cell.name}' was changed: the original counts")
    known = names.bound(cell.text)
    return [_own(c) for c in copies if c.kind == "code" and names.bound(c.text) - known]


def _given(cell: MasterCell, copies: list[Cell], say: Say) -> list[Entry]:
    """A given cell, and the student's version of it if that is another."""
    entries = [Entry(cell, cell.text, cell.kind, cell.text)]
    if cell.kind != "code":
        return [Entry(cell, cell.text, cell.kind)]
    if not copies:
        say(f"given cell '{cell.name}' was missing and was put back")
    for copy in copies:
        if copy.kind == "code" and squeezed(copy.text) != squeezed(cell.text):
            say(f"given cell '{cell.name}' was changed: yours runs after the original")
            entries.append(_own(copy))
    return entries


def _written(cell: MasterCell, copies: list[Cell], say: Say) -> Entry:
    """A written answer: nothing of what was written is lost."""
    texts = list(dict.fromkeys(copy.text for copy in copies))
    texts = [text for text in texts if squeezed(text) != squeezed(cell.text)]
    if not copies:
        say(f"written answer '{cell.name}' was missing: counted as not done")
    if any(copy.kind != "markdown" for copy in copies):
        say(f"written answer '{cell.name}' was of another type and was turned back")
    if len(texts) > 1:
        say(f"written answer '{cell.name}' was there {len(texts)} times: all are kept")
    text = joined(texts)
    return Entry(cell, text or cell.text, "markdown", mine=bool(text))


def _answer(master: Master, cell: MasterCell, copies: list[Cell], plan: Plan) -> Entry:
    """An answer: the last copy that is not the blank form, and what it lacks of
    earlier ones (a table that was split over two cells)."""
    say = plan.warnings.append
    filled = [c for c in copies if squeezed(c.text) not in ("", squeezed(cell.text))]
    if not copies:
        say(f"answer '{cell.name}' was missing: counted as not done")
    if any(c.kind != "code" for c in filled):
        say(f"answer '{cell.name}' was no code cell and was turned back")
    if not filled:
        plan.untouched.add(cell.name)
        # where it was taken out, another cell may hold the answer already
        return Entry(cell, cell.text, "code", cell.text if copies else None)
    chosen, lacking = [filled[-1]], master.names_of(cell)
    lacking -= names.bound(filled[-1].text)
    for copy in reversed(filled[:-1]):
        if names.bound(copy.text) & lacking:
            chosen.insert(0, copy)
            lacking -= names.bound(copy.text)
    if len(copies) > len(chosen):
        say(f"answer '{cell.name}' was there {len(copies)} times: the last one counts")
    text = joined(copy.text for copy in chosen)
    return Entry(cell, text, "code", text, mine=True)


class _Claims:
    """Which submitted cell is which cell of the master."""

    def __init__(self, master: Master, cells: list[Cell]) -> None:
        self.master, self.cells = master, cells
        self.warnings: list[str] = []
        self.whose: list[MasterCell | None] = [None] * len(cells)
        self.dropped: set[int] = set()
        self._by_id()
        lost = self._by_content() + self._by_meaning() + self._by_place()
        if lost:
            words = "a cell was" if lost == 1 else f"{lost} cells were"
            self.warnings.append(f"{words} known by content: the ids were lost")
        self._release()

    def of(self, cell: MasterCell) -> list[Cell]:
        """The copies of a master cell, in order."""
        return [c for c, who in zip(self.cells, self.whose, strict=True) if who is cell]

    def followers(self) -> dict[int | None, list[Cell]]:
        """The cells that the student added, by (the id of) the one before them."""
        found: dict[int | None, list[Cell]] = {}
        before: MasterCell | None = None
        for number, (cell, who) in enumerate(zip(self.cells, self.whose, strict=True)):
            if who is not None:
                before = who
            elif cell.text.strip() and number not in self.dropped:
                key = id(before) if before else None
                found.setdefault(key, []).append(cell)
        return found

    def _free(self) -> list[int]:
        return [n for n, who in enumerate(self.whose) if who is None]

    def _missing(self) -> list[MasterCell]:
        taken = {id(who) for who in self.whose}
        return [cell for cell in self.master.cells if id(cell) not in taken]

    def _by_id(self) -> None:
        by_id = {cell.id: cell for cell in self.master.cells if cell.id}
        named = {cell.name for cell in self.cells} & set(self.master.by_name)
        for number, cell in enumerate(self.cells):
            who = self.master.by_name.get(cell.name)
            if who is None and cell.id in by_id:
                who = by_id[cell.id]
                plain = who.role in ("prose", "open")
                if who.name in named or (plain and cell.kind != who.kind):
                    who = None  # a cell that was copied, or turned into another
            self.whose[number] = who

    def _by_content(self) -> int:
        """Cells without an id that say what a master cell says."""
        free, found = self._free(), 0
        texts: dict[tuple[str, str], list[int]] = {}
        for number in free:
            cell = self.cells[number]
            texts.setdefault((cell.kind, squeezed(cell.text)), []).append(number)
        for who in self._missing():
            same = texts.get((who.kind, squeezed(who.text)))
            if same:
                self.whose[same.pop(0)] = who
                found += bool(who.name)
        return found

    def _by_meaning(self) -> int:
        """Checks and answers whose ids are lost: by what they open, or define."""
        found = 0
        missing = self._missing()
        answers = {c.name: c for c in missing if c.role == "answer"}
        checks = {c.answer: c for c in missing if c.role == "check"}
        wanted = {n: a for a in answers.values() for n in self.master.names_of(a)}
        for number in self._free():
            cell = self.cells[number]
            bound = names.bound(cell.text) if cell.kind == "code" else frozenset()
            who = next((wanted[n] for n in sorted(bound) if n in wanted), None)
            opened = _START.search(cell.text)
            if who is None and opened and opened[1] in checks:
                who = checks[opened[1]]
            if who is not None:
                self.whose[number] = who
                found += 1
        return found

    def _by_place(self) -> int:
        """A written answer without an id: the text behind its question."""
        found = 0
        order = list(self.master.cells)
        for who in self._missing():
            if who.role != "written":
                continue
            place = next(n for n, cell in enumerate(order) if cell is who)
            question = order[place - 1] if place else None
            for number, before in enumerate(self.whose):
                if before is not question or question is None:
                    continue
                for after in range(number + 1, len(self.cells)):
                    if (
                        self.whose[after] is not None
                        or self.cells[after].kind == "code"
                    ):
                        break
                    self.whose[after] = who
                    found += 1
        return found

    def _release(self) -> None:
        """Copies of an answer's cell that hold something else are added cells.

        Of copies that do hold the answer, the others are left out.
        """
        for who in self.master.cells:
            if who.role != "answer":
                continue
            wanted = self.master.names_of(who)
            copies = [n for n, other in enumerate(self.whose) if other is who]
            real = [n for n in copies if names.bound(self.cells[n].text) & wanted]
            for number in copies if real and len(copies) > 1 else []:
                if number not in real:
                    self.whose[number] = None
