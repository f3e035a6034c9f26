"""Whatever is handed in gets a result: damage costs nothing, rubbish has a reason."""

from __future__ import annotations

import copy
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.engine import graded, jail
from autograder.tests import damage
from autograder.tests.corpus import Room, statuses


@pytest.fixture(scope="module")
def room(built_course):
    level = "namespaces" if jail.probe("namespaces").works else "none"
    room = Room(built_course, level)
    yield room
    room.close()


def notebook(room: Room) -> Any:
    """The well answered notebook as plain JSON."""
    return json.loads(json.dumps(room.honest))


def changed(room: Room, change: damage.Damage) -> bytes:
    """The bytes of a changed notebook."""
    whole = notebook(room)
    other = change.change(whole)
    return damage.as_bytes(whole if other is None else other)


@pytest.mark.parametrize("name", damage.HONEST)
def test_honest_damage_costs_nothing_and_is_said(room, name) -> None:
    change = damage.HONEST[name]
    result = room.grade(changed(room, change)).result
    assert statuses(result) == damage.RIGHT, result
    assert result.score == result.max_score
    assert any(change.says in text for text in ["", *result.warnings]), result.warnings
    room.grade_honest()


def test_an_undamaged_notebook_has_no_warning(room) -> None:
    assert room.grade(room.honest).result.warnings == []


@pytest.mark.parametrize("name", damage.ODD)
def test_what_can_be_graded_is(room, name) -> None:
    change = damage.ODD[name]
    result = room.grade(changed(room, change)).result
    assert statuses(result) == change.statuses, result
    assert any(change.says in text for text in ["", *result.warnings]), result.warnings
    room.grade_honest()


@pytest.mark.parametrize("name", damage.REFUSED)
def test_rubbish_is_refused_with_a_reason(room, name) -> None:
    data, says = damage.REFUSED[name]
    made = room.grade(data)
    refused(made, says)


def refused(made: graded.Graded, says: str) -> None:
    """Nothing was graded, and every check says why."""
    assert made.notebook is None
    assert made.result.score == 0
    for check in made.result.checks:
        assert check.status == "refused"
        assert says in check.reason


# ---------------------------------------------------------------------- folders


@pytest.fixture
def place(tmp_path) -> Path:
    """Where a notebook is handed in."""
    path = tmp_path / "mallory" / "attention" / "attention.ipynb"
    path.parent.mkdir(parents=True)
    return path


def test_another_name_is_taken_where_there_is_only_one(room, place) -> None:
    place.with_name("my attention (1).ipynb").write_bytes(
        damage.as_bytes(notebook(room))
    )
    place.with_name(".hidden.ipynb").write_text("{}")
    result = room.grade_path(place).result
    assert result.score == result.max_score
    assert "is called 'my attention (1).ipynb'" in result.warnings[0]


def test_an_odd_name_can_be_told(room, place) -> None:
    name = os.fsdecode(b"caf\xe9 \n<b>.ipynb")
    place.with_name(name).write_bytes(damage.as_bytes(notebook(room)))
    result = room.grade_path(place).result
    assert result.score == result.max_score
    place.with_name(name).write_text("[]")
    refused(room.grade_path(place), "not a notebook")


def test_missing_and_more_than_one(room, place) -> None:
    refused(room.grade_path(place), "is missing")
    refused(room.grade_path(place.parent / "none" / "attention.ipynb"), "is missing")
    for number in range(50):
        place.with_name(f"{number}.ipynb").write_text("{}")
    refused(room.grade_path(place), "there are 0.ipynb, 1.ipynb")


def test_links_are_not_followed(room, place, tmp_path) -> None:
    good = tmp_path / "good.ipynb"
    good.write_bytes(damage.as_bytes(notebook(room)))
    place.symlink_to(good)
    refused(room.grade_path(place), "link")
    place.unlink()
    place.symlink_to(tmp_path / "nowhere")
    refused(room.grade_path(place), "link")
    place.unlink()
    place.symlink_to("/dev/zero")
    refused(room.grade_path(place), "link")
    place.unlink()
    place.with_name("other.ipynb").symlink_to(good)
    refused(room.grade_path(place), "link")


def test_links_to_the_folders_of_others_are_not_followed(room, place, tmp_path) -> None:
    place.write_bytes(damage.as_bytes(notebook(room)))
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "attention").symlink_to(place.parent)
    refused(room.grade_path(tmp_path / "eve" / "attention" / place.name), "link")
    (tmp_path / "trudy").symlink_to(tmp_path / "mallory")
    refused(room.grade_path(tmp_path / "trudy" / "attention" / place.name), "link")


def test_what_is_no_file_is_not_opened_for_long(room, place) -> None:
    place.mkdir()
    (place / "attention.ipynb").write_text("{}")
    refused(room.grade_path(place), "folder or a device")
    (place / "attention.ipynb").unlink()
    place.rmdir()
    os.mkfifo(place)
    refused(room.grade_path(place), "folder or a device")
    place.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.open(place.parent, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{folder}/{place.name}")
        os.close(folder)
        refused(room.grade_path(place), "not readable")
    place.unlink()
    place.parent.rmdir()
    place.parent.write_text("a file where the folder should be")
    refused(room.grade_path(place), "is missing")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
def test_devices_are_not_read(room, place) -> None:
    os.mknod(place, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    refused(room.grade_path(place), "device")


def test_a_file_larger_than_it_looks_is_not_read(room, place) -> None:
    with place.open("wb") as file:
        file.truncate(2**40)
    refused(room.grade_path(place), "larger than 10 MB")


def test_a_file_that_may_not_be_read(room, place) -> None:
    place.write_bytes(damage.as_bytes(notebook(room)))
    place.chmod(0)
    made = room.grade_path(place)
    if os.geteuid() == 0:
        assert made.result.score == made.result.max_score
    else:
        refused(made, "not readable")


# ------------------------------------------------------------------------- fuzzing


def bounded(examples: int) -> settings:
    """So many examples, the same every time."""
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


SMALL = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
    | st.sampled_from(["code", "markdown", "softmax", "twice-check", "check.score()"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "source", "metadata", "nbgrader", "grade_id"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@st.composite
def mutations(draw: st.DrawFn, whole: Any) -> Any:
    """A notebook with some of its JSON replaced, dropped, doubled or moved."""
    whole = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 6))):
        part, depth = whole, draw(st.integers(0, 5))
        for _ in range(depth):
            inside = [p for p in children(part) if isinstance(p, (dict, list)) and p]
            if not inside:
                break
            part = draw(st.sampled_from(inside))
        if not part:
            continue
        keys = list(part) if isinstance(part, dict) else range(len(part))
        key = draw(st.sampled_from(keys))
        action = draw(st.sampled_from(["put", "put", "drop", "double", "swap"]))
        if action == "put":
            part[key] = draw(SMALL)
        elif action == "drop":
            del part[key]
        elif action == "double" and isinstance(part, list):
            part.insert(draw(st.integers(0, len(part))), copy.deepcopy(part[key]))
        elif action == "swap":
            other = draw(st.sampled_from(keys))
            part[key], part[other] = part[other], part[key]
    return whole


def children(part: Any) -> list[Any]:
    """What a piece of JSON holds."""
    return list(part.values()) if isinstance(part, dict) else list(part)


def test_mutated_notebooks_always_get_a_result(room) -> None:
    whole = notebook(room)

    @bounded(100)
    @given(mutations(whole))
    def run(mutated: Any) -> None:
        result = room.grade(json.dumps(mutated).encode()).result
        assert {check.answer for check in result.checks} == {"softmax", "twice"}

    run()
    room.grade_honest()


def test_mutated_bytes_always_get_a_result(room) -> None:
    whole = damage.as_bytes(notebook(room))

    @bounded(60)
    @given(
        st.lists(
            st.tuples(
                st.integers(0, len(whole)), st.integers(0, 30), st.binary(max_size=8)
            ),
            min_size=1,
            max_size=4,
        )
    )
    def run(changes: list[tuple[int, int, bytes]]) -> None:
        data = whole
        for at, length, put in changes:
            data = data[:at] + put + data[at + length :]
        room.grade(data)

    run()
    room.grade_honest()


def test_any_bytes_always_get_a_result(room) -> None:
    @bounded(200)
    @given(st.binary(max_size=400) | SMALL.map(lambda x: json.dumps(x).encode()))
    def run(data: bytes) -> None:
        assert room.grade(data).result.score == 0

    run()
