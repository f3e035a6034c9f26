"""Grading on a Dask cluster: a real one, of a scheduler and two workers."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from autograder.cli import main
from autograder.engine import cluster as clusters
from autograder.engine import pool
from autograder.errors import CourseError
from autograder.tests import state
from autograder.tests.conftest import ROOT
from autograder.tests.test_pool import runs_submissions, until


@dataclass
class Cluster:
    """A cluster's address, its scheduler, and what keeps its workers alive."""

    address: str
    scheduler: subprocess.Popen
    keepers: list[subprocess.Popen]

    def workers(self) -> Iterator[psutil.Process]:
        """The workers themselves: a keeper starts one anew that ends."""
        for keeper in self.keepers:
            with contextlib.suppress(psutil.Error):
                yield from psutil.Process(keeper.pid).children()


def address_in(where: Path) -> str:
    """The address in a scheduler's file; empty while it is not written."""
    try:
        return json.loads(where.read_text())["address"]
    except (OSError, ValueError):
        return ""


@contextlib.contextmanager
def started(folder: Path, workers: int) -> Iterator[Cluster]:
    """A cluster on this machine, for the time of a block."""
    where = folder / "scheduler.json"
    common = ("--scheduler-file", str(where), "--no-dashboard")
    lines = [("scheduler", *common, "--host", "127.0.0.1", "--port", "0")]
    lines += [("worker", *common, "--nthreads", "1")] * workers
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("AUTOGRADER_COURSE", None)
    processes = []
    try:
        with (folder / "log").open("w") as log:
            for line in lines:
                command = [sys.executable, "-m", "dask", *line]
                process = subprocess.Popen(
                    command, cwd=folder, env=env, stdout=log, stderr=log
                )
                processes.append(process)
                until(lambda: address_in(where), process)
        until(lambda: (folder / "log").read_text().count("Registered to") >= workers)
        yield Cluster(address_in(where), processes[0], processes[1:])
    finally:
        for process in reversed(processes):
            family = [*psutil.Process(process.pid).children(recursive=True), process]
            process.terminate()
            process.wait()
            for left in family:
                with contextlib.suppress(psutil.Error):
                    left.kill()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    with started(tmp_path_factory.mktemp("cluster"), 2) as made:
        yield made


def grade(cluster: Cluster) -> int:
    options = ("--seed", "7", "--scheduler", cluster.address)
    return main(["grade", "attention", *options])


def test_a_cluster_gives_the_same_results(cluster, undisturbed, classroom):
    assert grade(cluster) == 0
    assert state.differing(undisturbed, state.graded(classroom)) == {}
    assert sum(map(runs_submissions, cluster.workers())) == 2


def test_one_of_two_workers_is_killed(cluster, undisturbed, classroom, monkeypatch):
    """When the first result is in: both workers have something in hand then."""
    killed: list[psutil.Process] = []
    results = clusters._results

    def first_then_kill(*args):
        for number, graded in enumerate(results(*args)):
            if number == 0:
                worker = next(filter(runs_submissions, cluster.workers()))
                worker.kill()
                killed.append(worker)
            yield graded

    monkeypatch.setattr(clusters, "_results", first_then_kill)
    assert grade(cluster) == 0
    assert not killed[0].is_running()
    assert state.differing(undisturbed, state.graded(classroom)) == {}


def test_a_cluster_that_goes_away_is_a_clear_error(
    classroom, tmp_path, monkeypatch, capsys
):
    """And what was graded until then is kept."""
    results = clusters._results

    def first_then_end(*args):
        for number, graded in enumerate(results(*args)):
            yield graded
            if number == 0:
                small.scheduler.kill()

    monkeypatch.setattr(clusters, "_results", first_then_end)
    with started(tmp_path, 1) as small:
        assert grade(small) == 1
    assert "the cluster has gone" in capsys.readouterr().err
    assert state.results(classroom)


def refused(address: str) -> CourseError:
    with pytest.raises(CourseError) as caught:
        list(pool.on_cluster(None, [], address))
    return caught.value


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://here", "x:y"])
def test_no_scheduler_there(monkeypatch, address):
    monkeypatch.setattr(clusters, "ANSWER", "1s")
    error = refused(address)
    assert f"no Dask scheduler answers at {address}" in error.message
    assert "dask scheduler" in error.mend
    assert error.usage


def test_a_scheduler_without_workers(tmp_path):
    with started(tmp_path, 0) as lonely:
        error = refused(lonely.address)
    assert "has no workers" in error.message
    assert f"dask worker {lonely.address}" in error.mend


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "autograder.engine.cluster")
    monkeypatch.delattr("autograder.engine.cluster")
    error = refused("tcp://127.0.0.1:9")
    assert "needs the package distributed" in error.message
    assert "pip install 'distributed" in error.mend
    assert error.usage
