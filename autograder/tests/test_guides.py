"""The guides name only commands, options, files and targets that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from autograder.authoring.source import read
from autograder.cli import make_parser

ROOT = Path(__file__).parents[2]
GUIDES = ("start", "instructors", "add-a-chapter", "errata")
#: first parts of paths that belong to the repository (class/ and .venv/ do not)
OURS = {"autograder", "book", "solutions", "exercises", "scripts", ".ci"}

FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>.*)$")
SHELL = {"bash", "console", "powershell"}


def text_of(guide: str) -> str:
    return (ROOT / "book" / f"{guide}.md").read_text(encoding="utf-8")


def shell_lines(text: str) -> list[str]:
    """The lines inside shell fences, continued lines joined, comments left out."""
    lines: list[str] = []
    closing = None
    for line in text.splitlines():
        fence = FENCE.match(line.strip())
        if closing is None:
            if fence and fence["info"].strip() in SHELL:
                closing = fence["ticks"]
        elif line.strip() == closing:
            closing = None
        else:
            lines.append(line.strip())
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    return [line for line in joined if line and not line.startswith("#")]


def commands(text: str) -> list[list[str]]:
    """The simple commands of the shell lines, as words."""
    found = []
    for line in shell_lines(text):
        for part in re.split(r"\s*(?:&&|\|\||[|;])\s*|^\$ |\bdo\b|>{1,2}", line):
            words = shlex.split(part, comments=True)
            if words:
                found.append(words)
    return found


def named(program: list[str], text: str) -> list[list[str]]:
    """The arguments of every call of `program`, in fences and in inline code."""
    inline = [shlex.split(span) for span in inline_code(text) if span.count("'") != 1]
    size = len(program)
    both = commands(text) + inline
    return [w[size:] for w in both if w[:size] == program and len(w) > size]


def inline_code(text: str) -> list[str]:
    """The contents of the code spans, fenced blocks left out."""
    prose = re.sub(r"(?ms)^(`{3,})[^\n`]*\n.*?^\1\s*$", "", text)
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose)


# --- what the helpers above find -------------------------------------------------

SAMPLE = """
Run `python -m autograder build --check`, then `make course`.

`````{tab-set}
````{tab-item} Linux
```bash
cd course && python -m autograder verify  # proves it
for s in ada bo; do nbgrader autograde attention \\
    --force; done
```
````
`````

```python
nbgrader = "not a command"
```
"""


def test_the_sample_s_commands_are_found():
    assert named(["python", "-m", "autograder"], SAMPLE) == [
        ["verify"],
        ["build", "--check"],
    ]
    assert named(["nbgrader"], SAMPLE) == [["autograde", "attention", "--force"]]
    assert named(["make"], SAMPLE) == [["course"]]


# --- the guides ------------------------------------------------------------------


@pytest.mark.parametrize("guide", GUIDES)
def test_every_autograder_command_parses(guide, capsys):
    parser = make_parser()
    for arguments in named(["python", "-m", "autograder"], text_of(guide)):
        try:
            parser.parse_args(arguments)
        except SystemExit as stop:
            message = capsys.readouterr().err
            assert stop.code == 0, f"{guide}: autograder {arguments}: {message}"


@pytest.mark.parametrize("guide", GUIDES)
def test_every_nbgrader_command_exists(guide):
    from nbgrader.apps import NbGraderApp

    known = NbGraderApp().subcommands
    for subcommand, *arguments in named(["nbgrader"], text_of(guide)):
        assert subcommand in known, f"{guide}: nbgrader {subcommand}"
        app = known[subcommand][0]
        app = app if isinstance(app, type) else None
        assert app is not None
        options = set(app().flags) | set(app().aliases)
        names = {n for o in options for n in (o if isinstance(o, tuple) else (o,))}
        for argument in arguments:
            if not argument.startswith("-"):
                continue
            name = argument.lstrip("-").partition("=")[0]
            owner, _, trait = name.partition(".")
            if trait:
                classes = {c.__name__: c for c in app().classes} | {app.__name__: app}
                assert owner in classes, f"{guide}: nbgrader {subcommand} {argument}"
                assert trait in classes[owner].class_trait_names(), argument
            else:
                assert name in names | {"help", "help-all"}, (
                    f"{guide}: nbgrader {subcommand} {argument}"
                )


@pytest.mark.parametrize("guide", GUIDES)
def test_every_make_target_exists(guide):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?m)^([a-z][\w-]*):", makefile))
    for arguments in named(["make"], text_of(guide)):
        assert {a for a in arguments if "=" not in a} <= targets, arguments


@pytest.mark.parametrize("guide", GUIDES)
def test_every_file_exists(guide):
    for span in inline_code(text_of(guide)):
        path = span.rstrip("/")
        if not re.fullmatch(r"[\w.-]+(/[\w.-]+)*", path):
            continue
        first = path.partition("/")[0]
        if "/" in path and first in OURS:
            assert (ROOT / path).exists(), f"{guide}: {path}"


@pytest.mark.parametrize("guide", GUIDES)
def test_every_included_file_exists(guide):
    for path in re.findall(r"\{literalinclude\} (\S+)", text_of(guide)):
        assert (ROOT / "book" / path).is_file(), f"{guide}: {path}"


@pytest.mark.parametrize("guide", GUIDES)
def test_the_address_comes_from_the_configuration(guide):
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    url = re.search(r"(?m)^repository:\n  url: (\S+)", config)[1]
    assert url not in text_of(guide), "write {{ repository_url }}"


def test_the_verdicts_in_the_student_s_guide_are_those_of_the_exercise():
    (check,) = [c for c in read("attention", ROOT).cells if c.id == "scores-check"]
    page = {line.strip() for line in text_of("start").splitlines()}
    assert set(check.text.splitlines()) <= page
