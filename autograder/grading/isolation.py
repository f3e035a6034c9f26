"""Which walls to grade behind: the strongest that stand here, or those asked for."""

from __future__ import annotations

from ..engine import jail
from ..errors import CourseError

#: strong enough for other people's work without being asked
ENOUGH = ("namespaces", "landlock")


def choose(wanted: str | None, own_work: bool) -> str:
    """The level to grade at.

    wanted   : the level asked for; None for the strongest that works
    own_work : True when nobody else's code is run

    Raises CourseError when the level asked for does not work here, and when nothing
    strong enough for other people's work does and none was asked for.
    """
    if wanted is not None:
        canary = jail.probe(wanted)
        if not canary.works:
            raise CourseError(
                f"isolation {wanted!r} does not work here: {canary.why}",
                canary.mend or "see `python -m autograder doctor`",
            )
        return wanted
    tried = []
    for level in jail.LEVELS if own_work else ENOUGH:
        canary = jail.probe(level)
        if canary.works:
            return level
        tried.append(f"{level}: {canary.why}")
    raise CourseError(
        "nothing here shuts in other people's code: " + "; ".join(tried),
        "`python -m autograder doctor` says how to get it; or, for work that you "
        "trust: --isolation none (or container)",
    )
