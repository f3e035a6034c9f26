"""The preprocessors: stubs, fail-closed scores, hidden cases out of feedback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.grading.preprocessors import (
    MIME,
    FailClosed,
    HideHidden,
    NamedStubs,
    authors_files,
    release_notebook,
)
from autograder.grading.verdicts import decide


def info(name: str, **flags) -> dict:
    """nbgrader's metadata of a cell."""
    plain = {"grade": False, "solution": False, "locked": False, "task": False}
    return {"nbgrader": {**plain, "grade_id": name, "schema_version": 3, **flags}}


def stubbed(text: str) -> str:
    cell = new_code_cell(text, metadata=info("double", solution=True))
    notebook = new_notebook(cells=[cell])
    NamedStubs().preprocess(notebook, {})
    return cell.source


def test_an_indented_region_becomes_a_stub_that_names_the_answer():
    text = "def double(x):\n    # twice\n    ### BEGIN SOLUTION\n    y = 2 * x\n"
    text += "    return y\n    ### END SOLUTION"
    opening = "def double(x):\n    # twice\n"
    assert stubbed(text) == opening + '    raise NotImplementedError("double")'


def test_a_region_at_the_margin_disappears():
    text = "S = [..., ...]\n### BEGIN SOLUTION\nS = [1, 2]\n### END SOLUTION"
    assert stubbed(text) == "S = [..., ...]"


def test_an_answer_without_a_region_is_replaced_as_a_whole():
    assert stubbed("S = [1, 2]") == 'raise NotImplementedError("double")'


@pytest.mark.parametrize(
    "text",
    [
        "### BEGIN SOLUTION\nx = 1",
        "### BEGIN SOLUTION\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION",
    ],
)
def test_regions_that_do_not_close_are_errors(text):
    with pytest.raises(RuntimeError, match="BEGIN SOLUTION"):
        stubbed(text)


def test_a_written_answer_becomes_text(tiny_course):
    model = "Because.\n=== BEGIN MARK SCHEME ===\n2 points\n=== END MARK SCHEME ==="
    meta = info("why", grade=True, solution=True, points=2)
    source = new_notebook(cells=[new_markdown_cell(model, metadata=meta)])
    released = release_notebook(source, "attention")
    assert released.cells[0].source == "YOUR ANSWER HERE"
    assert source.cells[0].source == model


def test_the_release_is_nbgraders_own_byte_for_byte(tiny_course):
    folder = tiny_course / "exercises" / "attention"
    ours = {path.name: path.read_bytes() for path in folder.iterdir()}
    nbgrader = str(Path(sys.executable).with_name("nbgrader"))
    command = [nbgrader, "generate_assignment", "attention", "--force"]
    # alembic must be found although PATH does not lead to it
    subprocess.run(command, check=True, env={"PATH": "/usr/bin:/bin"})
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == ours
    assert (tiny_course / "class" / "gradebook.db").is_file()


def test_every_file_of_the_authors_is_named(tmp_path):
    folder = tmp_path / "solutions" / "attention"
    folder.mkdir(parents=True)
    for name in ("attention.ipynb", "attention.expected.json", "attention.hidden.json"):
        (folder / name).touch()
    (folder / "notes.txt").touch()
    names = authors_files(tmp_path)
    assert {"notes.txt", "attention.hidden.json", "misconceptions.py"} <= names
    assert not names & {"attention.ipynb", "attention.expected.json"}


# ------------------------------------------------------------------- fail closed


def verdict(score: object, **more) -> dict:
    return {
        "id": "double-check",
        "answer": "double",
        "score": score,
        "max_score": 3.0,
        "status": "right",
        "reason": None,
        "hint": None,
        "misconception": None,
        "cases": [],
        **more,
    }


def shown(value: dict) -> nbformat.NotebookNode:
    return new_output("display_data", {"text/plain": "a table", MIME: value})


def result(text: str) -> nbformat.NotebookNode:
    return new_output("execute_result", {"text/plain": text}, execution_count=1)


def stderr(text: str) -> nbformat.NotebookNode:
    return new_output("stream", name="stderr", text=text)


def error(name: str) -> nbformat.NotebookNode:
    return new_output("error", ename=name, evalue="oh", traceback=["oh"])


def checked(*outputs: nbformat.NotebookNode) -> nbformat.NotebookNode:
    meta = info("double-check", grade=True, locked=True, points=3)
    cell = new_code_cell("check.score()", metadata=meta, outputs=list(outputs))
    FailClosed().preprocess_cell(cell, {}, 0)
    return cell


CASES = {
    "full": ([shown(verdict(3.0)), result("3.0")], 3.0),
    "partial": ([shown(verdict(1.5)), result("1.5")], 1.5),
    "a warning on stderr": ([stderr("hm"), shown(verdict(3.0)), result("3.0")], 3.0),
    "nothing at all": ([], 0.0),
    "only text": ([new_output("stream", name="stdout", text="3.0")], 0.0),
    "a string": ([shown(verdict(3.0)), result("'3.0'")], 0.0),
    "words": ([shown(verdict(3.0)), result("full marks")], 0.0),
    "not a number": ([shown(verdict(float("nan"))), result("nan")], 0.0),
    "infinite": ([shown(verdict(float("inf"))), result("inf")], 0.0),
    "negative": ([shown(verdict(-1.0)), result("-1.0")], 0.0),
    "above the maximum": ([shown(verdict(99.0)), result("99.0")], 3.0),
    "no score": ([shown(verdict(3.0))], 0.0),
    "no verdict": ([result("3.0")], 0.0),
    "they differ": ([shown(verdict(1.0)), result("3.0")], 0.0),
    "another check's": ([shown(verdict(3.0, id="other-check")), result("3.0")], 0.0),
    "a verdict that is no object": ([shown([3.0]), result("3.0")], 0.0),
    "an error": ([shown(verdict(3.0)), result("3.0"), error("NameError")], 0.0),
    "too slow": ([error("CellTimeoutError")], 0.0),
    "the last score counts": ([result("3.0"), shown(verdict(1.0)), result("1.0")], 1.0),
}


@pytest.mark.parametrize("outputs, score", CASES.values(), ids=CASES)
def test_only_a_number_from_the_check_counts(outputs, score):
    from nbgrader.utils import determine_grade

    cell = checked(*outputs)
    assert determine_grade(cell) == (score, 3.0)
    held = [o.data[MIME] for o in cell.outputs if MIME in o.get("data", {})]
    assert len(held) == 1
    assert held[0]["score"] == score
    assert score or held[0]["reason"]
    nbformat.validate(new_notebook(cells=[cell]))


def test_a_timeout_says_so_and_an_error_names_itself():
    def held(cell):
        return next(o.data[MIME] for o in cell.outputs if MIME in o.get("data", {}))

    assert held(checked(error("CellTimeoutError")))["status"] == "timeout"
    assert "NameError" in held(checked(error("NameError")))["reason"]


def test_what_the_student_printed_is_kept():
    cell = checked(stderr("a warning"), shown(verdict(3.0)), result("3.0"))
    assert cell.outputs[0].text == "a warning"
    assert cell.outputs[1].data["text/plain"] == "a table"


def test_other_cells_are_left_alone():
    cell = new_code_cell("1 + 1", outputs=[stderr("hm"), result("2")])
    FailClosed().preprocess_cell(cell, {}, 0)
    assert cell.outputs[0].name == "stderr"


# ---------------------------------------------------------------------- feedback


def test_feedback_has_no_hidden_case():
    source = (
        'check.start("attention", "double")\n'
        'check("seen", double, 1)\n'
        "### BEGIN HIDDEN TESTS\n"
        'check("a secret", double, 2)\n'
        "### END HIDDEN TESTS\n"
        "check.score()"
    )
    trace = new_output("error", ename="E", evalue="", traceback=['check("a secret")'])
    printed = new_output("stream", name="stdout", text="called with the secret 2")
    outputs = [printed, shown(verdict(1.0, cases=["a secret"])), trace, result("1.0")]
    meta = info("double-check", grade=True, locked=True, points=3)
    cell = new_code_cell(source, metadata=meta, outputs=outputs)
    HideHidden().preprocess_cell(cell, {}, 0)
    assert "secret" not in nbformat.writes(new_notebook(cells=[cell]))
    assert 'check("seen", double, 1)' in cell.source
    assert [o.output_type for o in cell.outputs] == ["display_data", "execute_result"]


def test_the_words_of_an_interrupt_are_not_repeated() -> None:
    """They are the answer's, and may tell what a hidden case hands over."""
    for name, words in (
        ("NameError", "the check stopped: NameError: oh"),
        ("KeyboardInterrupt", "the check stopped: KeyboardInterrupt"),
        ("TheirOwn", "the check stopped: TheirOwn"),
    ):
        cell = new_code_cell("check.score()", outputs=[error(name)])
        cell.metadata["nbgrader"] = {"grade_id": "a-check", "points": 2}
        assert decide(cell)["reason"] == words
