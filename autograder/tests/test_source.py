"""The author's mistakes are named with file, line and mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring import misconceptions, sidecar, source
from autograder.errors import CourseError
from autograder.tests.small_course import MISCONCEPTIONS, SOURCE, small_course

BROKEN = {
    "unknown role": ('role="explore"', 'role="explor"', "unknown role 'explor'"),
    "unknown key": ('role="explore"', 'rule="explore"', "unknown cell metadata 'rule'"),
    "duplicate id": ('id="picture"', 'id="setup"', "duplicate id 'setup'"),
    "no check": (
        'id="twice-check"',
        'id="twice2-check"',
        "answer 'twice' has no check",
    ),
    "no points": (" points=3", "", "softmax-check has no points"),
    "negative points": (" points=3", " points=-1", "softmax-check has no points"),
    "points elsewhere": (
        'id="picture" role="explore"',
        'id="picture" role="explore" points=2',
        "points on a cell of role explore",
    ),
    "unclosed solution": ("    ### END SOLUTION\n", "", "unclosed SOLUTION region"),
    "unclosed hidden": ("### END HIDDEN TESTS\n", "", "unclosed HIDDEN TESTS region"),
    "end without begin": (
        "### BEGIN HIDDEN TESTS\n",
        "",
        "END HIDDEN TESTS without a BEGIN",
    ),
    "nested": (
        "    exp = (",
        "    ### BEGIN SOLUTION\n    exp = (",
        "SOLUTION region inside another one",
    ),
    "misspelt marker": (
        "### BEGIN HIDDEN TESTS",
        "# BEGIN HIDDEN TESTS",
        "not a marker",
    ),
    "solution in a check": (
        "### BEGIN HIDDEN TESTS",
        "### BEGIN SOLUTION",
        "SOLUTION marker in a cell of role check",
    ),
    "no region": (
        "### BEGIN SOLUTION\nD = (2 * X).tolist()\n### END SOLUTION\n",
        "",
        "answer twice has no SOLUTION region",
    ),
    "no id": ('id="picture" role="explore"', 'role="explore"', "has no id"),
    "bad id": ('id="picture"', 'id="a picture!"', "is not a name"),
    "marker in small letters": (
        "### BEGIN SOLUTION",
        "### begin solution",
        "not a mark",
    ),
    "marker with two spaces": (
        "### BEGIN HIDDEN TESTS",
        "###  BEGIN  HIDDEN TESTS",
        "not a marker",
    ),
    "mark scheme not closed": (
        "# === END MARK SCHEME ===\n",
        "",
        "unclosed MARK SCHEME region",
    ),
    "mark scheme elsewhere": (
        "# ## 2. Twice",
        "# === BEGIN MARK SCHEME ===\n# Four.\n# === END MARK SCHEME ===",
        "MARK SCHEME marker in a cell of role given",
    ),
    "no number of points": (" points=3", " points=NaN", "softmax-check has no points"),
    "true points": (" points=3", " points=true", "softmax-check has no points"),
    "the build's id": ('id="picture"', 'id="colab"', "the build needs the id"),
    "forbid a text": ('["softmax"]', '"softmax"', "forbid='softmax' on a cell"),
    "forbid in a table": (" points=2\ncheck", ' points=2 forbid=["T"]\ncheck', "table"),
    "limits elsewhere": (
        'id="softmax" role="answer"',
        'id="softmax" role="answer" seconds=60',
        "seconds on a cell of role answer",
    ),
    "no time": (" points=3", " points=3 seconds=0", "seconds=0 is no positive number"),
    "time as a text": (" points=3", ' points=3 seconds="9"', "seconds='9' is no posi"),
    "true seconds": (" points=3", " points=3 seconds=true", "seconds=True is no posit"),
    "memory in GiB": (" points=3", " points=3 memory=6", "memory=6 is too little"),
    "half a byte": (" points=3", " points=3 memory=5e9", "memory=5000000000.0 is too"),
    "an unknown limit": (" points=3", " points=3 threads=2", "unknown cell metadata"),
    "no Python": ("exp = (scores -", "exp = = (scores -", "this is no Python"),
    "a magic": ("import torch\n", "%matplotlib inline\n", "this is no Python"),
    "another name": ("def softmax(", "def soft_max(", "defines no softmax"),
    "a label put together": (
        'check("the worked example"',
        'check(f"the worked {1}"',
        "has no plain label",
    ),
    "half a statement hidden": (
        'check("the worked example", softmax, X.float())\n### BEGIN HIDDEN TESTS',
        "if True:\n    pass\nelse:\n### BEGIN HIDDEN TESTS\n    pass",
        "is no Python without its hidden region",
    ),
    "include of nothing": ('include="GIVEN"', 'include="GVEN"', "has no attribute"),
    "include into a full cell": (
        'include="GIVEN"\n',
        'include="GIVEN"\nx = 1\n',
        "include belongs on a given code cell that is empty",
    ),
    "a raw cell": ("# %% [markdown]\n# ## 2", "# %% [raw]\n# ## 2", "a raw cell"),
    "written as code": ('[markdown] id="why"', 'id="why"', "must be a markdown cell"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_source_says_where_and_how_to_mend(name: str, tmp_path: Path) -> None:
    old, new, words = BROKEN[name]
    assert old in SOURCE
    root = small_course(tmp_path, SOURCE.replace(old, new))
    with pytest.raises(CourseError) as caught:
        source.read("attention", root)
    assert words in caught.value.message
    path, line, _ = caught.value.message.split(":", 2)
    assert path.endswith("attention.py") and int(line) > 0
    assert caught.value.mend


def test_what_is_not_utf8_or_has_a_broken_header_is_refused(tmp_path: Path) -> None:
    root = small_course(tmp_path)
    path = root / "solutions/attention/attention.py"
    for content, words in (
        (b"# \xe9\n" + SOURCE.encode(), "attention.py:1: this is not UTF-8"),
        (
            b"# ---\n# jupyter:\n#   kernelspec:\n#     name: x\n# ---\n\n"
            + SOURCE.encode(),
            "attention.py:1: jupytext can't read this",
        ),
    ):
        path.write_bytes(content)
        with pytest.raises(CourseError, match=words):
            source.read("attention", root)


def test_a_byte_order_mark_and_foreign_line_ends_are_read(tmp_path: Path) -> None:
    root = small_course(tmp_path)
    plain = source.read("attention", root)
    path = root / "solutions/attention/attention.py"
    path.write_bytes(b"\xef\xbb\xbf" + SOURCE.replace("\n", "\r\n").encode())
    assert source.read("attention", root) == plain


IN_THE_RUN = {
    "the reference exits": (
        "D = (2 * X).tolist()",
        "raise SystemExit(0)",
        "py:35: this",
    ),
    "a name is missing": (
        "D = (2 * X)",
        "D = (2 * Y)",
        "py:35: this cell raises NameE",
    ),
    "a generator": (
        "return exp / exp",
        "return iter([1]); exp",
        "gives a list_iterator",
    ),
    "complex numbers": ("return exp / ", "return 1j * exp / ", "complex64"),
    "a sparse tensor": (
        "return exp / exp",
        "return exp.to_sparse(); exp",
        "sparse tens",
    ),
    "hidden cases only": (
        'check("two keys, one query", softmax, torch.tensor([[0.0], [1.0]]))\n'
        'check("the worked example", softmax, X.float())\n',
        "",
        "softmax-check has hidden cases only",
    ),
    "no weight": ("X.float())", "X.float(), weight=0)", "py:23: .*no positive number"),
    "no tolerance": (
        "X.float())",
        'X.float(), tol="1")',
        "py:23: .*no positive number",
    ),
    "no dtype": ("lambda: D[0])", "lambda: D[0], dtype=True)", "asks for a dtype"),
}


@pytest.mark.parametrize("name", IN_THE_RUN)
def test_what_shows_in_the_run_says_where_as_well(name: str, tmp_path: Path) -> None:
    old, new, words = IN_THE_RUN[name]
    assert old in SOURCE
    root = small_course(tmp_path, SOURCE.replace(old, new))
    known = misconceptions.load("attention", root)
    with pytest.raises(CourseError, match=words) as caught:
        sidecar.make(source.read("attention", root), known)
    assert caught.value.mend


KNOWN = {
    "syntax": ("def rows(scores):", "def rows(scores:", "py:7: SyntaxError"),
    "import": ("import torch\n", "import torhc\n", "py:1: ModuleNotFoundError"),
    "exit": ("import torch\n", "import torch\nraise SystemExit(0)\n", "py:2: System"),
    "no hint": (', hint="Large scores overflow."', "", "py:11: TypeError"),
    "empty hint": ("Large scores overflow.", "", "overflows has no hint"),
    "bare decorator": ('@right("softmax")', "@right", "TypeError: name the exercise"),
    "two decorators": (
        '@right("softmax")\ndef by_log',
        '@right("softmax")\n@right("softmax")\ndef by_log',
        "by_log has two decorators",
    ),
    "twice": ("def by_log", "def shorter", "shorter is there twice"),
    "async": ("def rows", "async def rows", "rows is async"),
    "no UTF-8": ("import torch\n", "# \udce9\nimport torch\n", "not UTF-8|codec"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_broken_file_of_mistakes_says_where(name: str, tmp_path: Path) -> None:
    old, new, words = KNOWN[name]
    assert old in MISCONCEPTIONS
    root = small_course(tmp_path)
    path = root / "solutions/attention/misconceptions.py"
    text = MISCONCEPTIONS.replace(old, new)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CourseError, match=words) as caught:
        misconceptions.load("attention", root)
    assert "misconceptions.py:" in caught.value.message


def test_hints_may_be_put_together_and_names_may_be_short(tmp_path: Path) -> None:
    text = "from autograder import authoring\n" + MISCONCEPTIONS.replace(
        'hint="Large scores overflow."', 'hint="Large " + "scores"'
    ).replace("def rows", "def e").replace('@right("soft', '@authoring.right("soft')
    root = small_course(tmp_path)
    (root / "solutions/attention/misconceptions.py").write_text(text)
    known = {a.name: a for a in misconceptions.load("attention", root)}
    assert known["overflows"].hint == "Large scores"
    assert known["by_log"].right and known["shorter"].right
    assert misconceptions.renamed(known["e"]).startswith("def softmax(scores):")


def test_the_line_is_the_cells_own(tmp_path: Path) -> None:
    root = small_course(tmp_path, SOURCE.replace(" points=3", ""))
    with pytest.raises(CourseError) as caught:
        source.read("attention", root)
    number = int(caught.value.message.split(":")[1])
    text = (root / "solutions/attention/attention.py").read_text().splitlines()
    assert text[number - 1].startswith('# %% id="softmax-check"')


def test_roles_points_and_numbers_are_read(tmp_path: Path) -> None:
    assignment = source.read("attention", small_course(tmp_path))
    assert [c.id for c in assignment.by_role("answer")] == ["softmax", "twice"]
    assert assignment.points == 7
    numbers = next(c for c in assignment.cells if c.id == "numbers")
    assert "[ 1,  2]," in numbers.text and "two tokens in columns" in numbers.text
    assert source.defines_itself(assignment.answer("softmax"))
    assert not source.defines_itself(assignment.answer("twice"))


def test_the_hidden_region_is_taken_out_and_nothing_else(tmp_path: Path) -> None:
    assignment = source.read("attention", small_course(tmp_path))
    check = next(c for c in assignment.cells if c.id == "softmax-check")
    shown = source.without_hidden(check.text)
    assert "secret" not in shown and "HIDDEN" not in shown
    assert shown.count("check(") == 2
