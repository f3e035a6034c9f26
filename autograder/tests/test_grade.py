"""The command: what it writes, what it leaves alone, what it says."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.cli import main
from autograder.engine import pool
from autograder.engine.graded import take
from autograder.engine.limits import Limits
from autograder.errors import CourseError
from autograder.grading import gradebook, results
from autograder.grading.classroom import Classroom, Item, collect
from autograder.grading.lock import alone
from autograder.grading.progress import Progress
from autograder.tests.odd_class import NOTEBOOKS, UNREADABLE

CLASS = sorted([*NOTEBOOKS, *UNREADABLE])


def grades() -> dict[str, dict[str, str]]:
    """The CSV, by student."""
    with Path("class/grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def only(*names: str) -> None:
    """Remove everyone else's submission."""
    for folder in Path("class/submitted").iterdir():
        if folder.name not in names:
            shutil.rmtree(folder)


def to_grade(monkeypatch) -> list[str]:
    """Whom the next run would grade; nobody is."""
    seen: list[str] = []

    def grade(crew, job, handed):
        seen.extend(each.student for each in handed)
        return iter(())

    monkeypatch.setattr(pool.Crew, "_hire", lambda crew, workers: None)
    monkeypatch.setattr(pool.Crew, "grade", grade)
    return seen


def in_class(name: str) -> Path:
    return Path("class") / name


def test_the_table_has_a_row_a_student_and_a_column_a_cell(graded):
    rows = grades()
    assert list(rows) == CLASS
    assert rows["good"] == {
        "student": "good",
        "attention softmax-check": "3",
        "attention twice-check": "2",
        "attention why": "",
        "attention checks": "5",
        "attention checks out of": "5",
        "attention written": "",
        "attention written out of": "2",
        "attention total": "5",
        "attention out of": "7",
        "attention remark": "",
    }
    assert rows["blank"]["attention why"] == "0"
    assert rows["killer"]["attention total"] == "2"


def test_everyone_has_a_page(graded):
    for name in CLASS:
        page = Path("class/feedback", name, "attention", "attention.html")
        text = page.read_text("utf-8")
        assert "secret" not in text
        assert "HIDDEN" not in text
    page = Path("class/feedback/wrong/attention/attention.html").read_text("utf-8")
    for seen in ("Your rows sum to 1", "hidden case 1", "softmax: not right"):
        assert seen in page
    page = Path("class/feedback/list/attention/attention.html").read_text("utf-8")
    assert "attention.ipynb is not a notebook" in page


def test_nothing_of_the_authors_reaches_the_autograded_folders(graded):
    names = {p.name for p in Path("class/autograded").glob("*/attention/*")}
    assert names == {"attention.ipynb"}


def test_unchanged_submissions_are_left_alone(graded, monkeypatch, capsys):
    only("good", "blank", "absent", "list")
    seen = to_grade(monkeypatch)
    before = Path("class/results/good/attention.json").read_bytes()
    assert main(["grade", "attention"]) == 0
    assert seen == []
    assert "0 graded now, 4 unchanged" in capsys.readouterr().out
    assert Path("class/results/good/attention.json").read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        lambda: Path("class/submitted/good/attention/attention.ipynb").write_bytes(
            b"{}"
        ),
        lambda: Path("class/results/good/attention.json").write_text("{"),
        lambda: Path("class/feedback/good/attention/attention.html").unlink(),
        lambda: Path("solutions/attention/limits.json").write_text('{"seconds": 9}'),
        lambda: Path("class/gradebook.db").unlink(),
    ],
    ids=["notebook", "result", "page", "assignment", "gradebook"],
)
def test_what_changed_is_graded_again(graded, monkeypatch, change):
    only("good")
    change()
    seen = to_grade(monkeypatch)
    main(["grade", "attention"])
    assert seen == ["good"]


def test_regrading_gives_the_same_result(graded):
    only("good")
    old = results.read(Path("class/results/good/attention.json"))
    seed = str(old.seed)
    assert main(["grade", "attention", "--regrade", "--seed", seed]) == 0
    new = results.read(Path("class/results/good/attention.json"))
    for check in (*old.checks, *new.checks):
        check.seconds = None
    assert new == old


def test_grades_given_by_hand_are_in_the_table(graded, capsys):
    from nbgrader.api import Gradebook

    only("good", "wrong")
    with Gradebook(Classroom.here().db_url) as gradebook:
        where = ("attention", "attention", "good")
        gradebook.find_grade("why", *where).manual_score = 1.5
        gradebook.find_grade("softmax-check", *where).manual_score = 2.5
        gradebook.find_grade("twice-check", *where).extra_credit = 1
        gradebook.db.commit()
    assert main(["grade", "attention", "--feedback"]) == 0
    assert "1 written answers wait" in capsys.readouterr().out
    page = Path("class/feedback/good/attention/attention.html").read_text("utf-8")
    assert '<span class="got">1.5 / 2</span>' in page
    assert "<strong>7</strong> of 7 points" in page
    assert "Checks: 5.5 of 5. Written answers: 1.5 of 2." in page
    row = grades()["good"]
    assert row["attention why"] == "1.5"
    assert row["attention softmax-check"] == "2.5"
    assert row["attention twice-check"] == "3"
    assert row["attention checks"] == "5.5"
    assert row["attention written"] == "1.5"
    assert row["attention total"] == "7"


def test_sums_are_of_exact_points_and_rounded_once():
    items = [Item(f"q{n}-check", 1.0, False) for n in range(3)]
    items.append(Item("why", 2.0, True))
    scores = {item.id: 2 / 3 for item in items[:2]} | {"q2-check": 1 / 3, "why": None}
    sums = gradebook.sums(items, scores)
    assert [results.points(scores[item.id]) for item in items[:3]] == [
        "0.67",
        "0.67",
        "0.33",
    ]
    assert tuple(sums) == gradebook.SUMS
    assert results.points(sums["checks"]) == results.points(5 / 3) == "1.67"
    assert sums["written"] is None
    assert (sums["checks out of"], sums["written out of"], sums["out of"]) == (3, 2, 5)
    assert results.points(23.5666) == "23.57"
    assert results.points(1234.5) == "1234.5"


@pytest.mark.parametrize("name", ["=1+1", "+x", "-2", "@cmd", " =1", "\t=1"])
def test_no_cell_of_the_table_is_a_formula(name):
    assert gradebook.inert(name) == f"'{name}"
    assert gradebook.inert("ada-lin") == "ada-lin"


def test_a_student_named_like_a_formula(graded):
    only("good")
    shutil.move(in_class("submitted/good"), in_class("submitted/=1+1"))
    assert main(["grade", "attention"]) == 0
    assert list(grades()) == ["'=1+1"]
    assert grades()["'=1+1"]["attention total"] == "5"


def test_it_says_what_it_does_and_where_things_are(graded, capsys):
    only("good", "list")
    assert main(["grade", "attention"]) == 0
    out = capsys.readouterr().out
    assert "the checks' (5); 1 written answers (2 points) are marked by a" in out
    assert "checks alone: mean 2.5 of 5, from 0 to 5" in out
    assert "isolation: namespaces (each submission in namespaces of its own)" in out
    assert "not gradable (1): list" in out
    for place in ("results", "feedback", "gradebook.db", "grades.csv"):
        assert str(graded / "class" / place) in out


def test_nobody_handed_in(tiny_course, capsys):
    assert main(["grade", "attention"]) == 2
    assert "autograder simulate attention" in capsys.readouterr().err


def test_unusable_arguments(tiny_course, capsys):
    assert main(["grade", "nothing"]) == 2
    assert main(["grade", "attention", "--submitted", "nowhere"]) == 2
    with pytest.raises(SystemExit) as stop:
        main(["grade"])
    assert stop.value.code == 2


def test_cells_that_came_or_went_are_a_clear_error(graded, capsys):
    source = Path("solutions/attention/attention.ipynb")
    notebook = nbformat.read(source, as_version=4)
    notebook.cells = [c for c in notebook.cells if not c.id.startswith("twice")]
    nbformat.write(notebook, source)
    assert main(["grade", "attention"]) == 1
    assert "mv class/gradebook.db" in capsys.readouterr().err


# ------------------------------------------------------------ other folder layouts


def test_collecting_from_folders_and_clones(tiny_course, tmp_path):
    source = tiny_course / "exercises" / "attention" / "attention.ipynb"
    came = tmp_path / "came in"
    for student, inside in (
        ("ada", "attention/attention.ipynb"),
        ("ben", "attention.ipynb"),
        ("cleo", "exercises/attention/attention.ipynb"),
        (".git", "attention.ipynb"),
    ):
        path = came / student / inside
        path.parent.mkdir(parents=True)
        shutil.copy(source, path)
    stamp = "2026-01-02 03:04:05.000000 UTC"
    (came / "ada" / "attention" / "timestamp.txt").write_text(stamp)
    (came / "dora").mkdir()
    (came / "notes.txt").touch()
    room = Classroom.here()
    assert collect(room, came, "attention") == ["ada", "ben", "cleo", "dora"]
    for student in ("ada", "ben", "cleo"):
        path = room.notebook(student, "attention")
        assert path.read_bytes() == source.read_bytes()
        assert path.with_name("timestamp.txt").read_text().endswith("UTC")
    assert room.notebook("ada", "attention").with_name("timestamp.txt").read_text() == (
        stamp
    )
    assert not room.notebook("dora", "attention").exists()
    assert room.students("attention") == ["ada", "ben", "cleo", "dora"]


def test_collecting_a_link_does_not_follow_it(tiny_course, tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_text("{}")
    came = tmp_path / "came" / "eve"
    came.mkdir(parents=True)
    (came / "attention.ipynb").symlink_to(secret)
    room = Classroom.here()
    collect(room, came.parent, "attention")
    assert room.notebook("eve", "attention").is_symlink()
    handed = take("eve", room.notebook("eve", "attention"), Limits())
    assert "link" in handed.refused


def test_what_lies_in_the_wrong_place_is_named(graded, capsys):
    only("good", "absent")
    source = Path("class/submitted/good/attention/attention.ipynb")
    for place in ("loose.ipynb", "ben/mine.ipynb"):
        (in_class("submitted") / place).parent.mkdir(exist_ok=True)
        shutil.copy(source, in_class("submitted") / place)
    in_class("submitted/cleo").mkdir()
    in_class("submitted/dora/another").mkdir(parents=True)
    assert main(["grade", "attention"]) == 0
    out = capsys.readouterr().out
    where = graded / "class" / "submitted"
    assert f"loose.ipynb: not graded; it belongs in {where}/STUDENT/attention" in out
    assert f"ben: mine.ipynb: not graded; it belongs in {where}/ben/attention" in out
    assert "cleo: not graded; the folder is empty" in out
    assert "dora" not in out
    assert "2 submissions, 0 graded now" in out
    assert grades()["absent"]["attention remark"] == "attention.ipynb is missing"
    assert collect(Classroom.here(), in_class("submitted/ben").parent, "x") == []
    came = graded / "came"
    (came / "ada").mkdir(parents=True)
    shutil.copy(source, came)
    collect(Classroom.here(), came, "attention")
    assert "attention.ipynb: not graded; it belongs in a" in capsys.readouterr().out


def test_an_empty_folder_has_nothing_to_collect(tiny_course):
    with pytest.raises(CourseError, match="no folders"):
        collect(Classroom.here(), tiny_course / "exercises" / "attention", "x")


# ---------------------------------------------------------------------- progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_is_one_line_with_rate_and_time_left():
    out = Terminal()
    progress = Progress(10, out)
    progress.began -= 60
    progress.step("ada-lin", "3 of 5")
    progress.step("b", "5 of 5")
    progress.close()
    text = out.getvalue()
    assert text.count("\n") == 1
    assert "[2/10] b: 5 of 5   (2 a minute, 4:0" in text
    lines = text.strip("\n").split("\r")
    assert len(lines[2]) >= len(lines[1].rstrip())


def test_progress_in_a_pipe_is_plain_lines():
    out = io.StringIO()
    progress = Progress(2, out)
    progress.step("ada-lin", "3 of 5")
    progress.step("b", "5 of 5")
    progress.close()
    assert out.getvalue().splitlines()[:2] == [
        "[1/2] ada-lin: 3 of 5",
        "[2/2] b: 5 of 5",
    ]
    assert "\r" not in out.getvalue()


def test_the_command_line_as_people_call_it(graded):
    only("good")
    command = [sys.executable, "-m", "autograder", "grade", "attention"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "1 submissions, 0 graded now, 1 unchanged" in done.stdout
    assert done.stderr == ""


def test_a_second_grader_waits_its_turn(tiny_course, capsys) -> None:
    with alone(tiny_course / "class/.grading", "grade"):
        assert main(["grade", "attention"]) == 1
    assert "is running already" in capsys.readouterr().err
    assert main(["grade", "attention"]) == 2  # nobody has handed in
