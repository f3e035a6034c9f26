# Tries to raise its limits, its priority and its right to memory: they only go down.
# cell: added
import os
import resource

done = []
for name in ("AS", "NPROC", "FSIZE", "NOFILE", "CPU", "CORE"):
    number = getattr(resource, f"RLIMIT_{name}")
    soft, hard = resource.getrlimit(number)
    for value in (resource.RLIM_INFINITY, 2**50):
        try:
            resource.setrlimit(number, (value, value))
            if resource.getrlimit(number)[0] > max(hard, 1):
                done.append(name)
        except (OSError, ValueError):
            pass
for attempt in (
    lambda: os.nice(-5),
    lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    lambda: open("/proc/self/oom_score_adj", "w").write("-1000"),
    lambda: open("/sys/fs/cgroup/cgroup.procs", "w").write(str(os.getpid())),
):
    try:
        attempt()
        done.append("more")
    except OSError:
        pass
if done:
    print("SMUGG" + "LED", done)
