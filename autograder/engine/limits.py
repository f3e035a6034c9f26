"""How much a submission may use. All limits are here; a chapter may widen its own."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..errors import CourseError

KIB, MIB, GIB = 2**10, 2**20, 2**30


@dataclass(frozen=True)
class Limits:
    """The limits of one submission.

    seconds          : wall clock, for a cell or for the cases of one check
    submission       : wall clock, for everything of one submission together (s)
    memory           : address space of a process beyond what the warm one has
                       mapped, and what all of a submission's processes hold together
                       (bytes; on a GPU only the latter)
    processes        : processes and threads at a time
    file             : size of a file it writes (bytes)
    scratch          : size of /tmp, of /dev/shm and of the work folder, each (bytes)
    text, text_kills : output of a cell or check: kept of it, and the most (bytes)
    pictures         : pictures and tables kept of a cell (bytes)
    value            : what a case may give back (bytes)
    notebook, cells  : size of the notebook (bytes), and its cells
    code             : text of its code cells together (characters)
    """

    seconds: float = 10.0
    submission: float = 120.0
    memory: int = 4 * GIB
    processes: int = 64
    file: int = 16 * MIB
    scratch: int = 64 * MIB
    text: int = 64 * KIB
    text_kills: int = MIB
    pictures: int = 2 * MIB
    value: int = 8 * MIB
    notebook: int = 10 * MIB
    cells: int = 500
    code: int = MIB

    def but(self, changes: dict[str, Any]) -> Limits:
        """These limits with some of them changed.

        Raises CourseError for an unknown name or a number that is not positive.
        """
        known = {f.name for f in fields(self)}
        made = {}
        for name, value in changes.items():
            if name not in known:
                raise CourseError(
                    f"there is no limit {name!r}", f"limits: {', '.join(sorted(known))}"
                )
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value < 2**50:
                raise CourseError(
                    f"the limit {name}={value!r} is no positive number",
                    "seconds, bytes and counts are written as plain numbers",
                )
            whole = isinstance(getattr(self, name), int)
            made[name] = max(1, int(value)) if whole else float(value)
        return replace(self, **made)  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def limits_of(chapter: str, root: Path) -> Limits:
    """The limits of a chapter: the defaults, less what its `limits.json` changes.

    Raises CourseError when `solutions/<chapter>/limits.json` can't be read.
    """
    path = root / "solutions" / chapter / "limits.json"
    if not path.is_file():
        return Limits()
    try:
        changes = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(changes, dict):
            raise ValueError("it is no JSON object")
    except (OSError, ValueError) as error:
        raise CourseError(
            f"{path} can't be read: {error}", 'write for example {"seconds": 60}'
        ) from None
    try:
        return Limits().but(changes)
    except CourseError as error:
        raise CourseError(f"{path}: {error.message}", error.mend) from None
