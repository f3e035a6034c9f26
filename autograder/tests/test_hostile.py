"""Every trick of the corpus gets the verdict of its folder, and that is all."""

from __future__ import annotations

import pytest

from autograder.engine import jail
from autograder.tests.corpus import STATUSES, Room, Trick, statuses, tricks

ALL = tricks()
#: the second level where this Python can be read by the users that submissions become
#: (what is left out is said in the last lines of `make test`)
LEVELS = ["namespaces", *(["landlock"] if jail.probe("landlock").works else [])]


@pytest.fixture(scope="module", params=LEVELS)
def room(request, built_course):
    room = Room(built_course, request.param)
    yield room
    room.close()


@pytest.mark.parametrize("trick", ALL, ids=lambda t: f"{t.status}-{t.path.stem}")
def test_verdict(room: Room, trick: Trick) -> None:
    made = room.grade_trick(trick)
    found = statuses(made.result)
    assert found["softmax"] == trick.status, made.result
    if trick.status != "refused":
        assert found["twice"] == trick.other, made.result
    reason = made.result.checks[0].reason or ""
    assert trick.says in reason
    if trick.status not in ("right", "blank"):
        assert reason
    room.grade_honest()


def test_every_folder_is_a_status() -> None:
    assert {trick.status for trick in ALL} == set(STATUSES)


def test_every_trick_says_what_it_tries() -> None:
    for trick in ALL:
        assert trick.text.startswith("# "), trick.path
        assert len(trick.text.partition("\n")[0]) > 30, trick.path
