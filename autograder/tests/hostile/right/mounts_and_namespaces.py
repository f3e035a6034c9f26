# Tries to mount, to leave its namespaces, to make new ones and to become root again:
# every way is refused, by the kernel or by the filter of system calls.
# cell: added
import ctypes
import os
import subprocess

libc = ctypes.CDLL(None, use_errno=True)
done = []

def attempt(name, *arguments):
    if getattr(libc, name)(*arguments) == 0:
        done.append(name)

attempt("mount", b"proc", b"/tmp", b"proc", 0, None)
attempt("mount", b"/", b"/tmp", None, 4096, None)
attempt("umount2", b"/tmp", 2)
attempt("chroot", b"/tmp")
attempt("setuid", 0)
attempt("setresuid", 0, 0, 0)
attempt("setgid", 0)
attempt("sethostname", b"mine", 4)
for flag in (0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x08000000, 0x04000000):
    attempt("unshare", flag)
    attempt("unshare", 0x10000000 | flag)
for kind in ("mnt", "pid", "net", "user", "ipc"):
    for pid in ("1", os.getppid(), "__GRADER__"):
        try:
            handle = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        except OSError:
            continue
        attempt("setns", handle, 0)
        os.close(handle)
for command in ("sudo -n id", "su -c id", "unshare -Ur id", "mount", "newgrp"):
    try:
        ran = subprocess.run(command.split(), capture_output=True, timeout=1, stdin=-3)
        if b"uid=0" in ran.stdout:
            done.append(command)
    except (OSError, subprocess.SubprocessError):
        pass
if done:
    print("SMUGG" + "LED", done)
