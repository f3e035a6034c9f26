"""How fast grading is, against stock nbgrader in the same run: `make bench`.

Simulates a class, grades a sample of it with stock `nbgrader autograde` and
`nbgrader generate_feedback`, and all of it with `python -m autograder grade`, isolation
on; both fill the gradebook and write feedback. Prints a table and writes it as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..paths import course_root
from .grade import cores

COPIED = ("solutions", "exercises", "nbgrader_config.py", "_config.yml")


@dataclass(frozen=True)
class Timed:
    """What a command took: wall clock (s), and the most memory at a time (bytes)."""

    seconds: float
    memory: int


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(prog="python -m autograder.grading.bench")
    parser.description = __doc__
    parser.add_argument("chapter", nargs="?", default="attention")
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--sample", type=int, default=20, help="graded by nbgrader")
    parser.add_argument(
        "--growth", type=int, nargs="*", default=[50, 100, 200, 400], metavar="N"
    )
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON")
    args = parser.parse_args(argv)
    figures: dict[str, Any] = {
        "command": "python -m autograder.grading.bench "
        + " ".join(sys.argv[1:] if argv is None else argv),
        "machine": f"{cores()} cores, {platform.machine()}, {platform.system()}, "
        f"Python {platform.python_version()}",
        "chapter": args.chapter,
    }
    stock = with_nbgrader(args.chapter, args.sample)
    rate = 60 * args.sample / stock.seconds
    figures["nbgrader"] = row(args.sample, stock)
    print(f"stock nbgrader, {args.sample} submissions (a sample): {told(stock, rate)}")
    for students in sorted({*args.growth, args.students}):
        ours, times = with_ours(args.chapter, students, cores())
        mine = 60 * students / ours.seconds
        figures[f"ours, {students}"] = {**row(students, ours), **times}
        print(f"this engine, {students} submissions: {told(ours, mine)}")
        if students == args.students:
            print(f"  ratio to stock nbgrader: {mine / rate:.1f}")
            figures["ratio"] = round(mine / rate, 1)
            print("  " + stages(times, ours.seconds * cores()))
    one, times = with_ours(args.chapter, args.students, 1)
    print(f"one worker, {args.students}: {told(one, 60 * args.students / one.seconds)}")
    figures["one worker"] = {**row(args.students, one), **times}
    if args.output:
        args.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def row(students: int, timed: Timed) -> dict[str, Any]:
    """The figures of a run as JSON."""
    return {
        "students": students,
        "seconds": round(timed.seconds, 1),
        "per minute": round(60 * students / timed.seconds, 1),
        "memory MiB": timed.memory // 2**20,
    }


def told(timed: Timed, rate: float) -> str:
    """A run in words."""
    return (
        f"{timed.seconds:.1f} s, {rate:.1f} a minute, "
        f"{timed.memory / 2**20:.0f} MiB at most"
    )


def stages(times: dict[str, float], cpu: float) -> str:
    """Where the time went, and how far it is from the cells' own."""
    parts = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items())
    return f"{parts}; cores times wall clock, over the cells' own CPU: " + (
        f"{cpu / times['cells']:.2f}"
    )


def with_nbgrader(chapter: str, students: int) -> Timed:
    """Stock nbgrader's time for a class."""
    with course(chapter, students) as root:
        tool = str(Path(sys.executable).with_name("nbgrader"))
        quiet([tool, "generate_assignment", chapter, "--force"], root)
        first = quiet([tool, "autograde", chapter, "--force"], root)
        second = quiet([tool, "generate_feedback", chapter, "--force"], root)
        return Timed(first.seconds + second.seconds, max(first.memory, second.memory))


def with_ours(chapter: str, students: int, jobs: int) -> tuple[Timed, dict[str, float]]:
    """This engine's time for a class, and the time of its stages."""
    with course(chapter, students) as root:
        times = root / "times.json"
        command = [sys.executable, "-m", "autograder", "grade", chapter]
        options = ["--jobs", str(jobs), "--seed", "1", "--times", str(times)]
        timed = quiet([*command, *options], root)
        return timed, json.loads(times.read_text(encoding="utf-8"))


class course:  # noqa: N801
    """A copy of the course with a simulated class, for the time of a block."""

    def __init__(self, chapter: str, students: int) -> None:
        self.chapter, self.students = chapter, students
        self.folder = tempfile.TemporaryDirectory(prefix="by-hand-bench-")

    def __enter__(self) -> Path:
        root = Path(self.folder.name)
        for name in COPIED:
            source, target = course_root() / name, root / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        command = [sys.executable, "-m", "autograder", "simulate", self.chapter]
        quiet([*command, "--students", str(self.students)], root)
        return root

    def __exit__(self, *error: object) -> None:
        self.folder.cleanup()


def quiet(command: list[str], root: Path) -> Timed:
    """Run a command in a course; its output is shown only when it fails."""
    here = str(Path(__file__).parents[2])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "AUTOGRADER_COURSE": str(root), "PATH": path}
    env["PYTHONPATH"] = here
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=root, env=env, stdout=said, stderr=said)
        watch = Watch(process.pid)
        code = process.wait()
        seconds = time.monotonic() - began
        if code:
            said.seek(0)
            sys.stdout.write(said.read().decode("utf-8", "replace")[-3000:])
            raise SystemExit(f"{' '.join(command)} ended with exit code {code}")
    return Timed(seconds, watch.stop())


class Watch:
    """The most memory that a process and all its descendants hold together.

    Pages that several of them share are counted once, in parts (PSS).
    """

    def __init__(self, pid: int) -> None:
        self.pid, self.most = pid, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        import psutil

        while not self.over.wait(1.0):
            total = 0
            try:
                root = psutil.Process(self.pid)
                family = [root, *root.children(recursive=True)]
            except psutil.Error:
                continue
            for process in family:
                try:
                    total += process.memory_full_info().pss
                except (psutil.Error, AttributeError):
                    continue
            self.most = max(self.most, total)

    def stop(self) -> int:
        """End the watch; bytes."""
        self.over.set()
        self.thread.join()
        return self.most


if __name__ == "__main__":
    sys.exit(main())
