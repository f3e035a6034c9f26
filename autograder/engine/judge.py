"""Decide, outside the jail, what came back is worth.

Only values count: no exit code, no printed line, no file means "right". What a
student's process says in words is shortened, and shown only where it can't tell what a
hidden case hands over.
"""

from __future__ import annotations

import builtins
from typing import Any

from ..checking.compare import as_array
from ..checking.forbid import forbidden_in, unreadable
from ..checking.judge import Expected, Verdict, refuse
from ..checking.judge import judge as judge_records
from ..checking.record import Record
from ..checking.statements import tree
from ..checking.values import Opaque
from . import frames
from .limits import Limits
from .master import Master, MasterCell
from .plan import Plan
from .run import Case, Checked, Ran, Run
from .shown import amount, words

#: why something was stopped -> the status in the result file
STATUS = {
    "timeout": "timeout",
    "late": "timeout",
    "memory": "memory",
    "output": "output",
    "garbled": "crash",
    "died": "crash",
}
#: what torch says when there is no memory left
_NO_PYTHON = ("SyntaxError", "IndentationError", "TabError")
_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")


def judge(master: Master, plan: Plan, run: Run) -> dict[str, Verdict]:
    """The verdict on every check of an assignment, by name."""
    return {check.name: _verdict(master, plan, run, check) for check in master.checks}


def _verdict(master: Master, plan: Plan, run: Run, check: MasterCell) -> Verdict:
    checked = run.checks[check.name]
    limits = master.limits_for(check)
    records = [record for case in checked.cases.values() if (record := as_record(case))]
    if checked.why == "blank":
        blank = [Record(c["label"], "blank") for c in _cases(master, check)]
        return judge_records(check.name, blank, master.expected)
    if checked.why != "done":
        verdict = decide(check.name, records, master.expected)
        return stopped(verdict, STATUS[checked.why], sentence(checked, limits))
    came = any(record.status == "value" for record in records)
    if came and (reason := _forbidden(master, plan, run, check)):
        return refuse(check.name, reason, master.expected)
    verdict = decide(check.name, records, master.expected)
    broken = next((ran for ran in checked.answer if ran.error), None)
    if checked.error and verdict.score < verdict.max_score:
        _explain(verdict, checked, broken)
    elif any(map(_no_memory, records)) and verdict.status in ("wrong", "error"):
        verdict.status = "memory"
    return verdict


def _cases(master: Master, check: MasterCell) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = master.expected.checks[check.name]["cases"]
    return cases


def decide(name: str, records: list[Record], expected: Expected) -> Verdict:
    """The verdict on what came, in reasons that are short.

    Of what a hidden case gave they tell no more than counts and shapes.
    """
    try:
        verdict = judge_records(name, records, expected)
    except Exception:  # a value that can't even be compared
        for record in records:
            record.value = Opaque("value that can't be read")
        verdict = judge_records(name, records, expected)
    for case in verdict.cases:
        if case.hidden and case.status == "wrong" and not is_table(case.got):
            case.reason = "your value is not the expected one"
        case.reason = words(case.reason, 500) or None
    verdict.reason = first_reason(verdict)
    return verdict


def first_reason(verdict: Verdict) -> str | None:
    """Why the first case that did not pass did not."""
    return next((case.reason for case in verdict.cases if not case.passed), None)


def is_table(value: Any) -> bool:
    """Whether a value is numbers in rows, and no single one."""
    array = as_array(value)
    return array is not None and array.ndim > 0


def as_record(case: Case) -> Record | None:
    """What a case sent, as a record; None when it is no such thing."""
    head, blobs, hidden = case
    label, status = head.get("label"), head.get("status")
    if not isinstance(label, str) or status not in ("value", "blank", "raised"):
        return None
    record = Record(
        label,
        status,
        mutated=head.get("mutated") is True,
        seconds=amount(head.get("seconds"), 1e4),
    )
    if status == "value":
        record.value = frames.unpack(head.get("value"), blobs)
    elif status == "raised":
        record.error = words(head.get("error"), 100) or "Exception"
        record.reason = words(head.get("reason"), 500) or None
        if hidden:
            record.reason = f"your code raised {_plain(record.error)}"
    return record


def _plain(error: str) -> str:
    """The name of an exception of Python's own; others may say anything."""
    kind = getattr(builtins, error, None)
    known = isinstance(kind, type) and issubclass(kind, BaseException)
    return error if known else "an error"


def _no_memory(record: Record) -> bool:
    said = (record.reason or "").lower()
    return record.error == "MemoryError" or any(text in said for text in _NO_MEMORY)


def _forbidden(master: Master, plan: Plan, run: Run, check: MasterCell) -> str | None:
    """Why an answer may not count: it calls what its exercise asks to write.

    One that runs, and still can't be read as Python, does not count either.
    """
    forbidden = master.expected.checks[check.name].get("forbid", [])
    if not forbidden:
        return None
    answer = master.by_name[check.answer]
    holding = plan.holding(answer, master.names_of(answer))
    place = next(n for n, entry in enumerate(plan.entries) if entry.cell is check)
    # the given cells too: they may hold what an answer is to be written without
    before = [
        (n, entry.runs)
        for n, entry in enumerate(plan.entries[:place])
        if entry.runs and not _never_ran(entry.runs, run.cells.get(n))
    ]
    mine = [text for n, text in before if n in holding]
    others = [text for n, text in before if n not in holding]
    try:
        if any(tree(text) is None for text in mine):
            return unreadable(check.answer)
        return forbidden_in(others, mine, check.answer, forbidden)
    except RecursionError:
        return unreadable(check.answer)


def _never_ran(text: str, ran: Ran | None) -> bool:
    """True for a cell that is no Python, here and where it was to run: a student's
    code can raise a SyntaxError as well."""
    return ran is not None and ran.error in _NO_PYTHON and tree(text) is None


def stopped(verdict: Verdict, status: str, reason: str) -> Verdict:
    """A check that had to be stopped counts nothing, and says why."""
    verdict.score, verdict.status, verdict.reason = 0.0, status, reason
    verdict.hint = verdict.misconception = None
    for case in verdict.cases:
        if case.status == "error" and case.reason == "this case did not run":
            case.reason = "it was stopped before this case was through"
    return verdict


def sentence(checked: Checked, limits: Limits) -> str:
    """Why a check was stopped, for the student."""
    mine = any(ran.why != "done" for ran in checked.answer)
    what = "the cell of this answer" if mine else "the check of this answer"
    if checked.why == "timeout":
        said = (
            f"took more than {limits.seconds:g} s and was stopped: a loop without end?"
        )
    elif checked.why == "late":
        return (
            f"the whole notebook may take {limits.submission:g} s, and earlier cells "
            "have used them up"
        )
    elif checked.why == "memory":
        said = f"used more than {limits.memory / 2**30:g} GB of memory and was stopped"
    elif checked.why == "output":
        said = (
            f"printed or returned far too much (more than {limits.text_kills // 1024} "
            f"kB of text, or a value of more than {limits.value / 2**20:g} MB)"
        )
    elif checked.why == "garbled":
        said = "wrote to an open file that was not its own and was stopped"
    else:
        said = "ended the process that it ran in (os._exit, a crash of a library?)"
    return f"{what} {said}"


def _explain(verdict: Verdict, checked: Checked, broken: Ran | None) -> None:
    """The lines of a check raised by themselves: often since the answer is missing."""
    if broken is not None:
        text = f": {broken.text}" if broken.text else ""
        reason = f"the cell of this answer raised {broken.error}{text}"
    elif checked.error in ("SystemExit", "KeyboardInterrupt"):
        reason = f"the check was ended by {checked.error}"
    else:
        reason = f"the check stopped: {_plain(checked.error)}"
        if checked.error == "NameError":
            reason += f": {checked.text}"
    for case in verdict.cases:
        if case.reason == "this case did not run":
            case.reason = reason
    verdict.reason = first_reason(verdict)
    if verdict.status in ("wrong", "error", "blank"):
        verdict.status, verdict.reason = "error", reason


def nothing(expected: Expected, status: str, reason: str) -> dict[str, Verdict]:
    """The verdicts when nothing could be run: no points, one reason."""
    found = {}
    for name in expected.checks:
        verdict = judge_records(name, [], expected)
        verdict.score, verdict.status, verdict.reason = 0.0, status, reason
        verdict.cases, verdict.hint, verdict.misconception = [], None, None
        found[name] = verdict
    return found
