"""nbval with our sanitising file: what may vary passes, what may not fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

SANITIZE = Path(__file__).parents[1] / "sanitize.cfg"

CASES = {
    "equal": ("print(1 + 1)", "2\n", True),
    "another value": ("print(1 + 1)", "3\n", False),
    "an address": ("print(object())", "<object object at 0x7f00deadbeef>\n", True),
    "a time": ("print('took 1.25 ms')", "took 9 ms\n", True),
    "another unit": ("print('took 1.25 m')", "took 9 m\n", False),
    "last digits": ("print(0.123456789)", "0.123456711\n", True),
    "fifth digit": ("print(0.123456789)", "0.123556789\n", False),
}


def test_only_what_must_vary_may_vary(tmp_path: Path) -> None:
    cells = [
        new_code_cell(
            code,
            execution_count=number,
            outputs=[new_output("stream", name="stdout", text=text)],
        )
        for number, (code, text, _) in enumerate(CASES.values(), 1)
    ]
    path = tmp_path / "cases.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    options = ["--nbval", "--nbval-current-env", f"--nbval-sanitize-with={SANITIZE}"]
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    verdicts = [line for line in done.stdout.splitlines() if "::Cell " in line]
    for number, (name, (_, _, same)) in enumerate(CASES.items()):
        line = next((x for x in verdicts if f"Cell {number} " in x), "")
        if not line:
            pytest.fail(done.stdout)
        assert ("PASSED" in line) is same, f"{name}: {line}\n{done.stdout}"
