"""What an answer must not call it may not call through a helper or alias either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from autograder.authoring import misconceptions, sidecar, source
from autograder.authoring.misconceptions import execute
from autograder.checking.forbid import forbidden_call, forbidden_in
from autograder.checking.statements import statements
from autograder.cli import main

FORBIDDEN = ["softmax", "log_softmax", "Softmax"]
SETUP = (
    "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn"
)
HONEST = (
    "def softmax(s, dim):\n"
    "    p = (s - s.amax(dim, keepdim=True)).exp()\n"
    "    return p / p.sum(dim, keepdim=True)"
)

#: right for the small course, whose softmax takes no dim
REAL = "def softmax(s):\n    p = (s - s.amax(0)).exp()\n    return p / p.sum(0)"


def seen(cells: list[str], answer: str = "softmax", forbidden: Any = None) -> Any:
    """What the text says, and what a notebook says in which these cells have run.

    The last cell is the answer's.
    """
    forbidden = FORBIDDEN if forbidden is None else forbidden
    *others, text = cells
    told = forbidden_in([SETUP, *others], text, answer, forbidden)
    names: dict[str, Any] = {"__name__": "a notebook"}
    for number, cell in enumerate([SETUP, *cells]):
        execute(cell, f"{number} of {hash(tuple(cells))}", names)
    return told, forbidden_call(names[answer], answer, forbidden, names)


ATTACKS = {
    "called outright": ["def softmax(s, dim):\n    return torch.softmax(s, dim)"],
    "a method": ["def softmax(s, dim):\n    return s.softmax(dim)"],
    "another name for it": ["softmax = torch.softmax"],
    "a helper": [
        "def lib(s, dim):\n    return torch.softmax(s, dim)",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "a helper of a helper": [
        "def two(s, dim):\n    return F.softmax(s, dim)",
        "def one(s, dim):\n    return two(s, dim)",
        "def softmax(s, dim):\n    return one(s, dim)",
    ],
    "a helper in the same cell": [
        "def lib(s, d):\n    return s.softmax(d)\n"
        "def softmax(s, dim):\n    return lib(s, dim)"
    ],
    "an import under another name": [
        "from torch.nn.functional import softmax as s1, relu",
        "def softmax(s, dim):\n    return s1(s, dim)",
    ],
    "an import inside": [
        "def softmax(s, dim):\n    from torch import softmax as f\n    return f(s, dim)"
    ],
    "an alias": ["s1 = torch.softmax", "def softmax(s, dim):\n    return s1(s, dim)"],
    "an alias of an alias": [
        "s1 = torch.softmax",
        "s2 = s1",
        "def softmax(s, dim):\n    return s2(s, dim)",
    ],
    "an alias of a module": [
        "G = torch.nn.functional",
        "def softmax(s, dim):\n    return G.softmax(s, dim)",
    ],
    "a lambda": [
        "lib = lambda s, d: torch.softmax(s, d)",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "the answer as a lambda": ["softmax = lambda s, dim: s.softmax(dim)"],
    "a table of functions": [
        "tools = {'s': torch.softmax}",
        "def softmax(s, dim):\n    return tools['s'](s, dim)",
    ],
    "a list filled later": [
        "tools = []",
        "tools.append(torch.softmax)",
        "def softmax(s, dim):\n    return tools[0](s, dim)",
    ],
    "a partial": [
        "import functools\nlib = functools.partial(torch.softmax, dim=0)",
        "def softmax(s, dim):\n    return lib(s)",
    ],
    "a layer": [
        "layer = nn.Softmax(0)",
        "def softmax(s, dim):\n    return layer(s)",
    ],
    "a class": [
        "class Tools:\n    def f(self, s, d):\n        return torch.softmax(s, d)",
        "tools = Tools()",
        "def softmax(s, dim):\n    return tools.f(s, dim)",
    ],
    "a subclass as the answer": ["class softmax(nn.Softmax):\n    pass"],
    "a class as the answer": [
        "class softmax:\n"
        "    def __new__(cls, s, dim):\n        return F.softmax(s, dim)"
    ],
    "a decorator": [
        "def use(lib):\n    return lambda f: lib",
        "@use(torch.softmax)\ndef softmax(s, dim):\n    return s",
    ],
    "a default": ["def softmax(s, dim, f=torch.softmax):\n    return f(s, dim)"],
    "a global statement": [
        "def prepare():\n    global lib\n    lib = torch.softmax",
        "prepare()",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "a loop's variable": [
        "for lib in [torch.softmax]:\n    pass",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "under a condition": [
        "if True:\n    def lib(s, d):\n        return torch.softmax(s, d)",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "after an annotation": ["softmax = torch.softmax\nsoftmax: object"],
    "getattr": [
        "def softmax(s, dim):\n    return getattr(torch, 'soft' + 'max')(s, dim)"
    ],
    "eval": ["def softmax(s, dim):\n    return eval('torch.soft' + 'max')(s, dim)"],
    "a module's table": [
        "def softmax(s, dim):\n    return torch.__dict__['softmax'](s, dim)"
    ],
    "attrgetter": [
        "from operator import attrgetter as ag",
        "def softmax(s, dim):\n    return ag('soft' + 'max')(torch)(s, dim)",
    ],
    "a class answer with a helper": [
        "def lib(s, d):\n    return torch.softmax(s, d)",
        "class softmax:\n    def __new__(cls, s, dim):\n        return lib(s, dim)",
    ],
}  # fmt: skip


@pytest.mark.parametrize("cells", ATTACKS.values(), ids=ATTACKS)
def test_a_way_around_is_no_way(cells: list[str]) -> None:
    told, live = seen(cells)
    assert told and "write it yourself, without" in told
    assert live and ("without" in live or "could not be read" in live)


#: ways that only the text shows: what they leave in the notebook has another name
TEXT_ONLY = {
    "an attribute of a library": [
        "torch.mine = torch.softmax",
        "def softmax(s, dim):\n    return torch.mine(s, dim)",
    ],
    "a method of tensors": [
        "setattr(torch.Tensor, 'mine', torch.softmax)",
        "def softmax(s, dim):\n    return s.mine(dim)",
    ],
    "an operator": [
        "torch.Tensor.__matmul__ = lambda s, dim: torch.softmax(s, dim)",
        "def softmax(s, dim):\n    return s @ dim",
    ],
    "exec": [
        "exec('lib = torch.soft' + 'max')",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "globals": [
        "globals()['li' + 'b'] = torch.softmax",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "pushed": [
        "get_ipython().push({'lib': torch.softmax})",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "built in": [
        "import builtins\nbuiltins.lib = torch.softmax",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
    "the code put in later": [
        "def lib(s, dim):\n    return torch.softmax(s, dim)",
        f"{HONEST}\nsoftmax.__code__ = lib.__code__",
    ],
    "built on its first self": [
        "softmax = torch.softmax\n"
        "softmax = (lambda f: lambda s, dim: f(s, dim))(softmax)"
    ],
    "bound when called": [
        "def swap():\n    global softmax\n    softmax = torch.softmax",
        f"{HONEST}\nswap()",
    ],
    "a star": [
        "from torch.nn.functional import *",
        "def attend(s, dim):\n    return softmax(s, dim)",
    ],
    "a notebook command beside it": [
        "%matplotlib inline\nhere = %pwd\n"
        "def lib(s, d):\n    return torch.softmax(s, d)",
        "def softmax(s, dim):\n    return lib(s, dim)",
    ],
}  # fmt: skip


@pytest.mark.parametrize("cells", TEXT_ONLY.values(), ids=TEXT_ONLY)
def test_the_text_of_the_cells_shows_more(cells: list[str]) -> None:
    *others, text = cells
    answer = "attend" if "def attend" in text else "softmax"
    told = forbidden_in([SETUP, *others], text, answer, FORBIDDEN)
    assert told and "write it yourself, without" in told
    if "__" not in "".join(cells) and "swap" not in text:
        assert forbidden_in([SETUP, *others], HONEST, "softmax", FORBIDDEN) is None


@pytest.mark.parametrize(
    "others",
    [
        [],
        ["def top(s, dim):\n    return s.amax(dim, keepdim=True)"],
        ["A = torch.softmax(torch.zeros(3), 0)\np = A"],
        ["softmax = torch.softmax  # a first try\nprint(softmax(torch.zeros(2), 0))"],
        ["s = torch.softmax\ndim = 0"],
        ["from torch.nn.functional import softmax as judge, relu"],
        ["def attention(q, k, v):\n    return torch.softmax(q @ k.T, -1) @ v"],
        ["x = eval('1 + 1')\nvars(nn.Linear(1, 1))\nexec('y = 2')"],
        ["tools = [1]\ntools.append(torch.softmax(torch.zeros(2), 0))"],
        ["[torch.softmax(p, 0) for p in torch.zeros(2, 2)]"],
        ["torch.manual_seed(0)\ntorch.testing.assert_close(F.softmax(torch.ones(2), 0),"
         " torch.ones(2) / 2)"],
        ["layer = nn.Linear(2, 2)\nlayer.weight.data = torch.softmax(layer.weight, 0)"],
        ["try:\n    judge = F.softmax\nexcept AttributeError:\n    judge = None"],
    ],
)  # fmt: skip
def test_what_else_stands_in_the_notebook_may_use_anything(others: list[str]) -> None:
    assert seen([*others, HONEST]) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        HONEST,
        f"{HONEST}\n\ntorch.testing.assert_close(softmax(torch.ones(2), 0),"
        " torch.softmax(torch.ones(2), 0))",
        "def _shift(s, dim):\n    return s - s.amax(dim, keepdim=True)\n\n"
        "def softmax(s, dim):\n    p = _shift(s, dim).exp()\n"
        "    return p / p.sum(dim, keepdim=True)",
        "def softmax(s, dim):\n    softmax = s.exp()\n"
        "    return softmax / softmax.sum(dim)",
        "def softmax(s, dim):\n"
        "    if dim < 0:\n        return softmax(s, s.ndim + dim)\n"
        "    return s.exp() / s.exp().sum(dim, keepdim=True)\n"
        '    raise NotImplementedError("softmax")',
        "@torch.no_grad()\ndef softmax(s, dim):\n    return s.exp() / s.exp().sum(dim)",
        "import functools\ndef _soft(s, dim, base):\n    p = base ** s\n"
        "    return p / p.sum(dim)\nsoftmax = functools.partial(_soft, base=math.e)",
        "class softmax:\n    def softmax(self, s):\n        return s.exp()\n"
        "    def __new__(cls, s, dim):\n        self = object.__new__(cls)\n"
        "        return self.softmax(s) / self.softmax(s).sum(dim)",
        "softmax = lambda s, dim: s.exp() / s.exp().sum(dim, keepdim=True)",
        "import re\ndef softmax(s, dim):\n    re.compile('a')\n"
        "    nn.Linear(1, 1).eval()\n"
        "    return s.exp() / s.exp().sum(dim)",
    ],
)  # fmt: skip
def test_an_honest_answer_may_look_as_it_likes(text: str) -> None:
    assert seen([text]) == (None, None)


def test_ones_own_function_may_be_called_like_the_library_s() -> None:
    used = "def attend(s):\n    return softmax(s, 0)"
    assert seen([HONEST, used], "attend") == (None, None)
    told, live = seen(["from torch import softmax", used], "attend")
    assert told and live and "without softmax" in told and "without softmax" in live


def test_the_helper_is_named() -> None:
    told, live = seen(ATTACKS["a helper of a helper"])
    assert told == live
    assert told.endswith("yourself, without softmax (two uses it)")


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("jacobian = z * z; return jacobian", False),
        ("return torch.autograd.functional.jacobian(f, z)", True),
        ("from torch.func import jacobian; return jacobian(f)(z)", True),
        ("jacobian = torch.func.jacobian; return jacobian(f)(z)", True),
        ("return jacobian(f)(z)", True),
        ("vars = z * z; return [vars for compile in vars]", False),
        ("getattr = z; return getattr", False),
        ("return getattr(z, 'a')", True),
        ("global vars; return vars", True),
        ("return (lambda vars=vars: vars)()", True),
    ],
)
def test_a_forbidden_name_is_free_for_a_variable(line: str, refused: bool) -> None:
    text = f"def slopes(z):\n    {line}"
    assert (forbidden_in([], text, "slopes", ["jacobian"]) is not None) is refused


def test_the_notebook_s_own_names_lead_nowhere() -> None:
    """A cell as converters leave them, and an answer that shows what it does."""
    cells = ["get_ipython().run_line_magic('matplotlib', 'inline')"]
    shows = HONEST.replace("    return", "    display(p)\n    return")
    assert forbidden_in(cells, shows, "softmax", FORBIDDEN) is None


def test_a_module_may_be_there_for_something_else() -> None:
    """`forbid=["numpy"]` means what numpy makes, not the root of a number."""
    text = "def f(q):\n    return q / np.sqrt(3)"
    assert forbidden_in(["import numpy as np"], text, "f", ["numpy"]) is None
    inside = "def f(q):\n    import numpy\n    return numpy.sqrt(q)"
    assert forbidden_in([], inside, "f", ["numpy"])
    assert forbidden_in([], "def f(q):\n    return q.numpy()", "f", ["numpy"])


def test_the_last_definition_counts() -> None:
    first = "def softmax(s, dim):\n    return torch.softmax(s, dim)"
    assert forbidden_in([], [first, HONEST], "softmax", FORBIDDEN) is None
    assert forbidden_in([], [HONEST, first], "softmax", FORBIDDEN)
    maybe = "if torch:\n    def softmax(s, dim):\n        return s.exp()"
    assert forbidden_in([], [first, maybe], "softmax", FORBIDDEN)


def test_a_text_that_does_not_parse_hides_nothing_else() -> None:
    broken = "def softmax(s, dim:"
    assert forbidden_in([], broken, "softmax", FORBIDDEN) is None
    assert forbidden_in([broken], HONEST, "softmax", FORBIDDEN) is None
    library = "softmax = torch.softmax"
    assert forbidden_in([], [library, broken], "softmax", FORBIDDEN)


def test_an_answer_that_no_cell_defines_has_no_source() -> None:
    for text in ("", [], "exec(code)", "pass"):
        told = forbidden_in(["exec(code)"], text, "softmax", FORBIDDEN)
        assert told and "define it with def" in told
    names = {"softmax": torch.softmax, "three": 3}
    assert "define it with def" in str(forbidden_call(3, "three", FORBIDDEN, names))


def test_every_right_answer_of_the_assignment_is_allowed() -> None:
    assignment = source.read("attention")
    checks = {str(c.id): c for c in assignment.by_role("check")}
    allowed = 0
    for known in misconceptions.load("attention"):
        if known.right:
            answer = assignment.answer(known.answer)
            check = checks[f"{known.answer}-check"]
            assert sidecar.refused(known, answer, check, assignment) is None
            allowed += 1
    assert allowed == 57


def test_a_statement_is_read_with_its_scopes() -> None:
    (one,) = statements("def f(a, b=c):\n    d = e(a)\n    return [g(h) for h in d]")
    assert one.binds == {"f"} and one.now == {"c"} and one.reads == {"c", "e", "g"}
    (two,) = statements("t[0].x = u")
    assert two.binds == {".x"} and two.alters == {"t"}
    assert [s.binds for s in statements("import a.b as c, d.e")] == [{"c"}, {"d"}]
    (three,) = statements("for i in [j for k in l]:\n    m = (n := i)")
    assert three.binds == {"i", "m", "n"}


@pytest.mark.parametrize(
    ("added", "answer", "says"),
    [
        ("top = torch.softmax\nsoftmax = top", REAL, "✓ softmax"),
        (
            "lib = torch.softmax",
            "def softmax(s):\n    return lib(s, 0)",
            "(lib uses it)",
        ),
        ("exec('softmax = lambda s: s.soft' 'max(0)')", "pass", "could not be read"),
        ("softmax = lambda s: s.softmax(0)", "def softmax(s:", "without softmax"),
        ("top = 3", "def softmax(s:", "SyntaxError"),
        ("top = 3", "pass", "NameError"),
    ],
)
def test_the_grader_sees_it_in_the_submitted_cells(
    tiny_course: Path, capsys: pytest.CaptureFixture[str], added, answer, says
) -> None:
    notebook = nbformat.read(tiny_course / "exercises/attention/attention.ipynb", 4)
    place = next(n for n, cell in enumerate(notebook.cells) if cell.id == "softmax")
    notebook.cells[place].source = answer
    notebook.cells.insert(place, nbformat.v4.new_code_cell(added))
    nbformat.write(notebook, tiny_course / "mine.ipynb")
    mine = ["--notebook", str(tiny_course / "mine.ipynb"), "--isolation", "none"]
    assert main(["grade", "attention", *mine]) == 0
    said = capsys.readouterr().out
    assert says in said and ("✓ softmax" in said) == (answer == REAL)
