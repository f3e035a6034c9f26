"""From a chapter's source to its notebooks and its expected values.

Writes solutions/<c>/<c>.ipynb (executed, outputs kept), <c>.expected.json and
<c>.hidden.json beside it, and the released exercises/<c>/<c>.ipynb with its
<c>.expected.json. A chapter with a worksheet also gets <c>.worksheet.json, in both.
What is up to date is left alone, so that building on another machine does not touch
committed outputs. `--check` writes nothing and fails when anything committed is stale.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ..errors import CourseError
from ..grading.preprocessors import release_notebook
from ..grading.results import write_text
from ..paths import chapters, course_root, load_worksheet
from ..worksheet import data
from ..worksheet.carried import carry
from . import misconceptions, sidecar
from .source import Assignment, Cell, read

HELP = "sources to notebooks; --check: fail if anything committed is stale"
EXAMPLE = "python -m autograder build attention"

#: the first code cell of every notebook: where `from autograder import check` looks
FIRST_CELL = """\
# Makes the checker available: on Colab it is fetched, in a clone it is found.
import importlib.util
import os
import sys

if "google.colab" in sys.modules:
    import subprocess

    if not os.path.isdir("/content/course"):
        subprocess.run(
            ["git", "clone", "--quiet", "--depth", "1", "{url}", "/content/course"],
            check=True,
        )
    sys.path.insert(0, "/content/course")
    os.chdir("/content/course/exercises/{chapter}")
elif importlib.util.find_spec("autograder") is None:
    sys.path.insert(0, os.path.abspath("../.."))"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("chapter", nargs="*", help="default: every chapter there is")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument(
        "--force", action="store_true", help="execute and write even if up to date"
    )


def run(args: argparse.Namespace) -> int:
    """Build, or check, the chapters named."""
    root = course_root()
    stale: list[str] = []
    for chapter in chapters(args.chapter, root):
        if args.check:
            print(f"{chapter}: recording the answers to compare ...", flush=True)
        assignment = read(chapter, root)
        stale += build(assignment, root, write=not args.check, force=args.force)
    for line in stale if args.check else []:
        print(f"stale: {line}")
    if args.check and stale:
        print("mend with: python -m autograder build, then commit what it wrote")
        return 1
    if args.check:
        print("what is committed is up to date")
    return 0


def repository_url(root: Path) -> str:
    """The repository's address, as `_config.yml` says it."""
    try:
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        return str(config["repository"]["url"])
    except (OSError, KeyError, TypeError, yaml.YAMLError):
        raise CourseError(
            "_config.yml has no repository.url",
            "add the address that Colab and Binder fetch the course from",
        ) from None


def source_notebook(assignment: Assignment, url: str) -> NotebookNode:
    """The nbgrader source notebook: all cells, solutions and hidden tests in."""
    nb = new_notebook()
    nb.metadata = NotebookNode(
        kernelspec={
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        language_info={"name": "python"},
    )
    for number, cell in enumerate(assignment.cells):
        nb.cells.append(_cell(cell, assignment.chapter, f"cell-{number:02d}"))
        if number == 0:
            first = FIRST_CELL.format(url=url, chapter=assignment.chapter)
            nb.cells.append(
                _cell(Cell("code", "given", first, 0, "checker"), "", "checker")
            )
    return nb


def _cell(cell: Cell, chapter: str, fallback: str) -> NotebookNode:
    text = cell.text
    if cell.role == "check":
        answer = str(cell.id).removesuffix("-check")
        # a student's own variable called `check` must not cost the checks below it
        opening = f'from autograder import check\ncheck.start("{chapter}", "{answer}")'
        text = f"{opening}\n{text}\ncheck.score()"
    make = new_code_cell if cell.kind == "code" else new_markdown_cell
    node = make(text, id=re.sub(r"[^A-Za-z0-9_-]", "-", cell.id or fallback)[:64])
    graded = cell.role in ("check", "written")
    solution = cell.role in ("answer", "written")
    locked = cell.role == "check" or (
        cell.role == "given" and cell.id is not None and cell.kind == "code"
    )
    if graded or solution or locked:
        node.metadata["nbgrader"] = {
            "schema_version": 3,
            "grade_id": cell.id,
            "grade": graded,
            "solution": solution,
            "locked": locked,
            "task": False,
            **({"points": cell.points} if graded else {}),
        }
    if cell.role == "explore" and cell.limits:
        node.metadata["limits"] = cell.limits
    return node


def execute(nb: NotebookNode, folder: Path, assignment: Assignment) -> NotebookNode:
    """Run the notebook top to bottom in its folder and keep its outputs.

    Raises CourseError when a cell fails or a check is not fully right.
    """
    nb = nbformat.from_dict(nb)
    client = NotebookClient(
        nb,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    environment = {k: v for k, v in os.environ.items() if k != "NBGRADER_EXECUTION"}
    environment["BY_HAND_TEXT"] = "1"  # a worksheet's text, not a widget's state
    try:
        client.execute(env=environment)
    except (CellExecutionError, DeadKernelError) as error:
        raise CourseError(
            f"{assignment.path}: the notebook does not run: {str(error)[-900:]}",
            "mend the source and build again",
        ) from None
    nb.metadata["language_info"] = {"name": "python"}
    for name in without_full_marks(nb):
        raise CourseError(
            f"{assignment.path}: the reference does not get full marks in {name} when "
            "the notebook runs",
            "is something random without a seed?",
        )
    return nb


def without_full_marks(nb: NotebookNode) -> list[str]:
    """The checks of an executed notebook that did not end in all their points."""
    names = []
    for cell in nb.cells:
        info = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and info.get("grade"):
            results = [o for o in cell.outputs if o.output_type == "execute_result"]
            said = results[-1].data.get("text/plain") if results else None
            if said != repr(float(info["points"])):
                names.append(str(info["grade_id"]))
    return names


def build(
    assignment: Assignment, root: Path, *, write: bool = True, force: bool = False
) -> list[str]:
    """Build one chapter; return what was stale, a line for each file.

    write : False to look only (the `--check` of CI)
    force : execute the notebook even when nothing is stale
    """
    chapter = assignment.chapter
    source, release = root / "solutions" / chapter, root / "exercises" / chapter
    known = misconceptions.load(chapter, root)
    misconceptions.check_answers(assignment, known)
    visible, hidden = sidecar.make(assignment, known)
    nb = source_notebook(assignment, repository_url(root))
    released = release_notebook(nb, chapter)
    texts = {
        source / f"{chapter}.expected.json": sidecar.dump(visible),
        source / f"{chapter}.hidden.json": sidecar.dump(hidden),
        release / f"{chapter}.expected.json": sidecar.dump(visible),
        release / f"{chapter}.ipynb": dumps(released),
    }
    if sheet := by_hand(chapter, root):
        texts[source / f"{chapter}.worksheet.json"] = sheet
        texts[release / f"{chapter}.worksheet.json"] = sheet
    stale = [p for p, text in texts.items() if not _fresh(p, text)]
    master = source / f"{chapter}.ipynb"
    notebook_stale = bool(stale) or not _same_cells(master, nb)
    lines = [
        f"{p.relative_to(root)} (built from {assignment.path.name})" for p in stale
    ]
    if not _same_cells(master, nb):
        lines.append(f"{master.relative_to(root)} (built from {assignment.path.name})")
    if not write:
        return lines
    if not notebook_stale and not force:
        print(f"{chapter}: up to date")
        return []
    release.mkdir(parents=True, exist_ok=True)
    for path in stale if not force else texts:
        write_text(path, texts[path])
    print(f"{chapter}: running the notebook ...", flush=True)
    executed = execute(nb, source, assignment)
    write_text(master, dumps(executed))
    print(
        f"{chapter}: {len(assignment.by_role('answer'))} exercises, "
        f"{assignment.points:g} points, written"
    )
    return lines


def by_hand(chapter: str, root: Path) -> str:
    """The chapter's worksheet as the notebook reads it; empty if it has none."""
    make = getattr(load_worksheet(chapter, root), "sheet", None)
    return data.dumps(carry(data.as_data(make))) if make else ""


def dumps(nb: NotebookNode) -> str:
    """A notebook's text, as nbformat writes it to a file."""
    return str(nbformat.writes(nb, version=4)) + "\n"


def _fresh(path: Path, text: str) -> bool:
    if not path.is_file():
        return False
    try:
        there = path.read_text(encoding="utf-8")
        if there == text:
            return True
        if path.suffix != ".json":
            return False
        return sidecar.same(json.loads(there), json.loads(text))
    except (ValueError, RecursionError):
        return False


def _same_cells(path: Path, nb: NotebookNode) -> bool:
    """True when the executed notebook has these cells, was executed, and every check
    in it ended in full marks."""
    try:
        there = nbformat.read(path, as_version=4)
        executed = all(
            c.execution_count and not any(o.output_type == "error" for o in c.outputs)
            for c in there.cells
            if c.cell_type == "code" and c.source
        )
        same = _essence(there) == _essence(nb) and there.metadata == nb.metadata
        return executed and same and not without_full_marks(there)
    except Exception:  # no file, no JSON, no notebook, or one without what ours has
        return False


def _essence(notebook: NotebookNode) -> list[Any]:
    return [
        (c.cell_type, c.id, c.source, json.dumps(c.metadata, sort_keys=True))
        for c in notebook.cells
    ]
