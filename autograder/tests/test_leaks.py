"""Leaks planted in every part of a release are caught; a clean release passes."""

from __future__ import annotations

import base64
import json
import textwrap
import urllib.parse
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.confidential import confidential, telling
from autograder.authoring.leaks import scan
from autograder.cli import main

SOURCE = '''
# %% [markdown]
# # Softmax

# %% id="setup"
import torch
from autograder import check, randn

# %% id="softmax" role="answer"
def softmax(scores):
    """Attention weights from scores."""
    ### BEGIN SOLUTION
    exp = (scores - scores.max(dim=0).values).exp()
    return exp / exp.sum(dim=0, keepdim=True)
    ### END SOLUTION

# %% id="softmax-check" role="check" points=3
check("two keys, one query", softmax, torch.tensor([[0.0], [1.0]]))
### BEGIN HIDDEN TESTS
check("large scores stay finite", softmax, 1e4 * randn(5, 3, seed=7))
### END HIDDEN TESTS

# %% [markdown]
# Why is the score divided by the root of d_k?

# %% [markdown] id="why" role="written" points=2
# The variance of a dot product grows with d_k, so the softmax saturates.
#
# === BEGIN MARK SCHEME ===
# One point for the variance, one for saturation.
# === END MARK SCHEME ===
'''
SAMPLES = """
import torch
from autograder.authoring import right, wrong

@wrong("softmax", hint="Your rows sum to one.")
def normalises_rows(scores):
    return torch.nn.functional.softmax(scores, dim=1)

@right("softmax")
def by_logsumexp(scores):
    return (scores - scores.logsumexp(dim=0)).exp()

WRITTEN = {"why": {"good": "Each of the d_k products adds variance one to it."}}
"""
RELEASED = {
    "softmax": 'def softmax(scores):\n    """Attention weights from scores."""\n'
    '    raise NotImplementedError("softmax")',
    "softmax-check": 'check("two keys, one query", softmax, '
    "torch.tensor([[0.0], [1.0]]))",
}


def code(name: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {"nbgrader": {"grade_id": name}},
        "outputs": [],
        "source": RELEASED[name],
    }


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of one tiny chapter with a clean release."""
    source = tmp_path / "solutions" / "attention"
    release = tmp_path / "exercises" / "attention"
    source.mkdir(parents=True)
    release.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").touch()
    (source / "attention.py").write_text(SOURCE)
    (source / "misconceptions.py").write_text(SAMPLES)
    visible = {"cases": [{"label": "two keys, one query", "data": [0.26894142]}]}
    hidden = {"cases": [{"label": "large scores", "data": [0.73105858, 0.5]}]}
    for folder in (source, release):
        (folder / "attention.expected.json").write_text(json.dumps(visible))
    (source / "attention.hidden.json").write_text(json.dumps(hidden))
    notebook = {
        "cells": [code("softmax"), code("softmax-check")],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (release / "attention.ipynb").write_text(json.dumps(notebook))
    return tmp_path


def found(course: Path) -> list[str]:
    return [str(leak) for leak in scan(course / "exercises", course)]


def change(course: Path, edit: Callable[[dict[str, Any]], object]) -> list[str]:
    """The leaks after an edit of the released notebook."""
    path = course / "exercises" / "attention" / "attention.ipynb"
    notebook = json.loads(path.read_text())
    edit(notebook)
    path.write_text(json.dumps(notebook))
    return found(course)


def test_a_clean_release_passes(course: Path) -> None:
    assert found(course) == []


SECRETS = {
    "an answer": "    return exp / exp.sum(dim=0, keepdim=True)",
    "an answer, laid out anew": "return exp/exp.sum( dim = 0,keepdim=True )",
    "an answer, as a comment": "# return exp / exp.sum(dim=0, keepdim=True)",
    "a marker": "### BEGIN SOLUTION",
    "a hidden test": "1e4 * randn(5, 3, seed=7)\n"
    'check("large scores stay finite", softmax, 1e4 * randn(5, 3, seed=7))',
    "a hidden label": "large scores stay finite",
    "a model answer": "The variance of a dot product grows with d_k, so the softmax "
    "saturates.",
    "a mark scheme": "One point for the variance, one for saturation.",
    "a wrong answer": "torch.nn.functional.softmax(scores, dim=1)\n"
    "    return torch.nn.functional.softmax(scores, dim=1)",
    "a right answer": "return (scores - scores.logsumexp(dim=0)).exp()",
    "a written sample": "Each of the d_k products adds variance one to it.",
    "a hidden value": "[0.7310586, 0.5]",
    "an absolute path": "open('/home/ada/course/data.json')",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("part", ["source", "metadata", "attachments", "notebook"])
def test_a_secret_in_any_part_is_caught(course: Path, part: str, secret: str) -> None:
    def plant(notebook: dict[str, Any]) -> None:
        cell = notebook["cells"][1]
        if part == "source":
            cell["source"] += f"\n{secret}\n"
        elif part == "metadata":
            cell["metadata"]["note"] = {"deep": [secret]}
        elif part == "attachments":
            data = base64.b64encode(secret.encode()).decode()
            cell["attachments"] = {"picture.png": {"image/png": data}}
        else:
            notebook["metadata"]["note"] = secret

    leaks = change(course, plant)
    assert leaks
    where = "the notebook's metadata" if part == "notebook" else f"cell 2 (.*), {part}"
    assert where.split(" (")[0] in leaks[0]
    if part == "attachments":
        assert "in base64" in leaks[0]


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_in_the_sidecar_is_caught(course: Path, secret: str) -> None:
    path = course / "exercises" / "attention" / "attention.expected.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "more": {"text": [secret]}}))
    assert any("attention.expected.json" in leak for leak in found(course))


def test_a_hidden_number_in_the_sidecar_is_caught(course: Path) -> None:
    path = course / "exercises" / "attention" / "attention.expected.json"
    path.write_text(json.dumps({"more": [0.73105858]}))
    assert "1 expected values of hidden cases: 0.73105858" in "".join(found(course))


def test_an_output_is_caught_and_so_is_what_it_says(course: Path) -> None:
    def plant(notebook: dict[str, Any]) -> None:
        text = "large scores stay finite: passed"
        output = {"output_type": "stream", "name": "stdout", "text": [text]}
        notebook["cells"][1]["outputs"] = [output]

    leaks = "\n".join(change(course, plant))
    assert "keeps its output" in leaks
    assert "outputs: a hidden test of 'softmax-check'" in leaks


def test_an_execution_count_is_caught(course: Path) -> None:
    leaks = change(course, lambda nb: nb["cells"][0].update(execution_count=3))
    assert "cell 1 (softmax): was run" in leaks[0]


def test_source_kept_as_a_list_of_lines_is_read(course: Path) -> None:
    lines = ["return exp /\n", "    exp.sum(dim=0, keepdim=True)"]
    leaks = change(course, lambda nb: nb["cells"][0].update(source=lines))
    assert "the answer 'softmax'" in leaks[0]


def test_compressed_base64_is_opened(course: Path) -> None:
    packed = base64.b64encode(zlib.compress(SOURCE.encode())).decode()
    leaks = change(course, lambda nb: nb["metadata"].update(blob=packed))
    assert any("in base64, compressed" in leak for leak in leaks)


def test_files_and_links_that_do_not_belong_are_caught(course: Path) -> None:
    release = course / "exercises" / "attention"
    (release / "attention.hidden.json").write_text("{}")
    (release / "notes").symlink_to(course)
    (course / "exercises" / "elsewhere").mkdir()
    leaks = "\n".join(found(course))
    assert "attention.hidden.json: the file: does not belong" in leaks
    assert "notes: the file: is a link" in leaks
    assert "elsewhere: the folder: does not belong" in leaks


def test_a_release_folder_may_be_the_chapter_itself(course: Path) -> None:
    path = course / "exercises" / "attention" / "attention.expected.json"
    path.write_text('{"x": "### END HIDDEN TESTS"}')
    assert len(scan(path.parent, course)) == 1


def test_what_the_release_says_anyway_is_no_secret(course: Path) -> None:
    source = course / "solutions" / "attention" / "attention.py"
    line = "return exp / exp.sum(dim=0, keepdim=True)"
    assert any("exp.sum" in text for text in confidential("attention", course).texts)
    source.write_text(SOURCE + f"\n# %% [markdown]\n# The idea: `{line}`\n")
    assert not any("exp.sum" in t for t in confidential("attention", course).texts)


def test_visible_values_are_no_secret(course: Path) -> None:
    assert set(confidential("attention", course).numbers) == {"0.7310586"}


@pytest.mark.parametrize(
    ("number", "yes"),
    [
        (0.5, False),
        (1000.0, False),
        (0.73105858, True),
        (12345.0, True),
        (1e-9, False),
        (0.015625, False),
        (0.015626, True),
    ],
)
def test_only_numbers_with_many_digits_tell(number: float, yes: bool) -> None:
    assert telling(number) is yes
    assert not telling(float("nan")) and not telling(float("inf"))


def test_the_command_reports_and_fails(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AUTOGRADER_COURSE", str(course))
    assert main(["leaks"]) == 0
    assert capsys.readouterr().out.startswith("0 leaks in 2 files")
    change(course, lambda nb: nb["cells"][0].update(source=textwrap.dedent(SOURCE)))
    assert main(["leaks", str(course / "exercises")]) == 1
    assert "cell 1 (softmax), source: the marker" in capsys.readouterr().out
    assert main(["leaks", str(course / "nowhere")]) == 2


LINE = "return exp / exp.sum(dim=0, keepdim=True)"
DISGUISES = {
    "base64 of base64": base64.b64encode(base64.b64encode(LINE.encode())).decode(),
    "base64 of UTF-16": base64.b64encode(LINE.encode("utf-16")).decode(),
    "hexadecimal": LINE.encode().hex(),
    "a URL": urllib.parse.quote(LINE),
    "HTML": LINE.replace("=", "&#61;"),
    "escapes": "".join(f"\\u{ord(sign):04x}" for sign in LINE),
    "invisible signs": "\u200b".join(LINE),
    "two lines of a comment": "# return exp / exp.sum(dim=0,\n#   keepdim=True)",
    "two texts": '"return exp / exp.sum(" + "dim=0, keepdim=True)"',
    "large letters": "LARGE scores stay FINITE",
}


@pytest.mark.parametrize("text", DISGUISES.values(), ids=DISGUISES)
def test_a_secret_in_disguise_is_caught(course: Path, text: str) -> None:
    assert change(course, lambda nb: nb["metadata"].update(note=text))


def test_a_secret_in_two_cells_is_caught(course: Path) -> None:
    def plant(notebook: dict[str, Any]) -> None:
        notebook["cells"][0]["source"] += "\n# return exp / exp.sum("
        notebook["cells"][1]["source"] = "# dim=0, keepdim=True)"

    assert any("the cells together" in leak for leak in change(course, plant))


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "[" * 100_000,
        '{"cells": ["a"], "metadata": {}}',
        '{"cells": {"a": 1}, "metadata": []}',
        '{"cells": [{"metadata": [1], "source": 3}]}',
        '{"metadata": {"a": 1}, "metadata": {}, "cells": []}',
    ],
)
def test_what_is_no_notebook_is_said_and_no_crash(course: Path, content: str) -> None:
    (course / "exercises/attention/attention.ipynb").write_text(content)
    assert found(course)
