"""How long a call takes and how much memory it needs: for recorded experiments.

What counts as the memory of a call is the most that is in use at one moment, beyond
what was in use before it. Two books are kept of it:

- The allocator's (`peak_bytes`). A GPU's allocator keeps the number itself. On a CPU
  torch's allocator tells the profiler of every allocation and release, and their
  running sum has a highest point: the same quantity, exact and repeatable.
- The operating system's (`resident_peak`), as a witness: a library may take memory
  that torch does not know of. It is how far the resident set rose. This high-water
  mark belongs to a whole process, so one measurement per process is the rule, and it
  moves in pages and by the C library's habits: rough below some megabytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = Callable[[], Any]


def seconds(
    call: Call,
    device: str = "cpu",
    *,
    least: int = 3,
    most: int = 7,
    patience: float = 4.0,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Durations of repeated calls, after one that is not counted.

    At least `least` and at most `most` of them; between these, no new one is begun
    when `patience` seconds have been spent. On a GPU each waits for the device.
    `clock=time.process_time` counts this process's own processor seconds: with one
    thread that is the duration, undisturbed by what else the machine is doing.
    """
    import torch

    on_gpu = device.startswith("cuda")
    call()
    taken: list[float] = []
    while len(taken) < least or (len(taken) < most and sum(taken) < patience):
        if on_gpu:
            torch.cuda.synchronize()
        start = clock()
        call()
        if on_gpu:
            torch.cuda.synchronize()
        taken.append(clock() - start)
    return taken


def peak_bytes(call: Call, device: str = "cpu") -> int:
    """The allocator's highest point during the call, above its level before."""
    return _peak_cuda(call) if device.startswith("cuda") else _peak_cpu(call)


def _peak_cuda(call: Call) -> int:
    import torch

    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)


def _peak_cpu(call: Call) -> int:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        kept = call()  # a result dropped at once would count as released
    del kept
    events = prof.profiler.kineto_results.events()
    steps = [e for e in events if e.name() == "[memory]"]
    now = peak = 0
    for step in sorted(steps, key=lambda e: e.start_ns()):
        now += step.nbytes()
        peak = max(peak, now)
    return peak


def resident_peak(call: Call) -> int | None:
    """How far this process's resident set rose during the call.

    Linux only, None elsewhere: the mark is cleared just before the call. (The mark
    of `getrusage` cannot be cleared, and on Linux a new process inherits it.)
    """
    status = Path("/proc/self/status")

    def level(field: str) -> int:
        line = next(s for s in status.read_text().splitlines() if s.startswith(field))
        return int(line.split()[1]) * 1024

    try:
        Path("/proc/self/clear_refs").write_text("5")
        before = level("VmRSS")
    except (OSError, StopIteration):
        return None
    call()
    return level("VmHWM") - before
