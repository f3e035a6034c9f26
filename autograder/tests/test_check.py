"""What a student sees, and what nbgrader reads, when a check cell runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from autograder import cli
from autograder.authoring.misconceptions import execute
from autograder.checking.check import MIME, Check
from autograder.checking.judge import Expected, Verdict, judge
from autograder.checking.record import Record
from autograder.checking.show import as_html
from autograder.errors import CourseError
from autograder.tests.small_course import small_course

REFERENCE = """\
def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return e / e.sum(0)"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built release, alone: no sources, no hidden cases anywhere near."""
    root = small_course(tmp_path_factory.mktemp("course"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert cli.main(["build"]) == 0
    alone = tmp_path_factory.mktemp("at home") / "attention"
    (root / "exercises/attention").rename(alone)
    return alone


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A student's machine: nothing says where the solutions are."""
    monkeypatch.delenv("AUTOGRADER_SOLUTIONS", raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def solve(release: Path, answers: dict[str, str], **extra: str) -> dict[str, Any]:
    """Type answers into the released notebook, run it, return its check outputs."""
    nb = nbformat.read(release / "attention.ipynb", 4)
    for cell in nb.cells:
        cell.source = answers.get(cell.id, cell.source)
        cell.source = extra.get(cell.id.replace("-", "_"), cell.source)
    client = NotebookClient(
        nb,
        kernel_name="python3",
        allow_errors=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(release)}},
    )
    client.execute()
    seen = {}
    for cell in nb.cells:
        if cell.id.endswith("-check"):
            found: dict[str, Any] = {"outputs": cell.outputs}
            for output in cell.outputs:
                if output.output_type == "display_data" and MIME in output.data:
                    found |= output.data
                if output.output_type == "execute_result":
                    found["score"] = output.data["text/plain"]
            seen[cell.id.removesuffix("-check")] = found
    return seen


def test_three_states(release: Path) -> None:
    seen = solve(release, {"softmax": REFERENCE, "twice": "D = [[2, 4], [9, ...]]"})
    assert seen["softmax"]["score"] == "3.0"
    text = seen["softmax"]["text/plain"]
    assert text.startswith("softmax: right (3 of 3 points); 1 hidden case when graded")
    twice = seen["twice"]
    assert twice["score"] == "1.0"
    assert "partly right (1 of 2 points)" in twice["text/plain"]
    assert "✓ the first row" in twice["text/plain"]
    assert "○ the second row: not done yet" in twice["text/plain"]


def test_blank_is_not_done_and_zero(release: Path) -> None:
    seen = solve(release, {})
    for name in ("softmax", "twice"):
        assert seen[name]["score"] == "0.0"
        assert "not done yet" in seen[name]["text/plain"]
        assert seen[name][MIME]["status"] == "blank"


def test_a_known_mistake_gets_its_hint_and_its_entries_marked(release: Path) -> None:
    wrong = "def softmax(scores):\n    e = scores.exp()\n    return e / e.sum(1, True)"
    seen = solve(release, {"softmax": wrong, "twice": "D = [[1, 4], [9, 16]]"})
    softmax = seen["softmax"]
    assert softmax["score"] == "0.0"
    assert "Hint: Your rows sum to 1" in softmax["text/plain"]
    assert "rows sum to 1" in softmax["text/html"]
    assert softmax[MIME]["misconception"] == "rows"
    assert "[1]" in seen["twice"]["text/plain"]
    assert seen["twice"]["text/html"].count('title="differs"') == 1
    assert "Twice, not squared" in seen["twice"]["text/plain"]


def test_letters_have_the_page_s_colour_in_the_light_and_in_the_dark(
    release: Path,
) -> None:
    wrong = {"softmax": REFERENCE, "twice": "D = [[1, 4], [9, ...]]"}
    for shown in solve(release, wrong).values():
        markup = shown["text/html"]
        assert markup.startswith('<div class="bh-verdict"')
        colours = re.findall(r"(?<![\w-])color:([^;\"]+)", markup)
        assert set(colours) <= {"inherit"} and "opacity" not in markup


def test_shape_advice_comes_before_value_advice(release: Path) -> None:
    flat = "def softmax(scores):\n    return scores[:, 0]"
    seen = solve(release, {"softmax": flat})
    assert (
        "expected (2, 1): an axis of length 1 is missing"
        in seen["softmax"]["text/plain"]
    )


def test_one_case_that_raises_does_not_stop_the_next(release: Path) -> None:
    half = (
        "def softmax(scores):\n    if len(scores[0]) == 1:\n"
        "        raise KeyError('no')\n"
        "    return torch.exp(scores) / torch.exp(scores).sum(0)"
    )
    seen = solve(release, {"softmax": half})
    assert seen["softmax"]["score"] == "1.5"
    text = seen["softmax"]["text/plain"]
    assert "raised KeyError: 'no' (line 3 of your cell: `raise KeyError('no')`)" in text


@pytest.mark.parametrize(
    "answer",
    [
        "def softmax(scores)\n    return scores",
        "softmax = 3",
        "import sys\ndef softmax(scores):\n    sys.exit(0)",
        "def softmax(scores):\n    return scores.softmax(0)",
        "softmax = lambda s: eval('torch.softmax(s, 0)')",
        "from torch import softmax",
        "class softmax:\n    def __init__(self, s): pass\n"
        "    def __eq__(self, other): return True",
        "def softmax(scores):\n    raise NotImplementedError('not for Long')",
    ],
)
def test_no_trick_and_no_crash_earns_a_point(release: Path, answer: str) -> None:
    seen = solve(release, {"softmax": answer})["softmax"]
    errors = [o for o in seen["outputs"] if o.output_type == "error"]
    assert errors or float(seen["score"]) == 0.0


def test_a_missing_answer_is_an_error_never_full_marks(release: Path) -> None:
    seen = solve(release, {"softmax": "", "twice": "del X"})
    assert "score" not in seen["softmax"]
    assert seen["softmax"]["outputs"][0].output_type == "error"


def test_warnings_on_stderr_cost_nothing(release: Path) -> None:
    loud = "import warnings\n" + REFERENCE.replace(
        "    e =", "    warnings.warn('careful')\n    e =", 1
    )
    seen = solve(release, {"softmax": loud})["softmax"]
    assert seen["score"] == "3.0"
    assert not [o for o in seen["outputs"] if o.get("name") == "stderr"]


def test_a_deleted_case_counts_as_not_passed(release: Path) -> None:
    shortened = 'check.start("attention", "softmax")\ncheck.score()'
    seen = solve(release, {"softmax": REFERENCE}, softmax_check=shortened)
    assert seen["softmax"]["score"] == "0.0"
    assert "did not run" in seen["softmax"]["text/plain"]


def test_without_its_sidecar_the_check_says_what_to_do(
    release: Path, tmp_path: Path
) -> None:
    (tmp_path / "attention.ipynb").write_text((release / "attention.ipynb").read_text())
    nb = nbformat.read(tmp_path / "attention.ipynb", 4)
    name = "nowhere"
    for cell in nb.cells:
        cell.source = cell.source.replace('start("attention"', f'start("{name}"')
    nbformat.write(nb, tmp_path / "attention.ipynb")
    seen = solve(tmp_path, {"softmax": REFERENCE})
    error = seen["softmax"]["outputs"][0]
    assert error.ename == "CourseError"
    assert "nowhere.expected.json was not found beside the notebook" in error.evalue


def test_as_plain_text_in_a_terminal(release: Path, tmp_path: Path) -> None:
    nb = nbformat.read(release / "attention.ipynb", 4)
    script = "\n\n".join(c.source for c in nb.cells if c.cell_type == "code")
    script = script.replace('raise NotImplementedError("softmax")', "return scores * 0")
    script = script.replace("print(softmax(", "print((")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=release, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "softmax: not right (0 of 3 points)" in done.stdout
    assert "twice: not done yet (0 of 2 points)" in done.stdout


def test_colab_fetches_the_course_and_nothing_else_does(
    release: Path, tmp_path: Path
) -> None:
    """The first cell, run with a module named google.colab, from a real repository."""
    course = small_course(tmp_path / "repository")
    (course / "exercises/attention").mkdir(parents=True)
    for file in release.iterdir():
        if file.is_file():
            (course / "exercises/attention" / file.name).write_bytes(file.read_bytes())
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", course]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    cell = nbformat.read(release / "attention.ipynb", 4).cells[1].source
    target = tmp_path / "content" / "course"
    cell = cell.replace("https://example.org/course", str(course))
    cell = cell.replace("/content/course", str(target))
    colab = (
        "import sys, types\nsys.modules['google.colab'] = types.ModuleType('colab')\n"
    )
    nb = nbformat.read(release / "attention.ipynb", 4)
    nb.cells = [
        new_code_cell(colab + cell),
        new_code_cell("import os; print(os.getcwd()); print(sys.path[0])"),
    ]
    client = NotebookClient(nb, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    said = nb.cells[1].outputs[0].text.split()
    assert said == [str(target / "exercises" / "attention"), str(target)]
    assert json.loads((Path(said[0]) / "attention.expected.json").read_text())


def test_elsewhere_the_first_cell_does_nothing(release: Path) -> None:
    nb = nbformat.read(release / "attention.ipynb", 4)
    nb.cells = [nb.cells[1], new_code_cell("import os; print(os.getcwd())")]
    NotebookClient(nb, resources={"metadata": {"path": str(release)}}).execute()
    assert nb.cells[1].outputs[0].text.strip() == str(release)


def test_in_a_clone_the_first_cell_finds_the_checker() -> None:
    """Binder and JupyterHub clone the course and install nothing of ours."""
    folder = Path(__file__).parents[2] / "exercises" / "attention"
    cell = nbformat.read(folder / "attention.ipynb", 4).cells[1].source
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"{cell}\nimport autograder\nprint(sys.path[0])"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.stdout.strip() == str(folder.parents[1]), done.stderr


@pytest.mark.parametrize("text", ["", "[]", '{"assignment": "attention"}', "{"])
def test_a_broken_sidecar_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "attention.expected.json"
    file.write_text(text)
    with pytest.raises(CourseError, match=r"(?s)attention\.expected\.json.*build"):
        Expected.read(file)


# --- hints that must not guess ----------------------------------------------------


def test_the_same_kind_of_error_is_no_diagnosis() -> None:
    def case(label: str, wrong: dict[str, Any]) -> dict[str, Any]:
        how = {"weight": 1, "tol": None, "dtype": None, "hidden": False}
        return how | {"label": label, "expected": 1.0, "wrong": {"mixes": wrong}}

    raised = {"kind": "raised", "error": "RuntimeError"}
    cases = [case("one", raised), case("two", {"kind": "float", "value": 2.0})]
    check = {"answer": "f", "points": 1, "cases": cases}
    expected = Expected("small", {"f-check": check}, {"mixes": "You mixed them up."})
    one = Record("one", "raised", error="RuntimeError", reason="your code raised")

    def hint(value: float) -> str | None:
        records = [one, Record("two", "value", value=value)]
        return judge("f-check", records, expected).hint

    assert hint(2.0) == "You mixed them up."
    assert hint(3.0) is None


ODD_VALUES = {
    "a generator": "(x for x in scores)",
    "a coroutine": "asyncio.sleep(0)",
    "a sparse tensor": "scores.to_sparse()",
    "a tensor on meta": "scores.to('meta')",
    "a quantized tensor": "torch.quantize_per_tensor(scores, 0.1, 0, torch.qint8)",
    "float8": "scores.to(torch.float8_e4m3fn)",
    "complex, real part right": "torch.complex(e / e.sum(0), e)",
    "conjugate": "torch.complex(e, e).conj()",
    "a jagged tensor": "torch.nested.nested_tensor([scores, scores])",
    "many entries": "torch.zeros(1).expand(10**10)",
    "a long list": "[0] * 2_000_000",
    "a huge number": "[10**400, 1]",
    "a huge fraction": "fractions.Fraction(10**400, 3)",
    "a list in itself": "(a := [], a.append(a), a)[2]",
    "a deep list": "functools.reduce(lambda a, _: [a], range(9999), 1)",
    "a recursive dict": "(a := {}, a.update(x=a), a)[2]",
    "an object that refuses": "type('E', (), {'__class__': property(lambda s: s.x)})()",
    "a subclass": "scores.as_subclass(type('T', (torch.Tensor,), {}))",
    "a memoryview": "memoryview(b'ab')",
    "markup": "type('<b>E</b>' * 99, (), {})()",
}
ODD_ERRORS = {
    "an error without words": (
        "class E(Exception):\n    def __str__(self): raise ValueError\n", "E()"
    ),
    "a surrogate": ("", "ValueError('\\ud800')"),
    "markup": ("", "ValueError('<img src=x>')"),
    "below Exception": ("class E(BaseException): pass\n", "E()"),
    "a generator's end": ("", "GeneratorExit()"),
}  # fmt: skip


def alone(release: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Verdict:
    """The verdict of the softmax check on an answer, in this process."""
    monkeypatch.chdir(release)
    names: dict[str, Any] = {"torch": torch, "check": Check()}
    execute(text, "softmax", names)
    cases = (
        'check.start("attention", "softmax")\n'
        'check("two keys, one query", softmax, torch.tensor([[0.0], [1.0]]))\n'
        'check("the worked example", softmax, torch.tensor([[1.0, 2], [3, -4]]))\n'
        "check.score()"
    )
    exec(cases, names)
    verdict = names["check"].verdict
    assert json.dumps(verdict.as_dict()).isascii()
    page = as_html(verdict)
    assert page.encode() and "<b>E" not in page and "<img" not in page
    return verdict


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
def test_an_odd_value_gets_a_verdict(release, monkeypatch, value: str) -> None:
    text = "import asyncio, fractions, functools\ndef softmax(scores):\n"
    text += "    e = (scores - scores.max(0).values).exp()\n"
    half = "    if scores.shape[1] == 2:\n        return e / e.sum(0)\n"
    verdict = alone(release, monkeypatch, f"{text}{half}    return {value}")
    assert (verdict.score, verdict.status) == (1.5, "partial"), verdict.reason
    assert verdict.reason and len(verdict.reason) < 300


@pytest.mark.parametrize("define, error", ODD_ERRORS.values(), ids=ODD_ERRORS)
def test_an_odd_error_gets_a_verdict(release, monkeypatch, define, error) -> None:
    text = f"{define}def softmax(scores):\n    raise {error}"
    verdict = alone(release, monkeypatch, text)
    assert (verdict.score, verdict.status) == (0.0, "error")
    assert verdict.reason and "raised" in verdict.reason


def test_a_right_answer_with_a_gradient_keeps_its_marks(release, monkeypatch) -> None:
    text = f"{REFERENCE} * torch.ones(1, requires_grad=True)"
    assert alone(release, monkeypatch, text).status == "right"


def test_a_comparison_put_in_place_of_numpys_gives_nothing(
    release, monkeypatch
) -> None:
    monkeypatch.setattr(np, "isclose", lambda *a, **k: np.ones((), bool))
    assert alone(release, monkeypatch, "def softmax(s):\n    return s").score == 0


def test_a_hint_explains_every_failing_case(release, monkeypatch) -> None:
    """Ones are what `rows` gives for one query, and not for two."""
    text = "def softmax(scores):\n    return torch.ones_like(scores)"
    verdict = alone(release, monkeypatch, text)
    assert verdict.status == "wrong" and verdict.hint is None


def test_an_answer_that_leaves_the_folder_is_judged(release, monkeypatch) -> None:
    text = "import os\n" + REFERENCE.replace(
        "    return", "    os.chdir('/')\n    return"
    )
    assert alone(release, monkeypatch, text).status == "right"


def test_a_variable_called_check_costs_nothing(release: Path) -> None:
    seen = solve(release, {"softmax": REFERENCE + "\n\ncheck = 3"})
    assert seen["softmax"]["score"] == "3.0"
    assert seen["twice"]["score"] == "0.0"
