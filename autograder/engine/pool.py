"""Grade many submissions at once: on this machine's cores, or on a Dask cluster.

Each worker is a process that keeps one warm process of its own. Workers hold expected
values and never run a student's line; a worker that dies costs nothing but time, and
workers end by themselves when the grader does.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import multiprocessing
import os
import signal
import threading
import traceback
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
    try:
        return grade(job.master, handed, _here.warm, job.experiments)
    except CourseError:
        raise
    except Exception as error:  # of ours: it costs this submission, not the class
        traceback.print_exc()
        return gave_up(job, handed, f"failed on this ({type(error).__name__})")


@dataclass
class Hands:
    """Shared by the workers of one pool: who took what.

    slots : counts the workers, so that each has a number of its own
    work  : by worker, the number of the submission that it took last, or -1
    """

    slots: Any
    work: Any


_job: Job | None = None
_hands: Hands | None = None
_slot: int | None = None


def _begin(job: Job, hands: Hands) -> None:
    """In a new worker: keep the job; an interrupt is the parent's business."""
    global _job, _hands, _slot
    with hands.slots.get_lock():
        _job, _hands, _slot = job, hands, hands.slots.value
        hands.slots.value += 1
    gc.freeze()  # what is here now stays: nobody need look through it again
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    """However the parent ends: a worker that waits for work would never notice."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(number: int, handed: Handed) -> Graded:
    assert _job is not None and _hands is not None
    _hands.work[_slot] = number
    return work(_job, handed)


def on_cores(job: Job, handed: Iterable[Handed], jobs: int) -> Iterator[Graded]:
    """Grade on this machine's cores; yields results as they come, in any order.

    When a worker dies, what the workers had in hand is tried again, one at a time:
    what ends its worker TRIES times gets no points, and nobody else pays for it.

    Raises CourseError when workers die again and again with nothing in hand.
    """
    todo = dict(enumerate(handed))
    tries = dict.fromkeys([-1, *todo], 0)
    context = multiprocessing.get_context("spawn")
    while todo:
        suspects = [number for number in todo if tries[number]]
        turn = suspects[:1] or list(todo)
        workers = min(jobs, len(turn))
        hands = Hands(context.Value("i", 0), context.RawArray("i", [-1] * workers))
        executor = ProcessPoolExecutor(workers, context, _begin, (job, hands))
        try:
            for number, graded in _as_they_come(executor, todo, turn):
                del todo[number]
                yield graded
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
        if not any(number in todo for number in turn):
            continue
        for number in [n for n in hands.work if n in todo] or [-1]:
            tries[number] += 1
            if tries[number] < TRIES:
                continue
            if number == -1:
                raise CourseError(
                    "the processes that grade end before they have anything to do",
                    "too little memory for so many at once? Try: --jobs 1",
                )
            yield gave_up(job, todo.pop(number), "ended while it graded this")


def _as_they_come(
    executor: ProcessPoolExecutor, todo: dict[int, Handed], turn: list[int]
) -> Iterator[tuple[int, Graded]]:
    """Results until there are no more, or the pool breaks."""
    futures: dict[Future[Graded], int] = {}
    with contextlib.suppress(BrokenProcessPool):
        for number in turn:
            futures[executor.submit(_work, number, todo[number])] = number
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                graded = future.result()
            except BrokenProcessPool:
                continue
            yield futures[future], graded


def gave_up(job: Job, handed: Handed, what: str) -> Graded:
    """The result of a submission that the grader can't grade; `what` it did."""
    reason = f"the grader itself {what}: tell your instructor"
    verdicts = judge.nothing(job.master.expected, "crash", reason)
    return Graded(_result(job.master, handed, verdicts, [], job.level))


def on_cluster(job: Job, handed: Iterable[Handed], address: str) -> Iterator[Graded]:
    """Grade on a Dask cluster, whose workers have this package installed.

    Raises CourseError when there is no cluster at the address, or no package for it.
    """
    try:
        from . import cluster
    except ImportError:
        raise CourseError(
            "--scheduler needs the package distributed",
            "python -m pip install 'distributed>=2024.4'",
            usage=True,
        ) from None
    return cluster.on_cluster(job, handed, address)
