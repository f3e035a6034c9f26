"""What a graded class looks like: its files, and the rows of its gradebook."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from autograder.grading.results import in_lines

#: what lies in class/ and is not derived from what students handed in
APART = {"gradebook.db", "submitted", "simulated.json", ".grading"}

_OF = """
join submitted_notebook n on x.notebook_id = n.id
join submitted_assignment s on n.assignment_id = s.id
join base_cell b on x.cell_id = b.id order by 1, 2
"""
GRADES = f"""
select s.student_id, b.name, x.auto_score, x.manual_score, x.extra_credit,
       x.needs_manual_grade from grade x {_OF}
"""
COMMENTS = f"""
select s.student_id, b.name, x.auto_comment, x.manual_comment from comment x {_OF}
"""
SUBMISSIONS = """
select s.student_id, s.timestamp, n.late_submission_penalty
from submitted_assignment s join submitted_notebook n on n.assignment_id = s.id
order by 1
"""


def rows(root: Path, query: str = GRADES) -> list[tuple[Any, ...]]:
    """What a query finds in the gradebook."""
    database = sqlite3.connect(root / "class" / "gradebook.db")
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


def files(root: Path) -> dict[str, str]:
    """Every file under class/ that grading wrote, by its path: a fingerprint."""
    found = {}
    for path in sorted((root / "class").rglob("*")):
        inside = path.relative_to(root / "class")
        if inside.parts[0] not in APART and not path.is_dir():
            found[str(inside)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def results(root: Path) -> dict[str, str]:
    """The text of every result but for the time that checks took."""
    found = {}
    for path in sorted((root / "class" / "results").glob("*/*.json")):
        text = path.read_text(encoding="utf-8")
        result = json.loads(text)
        assert in_lines(result) == text
        for check in result["checks"]:
            check["seconds"] = None
        found[path.parent.name] = json.dumps(result, indent=1, ensure_ascii=False)
    return found


def pages(root: Path) -> dict[str, str]:
    """The text of every feedback page."""
    found = sorted((root / "class" / "feedback").glob("*/*/*.html"))
    return {path.parts[-3]: path.read_text(encoding="utf-8") for path in found}


def notebooks(root: Path) -> dict[str, str]:
    """The text of every graded notebook but for the time that checks took."""
    found = {}
    for path in sorted((root / "class" / "autograded").glob("*/*/*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            for output in cell.get("outputs", []):
                for data in output.get("data", {}).values():
                    if isinstance(data, dict):
                        data.pop("seconds", None)
        found[path.parts[-3]] = json.dumps(notebook)
    return found


def table(root: Path) -> list[dict[str, str]]:
    """The rows of grades.csv."""
    with (root / "class" / "grades.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def graded(root: Path) -> dict[str, Any]:
    """All of it, to be compared with that of another run."""
    return {
        "results": results(root),
        "notebooks": notebooks(root),
        "pages": pages(root),
        "table": (root / "class" / "grades.csv").read_bytes(),
        "grades": rows(root),
        "comments": rows(root, COMMENTS),
        "submissions": rows(root, SUBMISSIONS),
        "files": sorted(files(root)),
    }


def differing(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Where two graded classes differ; empty when they are equal."""
    found = {}
    for name in one:
        if one[name] != other[name]:
            mine, theirs = _pieces(one[name]), _pieces(other[name])
            found[name] = [x for x in mine + theirs if (x in mine) != (x in theirs)]
    return found


def _pieces(value: Any) -> list[str]:
    if isinstance(value, bytes):
        return [repr(line) for line in value.splitlines()]
    return [repr(x) for x in (value.items() if isinstance(value, dict) else value)]
