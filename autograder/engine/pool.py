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
    warm = warm_process(job.level, job.gpu, job.master.imports)
    try:
        return grade(job.master, handed, warm, job.experiments)
    except CourseError:
        raise
    except Exception as error:  # of ours: it costs this submission, not the class
        traceback.print_exc()
        return gave_up(job, handed, f"failed on this ({type(error).__name__})")


def warm_process(level: str, gpu: bool, imports: tuple[str, ...]) -> Warm:
    """This worker's own warm process, started when it is needed."""
    key = (level, gpu, imports)
    if getattr(_here, "key", None) != key:
        if hasattr(_here, "warm"):
            _here.warm.stop()
        _here.key = key
        slot = os.getpid() + threading.get_ident() if _slot is None else _slot
        _here.warm = Warm(level, slot % SLOTS, imports, gpu)
        atexit.register(_here.warm.stop)
    warm: Warm = _here.warm
    return warm


@dataclass(frozen=True)
class Hands:
    """Shared by the workers of one pool, from before there is a job.

    jobs  : by worker, where its job will come
    slots : counts the workers, so that each has a number of its own
    work  : by worker, the number of the submission that it took last, or -1
    """

    jobs: list[Any]
    slots: Any
    work: Any


_job: Job | None = None
_hands: Hands | None = None
_slot: int | None = None


def _begin(hands: Hands, gpu: bool) -> None:
    """In a new worker: take a number; an interrupt is the parent's business."""
    global _hands, _slot
    with hands.slots.get_lock():
        _hands, _slot = hands, hands.slots.value
        hands.slots.value += 1
    _stay(_slot, gpu)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _stay(slot: int, gpu: bool) -> None:
    """Keep a worker, and what it starts, on one core.

    Worker, warm process and shell take turns. Where the system spreads them over the
    cores, each fork has to tell all of these that its pages are not to be written: two
    workers are then hardly faster than one. What uses a GPU may need many cores.
    """
    if hasattr(os, "sched_setaffinity") and not gpu:
        mine = sorted(os.sched_getaffinity(0))
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {mine[slot % len(mine)]})


def _end_with_the_parent() -> None:
    """However the parent ends: a worker that waits for work would never notice."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _get_ready(level: str, gpu: bool, imports: tuple[str, ...]) -> None:
    """Have a warm process before there is a job; what is wrong shows with the job."""
    with contextlib.suppress(CourseError):
        warm_process(level, gpu, imports).start()


def _work(number: int, handed: Handed) -> Graded:
    global _job
    assert _hands is not None and _slot is not None
    if _job is None:
        _job = _hands.jobs[_slot].recv()
        gc.freeze()  # what is here now stays: nobody need look through it again
    _hands.work[_slot] = number
    return work(_job, handed)


class Crew:
    """Workers on this machine's cores: a context that ends them.

    They start at once and get warm, which takes seconds; the job comes with `grade`.

    level, gpu, imports : as of the job that will come
    workers             : how many
    """

    def __init__(
        self, level: str, gpu: bool, imports: tuple[str, ...], workers: int
    ) -> None:
        self.ready = (level, gpu, imports)
        self.workers = workers
        self.pipes: list[Any] = []
        self.context = multiprocessing.get_context("spawn")
        self.executor: ProcessPoolExecutor | None = None
        if workers:
            self._hire(workers)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        self._dismiss()

    def _hire(self, workers: int) -> None:
        self.pipes = [self.context.Pipe(duplex=False) for _ in range(workers)]
        self.hands = Hands(
            [reader for reader, _ in self.pipes],
            self.context.Value("i", 0),
            self.context.RawArray("i", [-1] * workers),
        )
        begin = (self.hands, self.ready[1])
        self.executor = ProcessPoolExecutor(workers, self.context, _begin, begin)
        with contextlib.suppress(BrokenProcessPool):
            for _ in range(workers):  # one starts with each
                self.executor.submit(_get_ready, *self.ready)

    def _dismiss(self) -> None:
        if self.executor is not None:
            self.executor.shutdown(wait=True, cancel_futures=True)
        for end in (end for pipe in self.pipes for end in pipe):
            end.close()

    def _give(self, job: Job) -> None:
        """Hand every worker the job; each takes it when it is ready."""

        def give(writer: Any) -> None:
            with contextlib.suppress(OSError):  # that worker has died
                writer.send(job)

        for _, writer in self.pipes:
            threading.Thread(target=give, args=(writer,), daemon=True).start()

    def grade(self, job: Job, handed: Iterable[Handed]) -> Iterator[Graded]:
        """Grade submissions; yields results as they come, in any order.

        When a worker dies, what the workers had in hand is tried again, one at a time:
        what ends its worker TRIES times gets no points, and nobody else pays for it.

        Raises CourseError when workers die again and again with nothing in hand.
        """
        self._give(job)
        todo = dict(enumerate(handed))
        tries = dict.fromkeys([-1, *todo], 0)
        turn = list(todo)
        while todo:
            assert self.executor is not None
            for number, graded in _as_they_come(self.executor, todo, turn):
                del todo[number]
                yield graded
            if any(number in todo for number in turn):
                for number in [n for n in self.hands.work if n in todo] or [-1]:
                    tries[number] += 1
                    if tries[number] < TRIES:
                        continue
                    if number == -1:
                        raise CourseError(
                            "the processes that grade end before they have anything to "
                            "do",
                            "too little memory for so many at once? Try: --jobs 1",
                        )
                    yield gave_up(job, todo.pop(number), "ended while it graded this")
            suspects = [number for number in todo if tries[number]]
            turn = suspects[:1] or list(todo)
            if todo:  # new ones: of those before, some have died
                self._dismiss()
                self._hire(min(self.workers, len(turn)))
                self._give(job)


def on_cores(job: Job, handed: Iterable[Handed], jobs: int) -> Iterator[Graded]:
    """Grade with workers that are there for this job only; see `Crew`."""
    handed = list(handed)
    workers = min(jobs, len(handed))
    with Crew(job.level, job.gpu, job.master.imports, workers) as crew:
        yield from crew.grade(job, handed)


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
