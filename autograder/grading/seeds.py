"""The seed from which hidden cases draw their inputs: one a class and assignment.

It is drawn once, so that a class is judged on the same inputs and a run that was
stopped goes on as it began. A changed assignment, or grading all again, draws anew.
"""

from __future__ import annotations

import json
import secrets

from ..errors import CourseError
from .classroom import Classroom
from .results import write_text

MOST = 2**31


def seed_for(
    room: Classroom, assignment: str, wanted: int | None, *, fresh: bool
) -> int:
    """The seed of this class and assignment; kept in class/seeds.json.

    wanted : the seed asked for
    fresh  : draw a new one

    Raises CourseError for a seed out of range.
    """
    if wanted is not None and not 0 <= wanted < MOST:
        raise CourseError(f"--seed {wanted}?", f"it takes 0 to {MOST - 1}", usage=True)
    path = room.root / "class" / "seeds.json"
    try:
        known = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        known = {}
    digest = room.digest(assignment)
    old = known.get(assignment, {})
    seed = old.get("seed") if isinstance(old, dict) else None
    if wanted is not None:
        seed = wanted
    elif fresh or type(seed) is not int or old.get("assignment_sha256") != digest:
        seed = secrets.randbelow(MOST)
    known[assignment] = {"seed": seed, "assignment_sha256": digest}
    write_text(path, json.dumps(known, indent=1) + "\n")
    return seed
