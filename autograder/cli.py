"""The command line: one module a command, one line of help, one example.

Exit codes: 0 the command did its job (a wrong submission is not an error),
1 a failure of ours or of what was checked, 2 unusable arguments.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from .errors import CourseError

#: command -> module with HELP, EXAMPLE, add_arguments(parser) and run(args) -> int
COMMANDS = {
    "build": "authoring.build",
    "verify": "authoring.verify",
    "leaks": "authoring.leaks",
    "release": "authoring.release",
    "simulate": "grading.simulate",
    "grade": "grading.grade",
    "worksheet": "worksheet.command",
    "doctor": "doctor",
}


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser for every command, each with its help and an example.

    only : import just this command's module (the others need not load to run it)
    """
    parser = argparse.ArgumentParser(
        prog="python -m autograder",
        description="Build, check and grade the notebooks of By Hand, at Scale.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module_name in COMMANDS.items():
        if only in COMMANDS and name != only:
            continue
        module = importlib.import_module(f".{module_name}", __package__)
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            epilog=f"example:\n  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    command = argv[0] if argv else None
    try:
        args = make_parser(command).parse_args(argv)
        return int(args.run(args))
    except CourseError as error:
        print(f"autograder {command}: {error}", file=sys.stderr)
        return 2 if error.usage else 1
    except ModuleNotFoundError as error:
        print(
            f"autograder: this Python ({sys.executable}) has no {error.name}\n"
            "  activate the course's environment (.venv), or: "
            "pip install -r requirements.txt; `python -m autograder doctor` says more",
            file=sys.stderr,
        )
        return 1
    except BrokenPipeError:  # the reader of our output has left: `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # no right to write there, no space, a folder in the way
        if not error.filename:
            raise
        print(
            f"autograder {command}: {error.filename}: {error.strerror}\n"
            "  see that it is a file, that it may be written, and that there is space",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130
