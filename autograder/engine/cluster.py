"""Grade on a Dask cluster: its workers do what the workers of `pool` do here.

Every worker, one that joins later too, is given the job once; what travels then is a
submission and its result. A worker that dies costs nothing but time.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from distributed import Client, KilledWorker, Worker, WorkerPlugin, as_completed
from distributed.comm.core import CommClosedError

from ..errors import CourseError
from .graded import Graded, Handed
from .pool import TRIES, Job, gave_up, work

#: how long a scheduler may take to answer
ANSWER = "10s"

_jobs: dict[str, Job] = {}


class Gives(WorkerPlugin):  # type: ignore[misc]
    """Gives a job to every worker."""

    def __init__(self, name: str, job: Job) -> None:
        self.name, self.job = name, job

    def setup(self, worker: Worker) -> None:
        """In a worker, before it takes work."""
        _jobs[self.name] = self.job

    def teardown(self, worker: Worker) -> None:
        """In a worker, when the run is over."""
        _jobs.pop(self.name, None)


def _work(name: str, handed: Handed) -> Graded:
    return work(_jobs[name], handed)


def on_cluster(job: Job, handed: Iterable[Handed], address: str) -> Iterator[Graded]:
    """Grade on the cluster whose scheduler is at `address`; results as they come.

    Raises CourseError when there is no scheduler, or it has no workers that can do
    this, or it goes away.
    """
    try:
        client: Any = Client(address, timeout=ANSWER)
    except (OSError, ValueError) as error:
        raise CourseError(
            f"no Dask scheduler answers at {address}: {error}",
            "start one: dask scheduler, and workers: dask worker ADDRESS --nthreads 1",
            usage=True,
        ) from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise CourseError(
                f"the scheduler at {address} has no workers",
                f"start some: dask worker {address} --nthreads 1",
            )
        name = f"grade-{secrets.token_hex(8)}"
        try:
            client.register_plugin(Gives(name, job))
        except ImportError as error:
            raise CourseError(
                f"the workers at {address} can't grade: {error}",
                "they need this course's package and its requirements",
            ) from None
        try:
            yield from _results(client, name, job, handed)
        finally:
            with contextlib.suppress(Exception):  # of a cluster that has gone
                client.unregister_worker_plugin(name)


def _results(
    client: Any, name: str, job: Job, handed: Iterable[Handed]
) -> Iterator[Graded]:
    futures = {
        client.submit(_work, name, each, pure=False, retries=TRIES): each
        for each in handed
    }
    for future in as_completed(futures):
        try:
            yield future.result()
        except KilledWorker:
            yield gave_up(job, futures[future], "ended while it graded this")
        except (CancelledError, CommClosedError):
            raise CourseError(
                "the cluster has gone", "start it and grade again: it goes on from here"
            ) from None
        future.release()
