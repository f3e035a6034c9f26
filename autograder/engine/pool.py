"""Grade many submissions at once: on this machine's cores, or on a Dask cluster.

Each worker is a process that keeps one warm process of its own. Workers hold expected
values and never run a student's line; a worker that dies costs nothing but time.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from ..errors import CourseError
from . import judge
from .graded import Graded, Handed, _result, grade
from .master import Master
from .warm import Warm

#: how often a submission is tried whose worker dies
TRIES = 3
#: how many workers of one machine have a user of their own to run submissions as
SLOTS = 100

_here = threading.local()


@dataclass(frozen=True)
class Job:
    """What every worker needs to know: the assignment, and how to run it."""

    master: Master
    level: str
    gpu: bool = False
    experiments: bool = False


def work(job: Job, handed: Handed) -> Graded:
    """Grade one submission in this process, with a warm process that stays."""
    key = (job.level, job.gpu, job.master.imports)
    if getattr(_here, "key", None) != key:
        if hasattr(_here, "warm"):
            _here.warm.stop()
        _here.key = key
        slot = os.getpid() + threading.get_ident() if _slot is None else _slot
        _here.warm = Warm(job.level, slot % SLOTS, job.master.imports, job.gpu)
        atexit.register(_here.warm.stop)
    return grade(job.master, handed, _here.warm, job.experiments)


_job: Job | None = None
_slot: int | None = None


def _begin(job: Job, slots: Any) -> None:
    """In a new worker: keep the job; an interrupt is the parent's business.

    slots : counts the workers of a pool, so that each has a number of its own
    """
    global _job, _slot
    with slots.get_lock():
        _job, _slot = job, slots.value
        slots.value += 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(handed: Handed) -> Graded:
    assert _job is not None
    return work(_job, handed)


def on_cores(job: Job, handed: Iterable[Handed], jobs: int) -> Iterator[Graded]:
    """Grade on this machine's cores; yields results as they come, in any order."""
    todo = list(handed)
    tries = {each.student: 0 for each in todo}
    context = multiprocessing.get_context("spawn")
    while todo:
        executor = ProcessPoolExecutor(
            min(jobs, len(todo)),
            context,
            initializer=_begin,
            initargs=(job, context.Value("i", 0)),
        )
        try:
            futures = {executor.submit(_work, each): each for each in todo}
            for each, graded in _as_they_come(futures):
                todo.remove(each)
                yield graded
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
        for each in list(todo):  # what was under way when a worker died
            tries[each.student] += 1
            if tries[each.student] >= TRIES:
                todo.remove(each)
                yield gave_up(job, each)


def _as_they_come(
    futures: dict[Future[Graded], Handed],
) -> Iterator[tuple[Handed, Graded]]:
    """Results until there are no more, or the pool breaks."""
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                graded = future.result()
            except BrokenProcessPool:
                continue
            yield futures[future], graded


def gave_up(job: Job, handed: Handed) -> Graded:
    """The result of a submission whose workers died again and again."""
    reason = "the grader itself ended while it graded this, more than once"
    verdicts = judge.nothing(job.master.expected, "crash", reason)
    return Graded(_result(job.master, handed, verdicts, [], job.level))


def on_cluster(job: Job, handed: Iterable[Handed], address: str) -> Iterator[Graded]:
    """Grade on a Dask cluster, whose workers have this package installed.

    Raises CourseError when there is no cluster at the address.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise CourseError(
            "--scheduler needs the package distributed",
            "python -m pip install 'distributed>=2024.4'",
            usage=True,
        ) from None
    try:
        client: Any = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise CourseError(
            f"no Dask scheduler answers at {address}: {error}",
            "start one: dask scheduler, and workers: dask worker ADDRESS --nthreads 1",
            usage=True,
        ) from None
    with client:
        sent = client.scatter(job, broadcast=True)
        futures = {
            client.submit(work, sent, each, pure=False, retries=TRIES): each
            for each in handed
        }
        for future in as_completed(futures):
            if future.status == "finished":
                yield future.result()
            elif isinstance(failed := future.exception(), CourseError):
                raise failed
            else:
                yield gave_up(job, futures[future])
            future.release()
