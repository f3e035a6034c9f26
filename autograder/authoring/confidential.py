"""What a release must never say: read from a chapter's sources.

Answers, hidden tests, mark schemes, hidden labels and values, and the code of the
right and wrong answers, as short texts without white space. What the release says
anyway (prompts, given code, stubs, visible checks) is taken off the list.

This reads the sources by itself, on purpose: a mistake in the build's reader must
not blind the scanner.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext

from ..paths import course_root, source_file
from .source import by_hand

#: a text shorter than this (without white space) is too common to be a secret
SHORTEST = 12
#: the same for the label of a hidden case, which is a title and not a line of code
SHORTEST_LABEL = 8

_REGION = re.compile(
    r"^[^\n]*BEGIN (?P<kind>SOLUTION|HIDDEN TESTS|MARK SCHEME)[^\n]*\n"
    r"(?P<body>.*?)"
    r"^[^\n]*END (?P=kind)[^\n]*$",
    re.DOTALL | re.MULTILINE,
)


def squeeze(text: str) -> str:
    """The text without white space, so that layout hides nothing."""
    return re.sub(r"\s+", "", text)


def telling(number: float) -> bool:
    """Whether a number is told from others: five significant digits or more.

    A half of a half of a half (1/64 = 0.015625) has them too, and tells nothing.
    """
    if number != number or abs(number) == float("inf"):
        return False
    digits = f"{abs(number):.9g}".split("e")[0].replace(".", "").strip("0")
    halves = abs(number) < 1 and number * 1024 == int(number * 1024)
    return len(digits) >= 5 and not halves


@dataclass
class Confidential:
    """A chapter's secrets.

    texts   : squeezed text -> whose it is ("the answer 'softmax'")
    numbers : what hidden cases expect, each as 7 significant digits
    """

    texts: dict[str, str] = field(default_factory=dict)
    numbers: set[str] = field(default_factory=set)

    def add(self, text: str, whose: str, shortest: int = SHORTEST) -> None:
        """Keep every line of a text that is long enough to be told."""
        for line in text.splitlines():
            squeezed = squeeze(line.strip().lstrip("#"))
            if len(squeezed) >= shortest:
                self.texts.setdefault(squeezed, whose)

    def add_number(self, number: float) -> None:
        """Keep a number that is told from others."""
        if telling(number):
            self.numbers.add(f"{number:.7g}")


def confidential(chapter: str, root: Path | None = None) -> Confidential:
    """The secrets of a chapter, less what its release says anyway."""
    root = root or course_root()
    source = source_file(chapter, root)
    secrets, open_text = _from_source(source, root)
    _add_samples(secrets, source.with_name("misconceptions.py"))
    visible = _json(source.with_name(f"{chapter}.expected.json"))
    hidden = _json(source.with_name(f"{chapter}.hidden.json"))
    for leaf in leaves(hidden):
        if isinstance(leaf, str):
            secrets.add(leaf, "a hidden case", shortest=16)
        elif isinstance(leaf, float):
            secrets.add_number(leaf)

    said = squeeze(open_text)
    shown = [squeeze(leaf) for leaf in leaves(visible) if isinstance(leaf, str)]
    for text in list(secrets.texts):
        if text in said or any(text in other for other in shown):
            del secrets.texts[text]
    for leaf in leaves(visible):
        if isinstance(leaf, float):
            secrets.numbers.discard(f"{leaf:.7g}")
    return secrets


def _from_source(source: Path, root: Path) -> tuple[Confidential, str]:
    """The secrets of `<chapter>.py`, and all the text that is released from it."""
    secrets, released = Confidential(), []
    for cell in jupytext.read(source, fmt="py:percent").cells:
        role, name = cell.metadata.get("role"), cell.metadata.get("id", "?")
        if role == "written":
            secrets.add(cell.source, f"the model answer or mark scheme of {name!r}")
            continue
        for region in _REGION.finditer(cell.source):
            if region["kind"] == "HIDDEN TESTS":
                whose = f"a hidden test of {name!r}"
                for label in _labels(region["body"]):
                    secrets.add(label, whose, SHORTEST_LABEL)
            else:
                whose = f"the answer {name!r}"
            secrets.add(region["body"], whose)
        if "fill" in cell.metadata:  # the build writes this answer from the worksheet
            text = "\n".join(by_hand(source.parent.name, cell.metadata["fill"], root))
            solved = _REGION.search(text)
            secrets.add(solved["body"] if solved else text, f"the answer {name!r}")
        released.append(_REGION.sub("", cell.source))
    return secrets, "\n".join(released)


def _labels(code: str) -> Iterator[str]:
    """The labels of the checks in a piece of code."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and node.args:
            label = node.args[0]
            if isinstance(label, ast.Constant) and isinstance(label.value, str):
                yield label.value


def _add_samples(secrets: Confidential, path: Path) -> None:
    """Add the code of right and wrong answers and the written samples.

    Hints and the names of wrong answers are no secret: the check tells them.
    """
    if not path.is_file():
        return
    code = path.read_text(encoding="utf-8")
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            whose = f"the sample answer {node.name!r}"
            for statement in node.body:
                secrets.add(ast.get_source_segment(code, statement) or "", whose)
        elif isinstance(node, ast.Assign):
            for leaf in ast.walk(node):
                if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str):
                    secrets.add(leaf.value, "a sample of a written answer")


def _json(path: Path) -> Any:
    """A JSON file's content, None where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def leaves(value: Any) -> Iterator[Any]:
    """Every text and number in a JSON value, keys included.

    A list of texts is also read as one text: notebooks keep their lines so.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from leaves(item)
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value)
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield value
