"""The benchmark runs, and its figures are there."""

from __future__ import annotations

import json

import pytest

from autograder.grading import bench


@pytest.mark.slow
def test_the_benchmark_of_a_tiny_class(tiny_course, tmp_path, capsys):
    output = tmp_path / "figures.json"
    options = ["--students", "2", "--sample", "1", "--growth", "-o", str(output)]
    assert bench.main(["attention", *options]) == 0
    figures = json.loads(output.read_text())
    assert figures["ratio"] > 0
    assert figures["nbgrader"]["students"] == 1
    for run in ("ours, 2", "one worker"):
        assert figures[run]["students"] == 2
        assert figures[run]["cells"] > 0
        assert figures[run]["memory MiB"] >= 0
    out = capsys.readouterr().out
    assert "stock nbgrader, 1 submissions (a sample)" in out
    assert "ratio to stock nbgrader" in out


def test_a_command_that_fails_is_said(tiny_course, capsys):
    with pytest.raises(SystemExit, match="exit code 3"):
        bench.quiet(["sh", "-c", "echo why; exit 3"], tiny_course)
    assert "why" in capsys.readouterr().out
