# Tries to trace, to read and to write other processes, and to open what they have open:
# only its own family is to be seen, and even that may not be traced.
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
done = []
pids = {1, 2, os.getppid(), int("__GRADER__")}
try:
    pids |= {int(p) for p in os.listdir("/proc") if p.isdigit()} - {os.getpid()}
except OSError:
    pass
for pid in pids:
    for request in (16, 0x4206):
        if libc.ptrace(request, pid, None, None) == 0:
            done.append(f"traced {pid}")
    buffer = ctypes.create_string_buffer(64)
    span = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 64)
    if libc.process_vm_readv(pid, span, 1, span, 1, 0) > 0:
        done.append(f"read {pid}")
    if libc.syscall(434, pid, 0) >= 0 and libc.syscall(438, 3, 0, 0) >= 0:
        done.append(f"took a file of {pid}")
    try:
        with open(f"/proc/{pid}/mem", "rb") as memory:
            memory.read(1)
        done.append(f"opened the memory of {pid}")
    except OSError:
        pass
    try:
        line = open(f"/proc/{pid}/cmdline").read()
    except OSError:
        line = ""
    if any(word in line for word in ("grade", "pytest", "bwrap", "zygote")):
        if pid not in (1, 2, 3, os.getppid()):
            done.append(f"saw {pid}: {line}")
print(done)

def softmax(scores):
    e = torch.exp(scores - scores.max(0).values)
    return str(done) if done else e / e.sum(0)
