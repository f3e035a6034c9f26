"""The chapter that the guide "Add a chapter" shows builds, verifies and is solvable."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLE = Path(__file__).with_name("example_chapter")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course of this one chapter, built."""
    root = tmp_path_factory.mktemp("a course")
    shutil.copytree(EXAMPLE / "vectordb", root / "solutions" / "vectordb")
    (root / "exercises").mkdir()
    for name in ("_config.yml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_COURSE", str(root))
        patch.setenv("PYTHONPATH", str(ROOT))
        assert main(["build", "vectordb"]) == 0
        yield root


def released(course: Path) -> nbformat.NotebookNode:
    return nbformat.read(course / "exercises" / "vectordb" / "vectordb.ipynb", 4)


def run(notebook: nbformat.NotebookNode, folder: Path) -> str:
    """Execute the notebook there; return what its check shows."""
    client = NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    shown = [
        output.data["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code" and "check.start(" in cell.source
        for output in cell.outputs
        if output.output_type == "display_data"
    ]
    assert len(shown) == 1
    return shown[0]


def test_nothing_built_is_stale(course):
    assert main(["build", "vectordb", "--check"]) == 0


def test_verify_prints_what_the_guide_shows(course, capsys):
    assert main(["verify", "vectordb"]) == 0
    assert (
        capsys.readouterr().out.strip() == (EXAMPLE / "verify.txt").read_text().strip()
    )


def test_the_release_is_blank(course):
    text = nbformat.writes(released(course))
    for secret in ("weights.sum()", "HIDDEN", "padding in other places"):
        assert secret not in text
    assert 'raise NotImplementedError(\\"mean_pool\\")' in text


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('raise NotImplementedError("mean_pool")', "not done yet"),
        ("return vectors.mean(dim=1)", "The padding was averaged too."),
        ("return vectors[:, real].mean(dim=1)", "mean_pool: right"),
    ],
)
def test_a_student_sees_the_three_states(course, tmp_path, line, says):
    shutil.copytree(course / "exercises" / "vectordb", tmp_path, dirs_exist_ok=True)
    notebook = released(course)
    answer = next(c for c in notebook.cells if "def mean_pool" in c.source)
    answer.source = answer.source.replace(
        'raise NotImplementedError("mean_pool")', line
    )
    assert says in run(notebook, tmp_path)
