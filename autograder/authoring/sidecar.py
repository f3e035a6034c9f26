"""The expected values of an assignment, as the two files that `check` reads.

`<chapter>.expected.json` is released with the notebook: the visible cases, what
the reference gives, what known wrong answers give, the hints that go with them.
`<chapter>.hidden.json` holds the same for hidden cases and never leaves
`solutions/`.
"""

from __future__ import annotations

import ast
import hashlib
import json
from typing import Any

import numpy as np

from ..checking.compare import compare
from ..checking.forbid import forbidden_in
from ..checking.record import Record
from ..checking.values import Raised, decode, encode
from .misconceptions import Answer, renamed
from .reference import walk
from .source import Assignment, Cell, complain, defines_itself, without_hidden

MADE_BY = "python -m autograder build"


def make(
    assignment: Assignment, known: list[Answer], seed: int | None = None
) -> tuple[dict, dict]:
    """Run the reference and every wrong answer; return (visible, hidden) data.

    seed : draw the inputs of hidden cases from it; None for the committed ones

    Raises CourseError when the reference fails a case or leaves its grid.
    """
    visible: dict[str, Any] = {
        "made_by": MADE_BY,
        "assignment": assignment.chapter,
        "release": release_of(assignment),
    }
    hidden: dict[str, Any] = dict(visible)
    for data in (visible, hidden):
        data["checks"], data["hints"] = {}, {}
    for check, answer, runner in walk(assignment, seed):
        records = runner.reference()
        shown = _labels(without_hidden(check.text))
        wrongs = [a for a in known if a.answer == answer.id and not a.right]
        others = {a.name: {r.label: r for r in runner.other(a)} for a in wrongs}
        entries: tuple[list, list] = ([], [])
        for record in records:
            case = _case(record, runner.options[record.label], others)
            entries[record.label not in shown].append(case)
        if not entries[0]:
            raise complain(
                assignment.path, check.line, f"{check.id} has hidden cases only",
                "students need a verdict too: add a case before the hidden region",
            )  # fmt: skip
        common: dict[str, Any] = {
            "answer": answer.id, "points": check.points, "forbid": check.forbid,
            **({"limits": check.limits} if check.limits else {}),
        }  # fmt: skip
        visible["checks"][check.id] = {
            **common, "hidden": len(entries[1]), "cases": entries[0],
        }  # fmt: skip
        hidden["checks"][check.id] = {**common, "cases": entries[1]}
        for data, cases in ((visible, entries[0]), (hidden, entries[1])):
            used = {name for case in cases for name in case["wrong"]}
            data["hints"].update({a.name: a.hint for a in wrongs if a.name in used})
        for a in wrongs:
            if refused(a, answer, check, assignment):
                visible["hints"][f"{check.id}:forbidden"] = a.hint
    return visible, hidden


def release_of(assignment: Assignment) -> str:
    """A name for this state of the sources: both files of a release carry it."""
    digest = hashlib.sha256()
    for name in (assignment.path.name, "misconceptions.py", "worksheet.py"):
        path = assignment.path.with_name(name)
        if path.is_file():
            digest.update(path.read_text(encoding="utf-8").encode())
    return digest.hexdigest()[:12]


def refused(
    known: Answer, answer: Cell, check: Cell, assignment: Assignment
) -> str | None:
    """Why a known answer may not count here: it uses what the check forbids."""
    if not check.forbid or not defines_itself(answer):
        return None
    return forbidden_in(given(assignment), renamed(known), known.answer, check.forbid)


def given(assignment: Assignment) -> list[str]:
    """The texts of the cells that students get as they are."""
    cells = assignment.by_role("given") + assignment.by_role("explore")
    return [cell.text for cell in cells if cell.kind == "code"]


def _labels(text: str) -> set[str]:
    """The labels of the check calls in a text (first arguments that are strings)."""
    return {
        str(node.args[0].value)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "check"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


def _case(
    record: Record, options: dict[str, Any], others: dict[str, dict[str, Record]]
) -> dict[str, Any]:
    expected = encode(record.value)
    dtype = str(getattr(record.value, "dtype", "")).removeprefix("torch.")
    dtype_name = dtype if options["dtype"] else None
    wrong = {}
    for name, records in others.items():
        value = _wrong_value(
            records.get(record.label), expected, options["tol"], dtype_name
        )
        if value is not None:
            wrong[name] = value
    return {
        "label": record.label,
        "weight": options["weight"],
        "tol": options["tol"],
        "dtype": dtype_name,
        "expected": expected,
        "wrong": wrong,
    }


def _wrong_value(
    record: Record | None, expected: Any, tol: float | None, dtype: str | None
) -> Any:
    """What a wrong answer gives in a case, or None where it is right there."""
    if record is None or record.status == "blank":
        return None
    value = Raised(record.error or "") if record.status == "raised" else record.value
    if compare(value, decode(expected), tol, dtype) is not None:
        return encode(value)
    return {"kind": "mutates"} if record.mutated else None


def dump(data: dict[str, Any]) -> str:
    """The file's text: one line a case, so that a difference can be read."""
    head = {k: v for k, v in data.items() if k not in ("checks", "hints")}
    lines = [
        "{",
        *(f' "{k}": {json.dumps(v)},' for k, v in head.items()),
        ' "checks": {',
    ]
    blocks = []
    for check_id, check in data["checks"].items():
        rest = {k: v for k, v in check.items() if k != "cases"}
        cases = ",\n".join(
            "    " + json.dumps(c, ensure_ascii=False) for c in check["cases"]
        )
        fields = json.dumps(rest)[1:-1]
        blocks.append(f'  "{check_id}": {{{fields}, "cases": [\n{cases}\n  ]}}')
    lines += [",\n".join(blocks), " },", ' "hints": {']
    lines += [
        ",\n".join(
            f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}"
            for k, v in data["hints"].items()
        ),
        " }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def same(a: Any, b: Any) -> bool:
    """True when two sidecars say the same, up to the last digits of floats."""
    if type(a) is dict and type(b) is dict:
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if type(a) is list and type(b) is list:
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) is float or type(b) is float:
        return bool(np.isclose(float(a), float(b), rtol=1e-4, atol=1e-6))
    return type(a) is type(b) and bool(a == b)
