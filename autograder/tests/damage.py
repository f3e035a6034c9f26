"""Damaged and broken notebooks for tests of the engine, each with what must come of it.

What honest editors do to a notebook costs nothing and is said in a warning; rubbish is
refused with a reason. A change takes the notebook as plain JSON (well answered) and
changes it in place, or returns another.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jupytext
import nbformat

Json = Any
RIGHT = {"softmax": "right", "twice": "right"}
BLANK = {"softmax": "blank", "twice": "blank"}
MANY = 120_000


@dataclass(frozen=True)
class Damage:
    """A change, and what must come of it.

    says : words of a warning, or of the reason when it is refused
    """

    change: Callable[[Json], Json]
    statuses: dict[str, str]
    says: str = ""


HONEST: dict[str, Damage] = {}
ODD: dict[str, Damage] = {}
REFUSED: dict[str, tuple[bytes, str]] = {}


def honest(says: str) -> Callable:
    """Damage that costs nothing."""

    def keep(change: Callable[[Json], Json]) -> Callable:
        HONEST[change.__name__] = Damage(change, RIGHT, says)
        return change

    return keep


def odd(softmax: str = "right", twice: str = "right", says: str = "") -> Callable:
    """What no honest editor does: what can be graded is."""

    def keep(change: Callable[[Json], Json]) -> Callable:
        ODD[change.__name__] = Damage(
            change, {"softmax": softmax, "twice": twice}, says
        )
        return change

    return keep


def named(notebook: Json, name: str) -> Json:
    """The cell with an nbgrader id."""
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == name:
            return cell
    raise LookupError(name)


def place(notebook: Json, name: str) -> int:
    """Where the cell with an nbgrader id is."""
    return notebook["cells"].index(named(notebook, name))


def code(source: Any, **more: Any) -> Json:
    """A code cell without an id."""
    empty: Json = {"cell_type": "code", "execution_count": None, "outputs": []}
    return {**empty, "metadata": {}, "source": source, **more}


def without_ids(notebook: Json, metadata: bool = True) -> Json:
    """As other editors leave it: no cell has an id (and no metadata)."""
    for cell in notebook["cells"]:
        cell.pop("id", None)
        if metadata:
            cell["metadata"] = {}
    return notebook


def as_bytes(notebook: Json) -> bytes:
    """A notebook's bytes."""
    return notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()


# ------------------------------------------------------------------ honest editors


@honest("byte order mark")
def begins_with_a_mark(notebook: Json) -> Json:
    return b"\xef\xbb\xbf" + as_bytes(notebook)


@honest("line ends of Windows")
def file_of_windows(notebook: Json) -> Json:
    return json.dumps(notebook, indent=1).replace("\n", "\r\n").encode()


@honest("line ends of Windows")
def cells_of_windows(notebook: Json) -> Json:
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")


@honest("line ends of Windows")
def cells_of_an_old_mac(notebook: Json) -> Json:
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r")


@honest("the ids were lost")
def metadata_lost(notebook: Json) -> Json:
    return without_ids(notebook)


@honest("the ids were lost")
def all_metadata_lost(notebook: Json) -> Json:
    del notebook["metadata"]
    return without_ids(notebook)


@honest("")
def format_4_0(notebook: Json) -> Json:
    notebook["nbformat_minor"] = 0
    return without_ids(notebook, metadata=False)


@honest("the ids were lost")
def format_4_0_without_metadata(notebook: Json) -> Json:
    notebook["nbformat_minor"] = 0
    return without_ids(notebook)


@honest("")
def format_4_4(notebook: Json) -> Json:
    notebook["nbformat_minor"] = 4
    return without_ids(notebook, metadata=False)


@honest("")
def converted_by_nbformat(notebook: Json) -> Json:
    old = nbformat.convert(nbformat.from_dict(notebook), 3)
    return json.loads(nbformat.writes(nbformat.convert(old, 4)))


@honest("the ids were lost")
def through_colab(notebook: Json) -> Json:
    notebook["nbformat_minor"] = 0
    notebook["metadata"]["colab"] = {"provenance": [], "toc_visible": True}
    without_ids(notebook)
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] = {"id": f"xYz{number}", "colab": {"base_uri": "https://x"}}
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]}
            ]


@honest("the ids were lost")
def through_jupytext_percent(notebook: Json) -> Json:
    text = jupytext.writes(nbformat.from_dict(without_ids(notebook)), "py:percent")
    return json.loads(nbformat.writes(jupytext.reads(text, "py:percent")))


@honest("")
def through_jupytext_with_metadata(notebook: Json) -> Json:
    text = jupytext.writes(nbformat.from_dict(notebook), "py:percent")
    return json.loads(nbformat.writes(jupytext.reads(text, "py:percent")))


@honest("the ids were lost")
def through_markdown(notebook: Json) -> Json:
    text = jupytext.writes(nbformat.from_dict(without_ids(notebook)), "md")
    return json.loads(nbformat.writes(jupytext.reads(text, "md")))


@honest("was no code cell")
def answer_as_markdown(notebook: Json) -> Json:
    cell = named(notebook, "softmax")
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


@honest("was no code cell")
def answer_as_raw(notebook: Json) -> Json:
    named(notebook, "twice")["cell_type"] = "raw"


@honest("")
def helper_cells(notebook: Json) -> Json:
    cell = named(notebook, "softmax")
    cell["source"] = cell["source"].replace("scores.max(", "largest(scores, ")
    helper = "def largest(scores, **how):\n    return scores.max(**how)"
    notebook["cells"].insert(place(notebook, "softmax"), code(helper))
    notebook["cells"].insert(0, code("import sys, math, random\n!ls"))


@honest("")
def a_table_split_in_two(notebook: Json) -> Json:
    named(notebook, "twice")["source"] = "D = [[2, 4], None]"
    notebook["cells"].insert(place(notebook, "twice") + 1, code("D[1] = [6, -8]"))


@honest("")
def two_answers_in_one_cell(notebook: Json) -> Json:
    both = [named(notebook, name)["source"] for name in ("softmax", "twice")]
    named(notebook, "softmax")["source"] = "\n\n".join(both)
    notebook["cells"].remove(named(notebook, "twice"))


@honest("was there 2 times")
def answer_copied_below(notebook: Json) -> Json:
    again = copy.deepcopy(named(notebook, "softmax"))
    named(notebook, "softmax")["source"] = "def softmax(scores):\n    return scores"
    notebook["cells"].insert(place(notebook, "softmax") + 1, again)


@honest("was there 3 times")
def check_copied(notebook: Json) -> Json:
    check = named(notebook, "softmax-check")
    notebook["cells"] += [copy.deepcopy(check), copy.deepcopy(check)]


@honest("was changed")
def check_edited(notebook: Json) -> Json:
    check = named(notebook, "softmax-check")
    check["source"] = "assert True"
    check["metadata"]["nbgrader"] |= {"points": 1000, "locked": False}


@honest("was missing and was put back")
def checks_deleted(notebook: Json) -> Json:
    for name in ("softmax-check", "twice-check"):
        notebook["cells"].remove(named(notebook, name))


@honest("was missing and was put back")
def set_up_deleted(notebook: Json) -> Json:
    for name in ("checker", "setup", "numbers"):
        notebook["cells"].remove(named(notebook, name))


@honest("was changed")
def given_cell_edited(notebook: Json) -> Json:
    named(notebook, "numbers")["source"] = "X = torch.ones(2, 2)\nY = 1"


@honest("")
def sections_swapped(notebook: Json) -> Json:
    cells = notebook["cells"]
    first, second = place(notebook, "softmax") - 1, place(notebook, "twice") - 1
    notebook["cells"] = [
        *cells[:first], *cells[second : second + 3], *cells[first:second],
        *cells[second + 3 :],
    ]  # fmt: skip


@honest("")
def upside_down(notebook: Json) -> Json:
    notebook["cells"].reverse()


@honest("")
def prose_deleted(notebook: Json) -> Json:
    notebook["cells"] = [c for c in notebook["cells"] if c["cell_type"] == "code"]


@honest("")
def other_kernel(notebook: Json) -> Json:
    notebook["metadata"]["kernelspec"] = {"name": "ir", "language": "R"}


@honest("")
def five_hundred_cells(notebook: Json) -> Json:
    more = 500 - len(notebook["cells"])
    notebook["cells"] += [code("", id=f"more-{n}") for n in range(more)]


@honest("")
def ids_that_clash(notebook: Json) -> Json:
    for cell in notebook["cells"]:
        cell["id"] = "the-same"


@honest("raised ValueError")
def scratch_cells_that_fail(notebook: Json) -> Json:
    notebook["cells"].insert(3, code("raise ValueError('a try')"))
    notebook["cells"].insert(3, code("this is no Python"))


@honest("")
def many_outputs(notebook: Json) -> Json:
    text = {"output_type": "stream", "name": "stdout", "text": "x" * 20_000}
    page = {"text/html": "<script>alert(1)</script>" * 500, "text/plain": ["a", 5]}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            shown = {"output_type": "display_data", "data": page, "metadata": {}}
            cell["outputs"] = [text, shown] * 20


# ------------------------------------------------------------- odd, and still graded


@odd()
def format_5(notebook: Json) -> Json:
    notebook["nbformat"] = 5


@odd()
def format_of_words(notebook: Json) -> Json:
    notebook |= {"nbformat": "four", "nbformat_minor": {"a": [1]}, "worksheets": []}


@odd()
def no_format(notebook: Json) -> Json:
    del notebook["nbformat"], notebook["nbformat_minor"]


@odd()
def metadata_of_other_types(notebook: Json) -> Json:
    notebook["metadata"] = ["no", "metadata"]
    for cell, metadata in zip(
        notebook["cells"], (None, 5, [], "x", {"nbgrader": []}), strict=False
    ):
        cell["metadata"] = metadata


@odd()
def ids_of_other_types(notebook: Json) -> Json:
    odd_ids = (5, None, ["x"], {"a": 1}, "x" * 10**6, "\ud800", "", True)
    for cell, name in zip(notebook["cells"], odd_ids * 2, strict=False):
        cell["id"] = name


@odd()
def grade_ids_of_other_types(notebook: Json) -> Json:
    for cell in notebook["cells"]:
        cell["metadata"] = {"nbgrader": {"grade_id": [cell["id"]], "points": "all"}}
        cell["id"] = 5


@odd("blank", "blank")
def answers_emptied(notebook: Json) -> Json:
    for name in ("softmax", "twice", "why"):
        named(notebook, name)["source"] = [" ", "\n"]


@odd("blank", "right", "had no text")
def source_of_other_types(notebook: Json) -> Json:
    named(notebook, "softmax")["source"] = {"text": 5}
    notebook["cells"][0]["source"] = None
    notebook["cells"].append(code(5))


@odd("blank", "right", "had no text")
def source_in_nested_lists(notebook: Json) -> Json:
    cell = named(notebook, "softmax")
    cell["source"] = [[line] for line in cell["source"].splitlines(keepends=True)]


@odd(says="is no cell")
def cells_that_are_none(notebook: Json) -> Json:
    notebook["cells"] += [None, 5, "text", [], [{}], True, {}]


@odd(says="was of no known type")
def cells_of_no_type(notebook: Json) -> Json:
    for kind in ("heading", None, 5, ["code"], "CODE"):
        notebook["cells"].append(code("import os; os._exit(0)", cell_type=kind))


@odd()
def outputs_of_other_types(notebook: Json) -> Json:
    odd_outputs = (None, 5, "x", {"a": 1}, [None], [5], ["x"], [[]], [{}])
    more = [{"output_type": kind} for kind in ("stream", "error", 5, None, [])]
    more += [{"output_type": "error", "traceback": 5}]
    more += [{"output_type": "error", "traceback": [5, None], "ename": [], "evalue": 5}]
    more += [{"output_type": "display_data", "data": data} for data in (5, [], {"": 5})]
    more += [{"output_type": "stream", "name": [], "text": [5, None, "\ud800"]}]
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, shown in zip(cells, odd_outputs, strict=False):
        cell["outputs"] = shown
    cells[-1]["outputs"] = more


@odd()
def nested_metadata(notebook: Json) -> Json:
    deep: Json = {}
    for _ in range(200):
        deep = {"a": [deep]}
    notebook["metadata"] = deep
    notebook["cells"][0]["metadata"] = deep


@odd()
def lone_surrogates(notebook: Json) -> Json:
    cell = named(notebook, "softmax")
    cell["source"] = "# \ud800 \udfff \x00\n" + cell["source"]
    notebook["cells"].append(code("raise ValueError('\ud800')", id="\udfff"))
    named(notebook, "why")["source"] = "because \ud800"


@odd()
def keys_twice(notebook: Json) -> Json:
    text = json.dumps(notebook)
    return ('{"cells": [], "nbformat": 3, ' + text[1:]).encode()


@odd()
def numbers_that_are_none(notebook: Json) -> Json:
    notebook["metadata"]["x"] = [float("nan"), float("inf"), 10**300]
    named(notebook, "softmax")["execution_count"] = float("-inf")


@odd()
def a_large_text(notebook: Json) -> Json:
    """Some editors keep pictures in the text."""
    picture = "![](data:image/png;base64," + "x" * 6_000_000 + ")"
    text = {"cell_type": "markdown", "metadata": {}, "source": picture}
    notebook["cells"].insert(5, text)
    named(notebook, "why")["source"] = picture[:1_000_000]


@odd()
def many_empty_lines(notebook: Json) -> Json:
    """Quadratic for a pattern that begins with white space over lines."""
    for text in ("\n" * MANY + "no python here", "?" * MANY + " x" + " " * MANY + "x"):
        notebook["cells"].append(code(text))
        notebook["cells"] += [code(text[MANY // 2 :]), code(text[MANY - 90_000 :])]


@odd()
def many_statements(notebook: Json) -> Json:
    """Syntax trees of a gigabyte, if they were all made and kept."""
    for number in range(3):
        text = f"if False:\n {number}\n" + " a\n" * 32_000
        notebook["cells"].insert(4, code(text))
    notebook["cells"].insert(4, code("a\n" * 50_001))


@odd()
def deep_expressions(notebook: Json) -> Json:
    """Trees too deep for whoever walks them by calling itself."""
    for text in (
        "-" * 2500 + "1",
        "(" * 150 + ")" * 150,
        "x" + ".a" * 3000,
        "+".join("1" * 3000),
        "lambda: " * 900 + "1",
        "[" * 99 + "]" * 99,
        "\n".join("  " * n + "if 0:" for n in range(95)) + " pass",
    ):
        notebook["cells"].insert(4, code(f"def never():\n    return {text}"))
        notebook["cells"].insert(4, code(text))


@odd("wrong")
def a_deep_answer(notebook: Json) -> Json:
    cell = named(notebook, "softmax")
    cell["source"] += "\nif False:\n    y = " + "-" * 900 + "1"
    cell["source"] = cell["source"].replace("return exp", "return -exp")


@odd("blank", "blank")
def answers_deleted(notebook: Json) -> Json:
    for name in ("softmax", "twice", "why"):
        notebook["cells"].remove(named(notebook, name))


@odd()
def cells_of_another_course(notebook: Json) -> Json:
    foreign = copy.deepcopy(named(notebook, "softmax-check"))
    foreign["metadata"]["nbgrader"]["grade_id"] = "other-course-check"
    foreign["source"] = "check.start('other', 'sofmax')\nraise SystemExit"
    notebook["cells"] += [foreign] * 3


# ------------------------------------------------------------------------- rubbish

_CELL = '{"cell_type": "code", "source": "", "metadata": {}}'
REFUSED |= {
    "empty": (b"", "empty"),
    "white_space": (b" \n\t\x00\x00", "empty"),
    "nothing": (b"null", "not a notebook"),
    "number": (b"5", "not a notebook"),
    "text": (b'"notebook"', "not a notebook"),
    "list": (b"[]", "not a notebook"),
    "object": (b"{}", "not a notebook"),
    "cells_in_an_object": (b'{"cells": {"0": {}}, "nbformat": 4}', "not a notebook"),
    "cells_are_text": (b'{"cells": "code", "nbformat": 4}', "not a notebook"),
    "no_cells": (b'{"cells": [], "nbformat": 4}', "another assignment"),
    "other_cells": (b'{"cells": [5, {}], "nbformat": 4}', "another assignment"),
    "cut_off": (b'{"cells": [{"cell_type": "code", "sou', "no JSON"),
    "two_notebooks": (b'{"cells": []}{"cells": []}', "no JSON"),
    "single_quotes": (b"{'cells': []}", "no JSON"),
    "conflict": (b'<<<<<<< HEAD\n{"cells": []}\n=======\n>>>>>>> b', "no JSON"),
    "web_page": (b"<!DOCTYPE html><html><body>Log in</body></html>", "no JSON"),
    "script": (b"def softmax(scores):\n    return scores\n", "no JSON"),
    "format_3": (b'{"worksheets": [{"cells": []}], "nbformat": 3}', "save it again"),
    "latin_1": ('{"cells": ["\xe9"]}'.encode("latin-1"), "UTF-8"),
    "utf_16": ('{"cells": []}'.encode("utf-16"), "UTF-8"),
    "half_a_letter": (b'{"cells": ["\xf0\x9f"]}', "UTF-8"),
    "encoded_surrogate": (b'{"cells": ["\xed\xa0\x80"]}', "UTF-8"),
    "archive": (gzip.compress(b'{"cells": []}'), "UTF-8"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "UTF-8"),
    "deep": (b"[" * 100_000, "no JSON"),
    "deep_objects": (b'{"a":' * 100_000, "no JSON"),
    "long_number": (b'{"cells": [' + b"9" * 100_000 + b"]}", "no JSON"),
    "too_many_cells": (
        ('{"nbformat": 4, "cells": [' + ",".join([_CELL] * 501) + "]}").encode(),
        "501 cells",
    ),
    "much_code": (
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "'
        + b"a\\n" * 600_000
        + b'"}]}',
        "put data into a file",
    ),
    "too_large": (b" " * (10 * 2**20 + 1), "larger than 10 MB"),
}
