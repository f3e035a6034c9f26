"""What is shut in can work, starts afresh, and leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.engine import layers
from autograder.engine.limits import Limits


def test_an_honest_submission_has_what_it_needs(any_level) -> None:
    answer = any_level.run(
        """
        import asyncio, colorsys, socket, subprocess, tempfile, threading
        Path("mine").write_text("x")
        tempfile.TemporaryFile().write(b"x")
        done = subprocess.run(["/bin/echo", "hello"], capture_output=True, text=True)
        thread = threading.Thread(target=asyncio.run, args=[asyncio.sleep(0)])
        thread.start(), thread.join()
        one, two = socket.socketpair()
        one.sendall(b"through")
        same = os.getcwd() == os.environ["HOME"]
        tell([os.listdir("."), done.stdout, same, two.recv(9).decode()])
        """
    )
    assert answer["told"] == [["mine"], "hello\n", True, "through"]
    assert answer["left"] == []


def test_it_starts_afresh_and_its_folder_is_removed(any_level) -> None:
    code = "Path('mine').write_text('x'); tell([os.listdir('.'), os.getcwd()])"
    for _ in range(2):
        names, folder = any_level.told(code)
        assert names == ["mine"]
        assert not Path(folder).exists()


def test_only_what_is_kept_stays_open(any_level) -> None:
    code = """
    def open_(number):
        try: return os.fstat(number) is not None
        except OSError: return False
    where = [os.path.samestat(os.fstat(n), os.stat("/dev/null")) for n in range(3)]
    tell([where, [n for n in range(3, 250) if open_(n)]])
    """
    null, opened = any_level.told(code)
    assert null == [True] * 3
    assert len(opened) == 1


def test_how_it_ended_is_told(any_level) -> None:
    assert any_level.run("pass", wait=True)["fate"] == 0
    assert any_level.run("tell(1); wait()")["fate"] is None
    for code, fate in (("os._exit(3)", 3), ("os.abort()", -6), ("1 / 0", 1)):
        assert any_level.run(code, wait=True)["fate"] == fate


@pytest.mark.parametrize("wall", ["silence", "limit", "lock"])
def test_nothing_is_run_when_a_wall_can_not_be_built(any_level, wall) -> None:
    answer = any_level.run("tell('it ran')", broken=wall)
    assert answer == {"error": "OSError: it is broken"}
    assert any_level.told("tell('the next one runs')") == "the next one runs"


def test_an_unknown_layer_is_refused() -> None:
    with pytest.raises(ValueError, match="moat"):
        layers.spawn("none", Limits(), 0, print, without=frozenset({"moat"}))
