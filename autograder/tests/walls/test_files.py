"""Files: what is not given can't be read, written, changed or filled up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REACH = """
def write(path):
    with open(path, "r+") as file:
        file.write("spoilt")
secret = Path({secret!r})
tell([attempt(secret.read_text), attempt(lambda: write(secret)),
      attempt(lambda: (secret.parent / "new").write_text("x")),
      attempt(lambda: os.listdir(secret.parent)), attempt(secret.unlink)])
"""


def test_nothing_outside_can_be_read_or_written(shut, outside) -> None:
    code = REACH.format(secret=str(outside / "secret"))
    never = "ENOENT" if shut.level == "namespaces" else "EACCES"
    assert shut.told(code) == [never] * 5
    assert (outside / "secret").read_text() == "untouched"


def test_without_landlock_all_of_it_could(bare, outside) -> None:
    code = REACH.format(secret=str(outside / "secret"))
    assert bare.told(code, "landlock") == ["done"] * 5
    assert [path.name for path in outside.iterdir()] == ["new"]


def test_what_is_given_can_be_read_and_not_written(start, shut, outside) -> None:
    warm = start(shut.level, shut.user, readable=(outside,))
    read, *rest = warm.told(REACH.format(secret=str(outside / "secret")))
    assert read == "done"
    assert rest[2] == "done"  # the folder's names
    assert {rest[0], rest[1], rest[3]} <= {"EROFS", "EACCES"}
    assert (outside / "secret").read_text() == "untouched"


def test_what_is_given_in_tmp_stays_in_sight_there(start, spaces, outside) -> None:
    """Each submission has a /tmp of its own, in which nothing else is."""
    secret, other = outside / "secret", outside / "other"
    other.touch()
    code = f"""
    Path("/tmp/new").write_text("x")
    tell([os.path.exists({str(secret)!r}), os.path.exists({str(other)!r})])
    """
    assert spaces.told(code) == [False, False]
    for given in (outside, secret):
        warm = start("namespaces", spaces.user, readable=(given,))
        assert warm.told(code) == [True, given == outside]


MODES = """
import shutil
secret = Path({secret!r})
attempt(lambda: os.truncate(secret, 0))
attempt(lambda: os.utime(secret, (1, 1)))
attempt(lambda: os.setxattr(secret, "user.x", b"x"))
attempt(lambda: secret.chmod(0))
Path("mine").write_text("x")
shutil.copy2("mine", "copy")
tell("done")
"""


@pytest.mark.parametrize("abi", [None, 1, 2, 3, 5])
def test_modes_and_times_outside_stay(bare, outside, abi) -> None:
    """Landlock says nothing about them, and before version 3 nothing about cutting."""
    secret = outside / "secret"
    before = secret.stat()
    code = MODES.format(secret=str(secret))
    assert bare.told(code, abi=abi) == "done"
    after = secret.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert secret.read_text() == "untouched"
    if bare.user == "user":
        assert bare.told(code, "seccomp", abi=abi) == "done"
        assert secret.stat().st_mode != before.st_mode
        assert secret.stat().st_size == (0 if abi in (1, 2) else before.st_size)


def test_no_way_around_by_links(bare, outside) -> None:
    code = f"""
    secret = {str(outside / "secret")!r}
    os.symlink(secret, "soft")
    tell([attempt(lambda: open("soft").read()),
          attempt(lambda: os.link(secret, "hard")),
          attempt(lambda: os.rename(secret, "moved"))])
    """
    assert set(bare.told(code)) <= {"EACCES", "EXDEV", "EPERM"}
    assert (outside / "secret").exists()


def test_the_system_stays_as_it_is(shut) -> None:
    code = """
    places = ("/", "/usr", "/etc", "/dev", "/usr/lib", "/proc/sys")
    tell([attempt(lambda: Path(place, "new").write_text("x")) for place in places])
    """
    assert set(shut.told(code)) <= {"EACCES", "EROFS", "ENOENT"}


FILL = """
def fill(folder):
    for count in range(64):
        try:
            Path(folder, f"file{count}").write_bytes(bytes(1 << 20))
        except OSError as error:
            return [count, error.errno]
    return [64, 0]
tell([fill(folder) for folder in ("/tmp", "/dev/shm", os.getcwd())])
"""


def test_folders_in_memory_have_a_size(spaces) -> None:
    full = 28
    assert spaces.told(FILL, limits={"scratch": 4 << 20}) == [[4, full]] * 3
    assert spaces.told(FILL, limits={"scratch": 80 << 20}) == [[64, 0]] * 3


def test_folders_in_memory_hold_so_many_files(spaces) -> None:
    code = """
    count = 0
    try:
        while count < 10_000:
            os.close(os.open(str(count), os.O_CREAT))
            count += 1
    except OSError:
        pass
    tell(count)
    """
    assert 1000 < spaces.told(code) < 10_000


def test_nothing_is_left_in_them_for_the_next(spaces) -> None:
    code = """
    before = [os.path.exists(f"{folder}/left") for folder in ("/tmp", "/dev/shm")]
    for folder in ("/tmp", "/dev/shm"):
        attempt(lambda: Path(folder, "left").write_text("an answer"))
    tell(before)
    """
    for _ in range(2):
        assert spaces.told(code) == [False, False]
    if spaces.user == "user":  # the warm process's own, which root keeps for itself
        off = ("mount", "landlock")
        assert [spaces.told(code, *off) for _ in range(2)] == [[False] * 2, [True] * 2]


def test_a_file_has_a_size(shut) -> None:
    code = """
    file = open("large", "wb", buffering=0)
    tell([attempt(lambda: os.truncate("large", 1 << 20)),
          attempt(lambda: os.truncate("large", (1 << 20) + 1)),
          attempt(lambda: os.pwrite(file.fileno(), b"x", 1 << 20))])
    """
    limits = {"file": 1 << 20}
    assert shut.told(code, limits=limits) == ["done", "EFBIG", "EFBIG"]
    assert shut.told(code, "file", limits=limits) == ["done"] * 3


def test_what_it_writes_on_a_disk_is_counted(bare) -> None:
    code = """
    for name in range({files}):
        os.makedirs(f"folder{{name % 9}}", exist_ok=True)
        Path(f"folder{{name % 9}}", str(name)).write_bytes(bytes({size}))
    tell("written")
    wait()
    """
    assert (
        40 << 20 <= bare.run(code.format(files=10, size=4 << 20))["memory"] < 80 << 20
    )
    assert bare.run(code.format(files=10_001, size=0))["memory"] >= 1 << 50


def test_terminals_of_others_are_out_of_reach(bare) -> None:
    ours, theirs = os.openpty()
    name = Path(os.ttyname(theirs))
    name.chmod(0o666)
    code = f"tell(attempt(lambda: open({str(name)!r}, 'r+b', buffering=0)))"
    assert bare.told(code) == "EACCES"
    assert bare.told(code, "landlock") == "done"
    os.close(ours)
    os.close(theirs)
