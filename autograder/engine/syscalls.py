"""Numbers of the system calls that submissions do without, for x86-64 and arm64.

A number of -1: that machine has no such call.
"""

from __future__ import annotations

import platform

LAST = 462  # what came after `mseal` is answered as if the kernel did not have it

# looking into other processes
SPYING = """
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271,
process_madvise 440 440, process_mrelease 448 448, kcmp 312 272, pidfd_getfd 438 438,
perf_event_open 298 241, userfaultfd 323 282, bpf 321 280
"""
# doing things unseen by this filter
UNSEEN = """
io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427
"""
# sockets; a pair of them may always be made, and asyncio does
SOCKETS = """
socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202,
accept4 288 242
"""
# new namespaces, mounts, and files by handle
MOUNTS = """
unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41,
chroot 161 51, open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431,
fsmount 432 432, fspick 433 433, mount_setattr 442 442, statmount 457 457,
listmount 458 458, name_to_handle_at 303 264, open_by_handle_at 304 265,
lookup_dcookie 212 18, fanotify_init 300 262, fanotify_mark 301 263, mknod 133 -1,
mknodat 259 33, quotactl 179 60, quotactl_fd 443 443
"""
# memory that no limit counts
HOARDS = """
memfd_create 319 279, memfd_secret 447 447, shmget 29 194, shmat 30 196, shmctl 31 195,
semget 64 190, msgget 68 186, mq_open 240 180, keyctl 250 219, add_key 248 217,
request_key 249 218
"""
# the machine itself
MACHINE = """
kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273,
delete_module 176 106, reboot 169 142, swapon 167 224, swapoff 168 225, acct 163 89,
nfsservctl 180 42, sethostname 170 161, setdomainname 171 162, settimeofday 164 170,
clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171, iopl 172 -1,
ioperm 173 -1, modify_ldt 154 -1, syslog 103 116, vhangup 153 58, personality 135 92,
migrate_pages 256 238, move_pages 279 239
"""
# these have rules of their own
RULED = """
clone 56 220, clone3 435 435, prctl 157 167, socketpair 53 199, sendto 44 206,
ioctl 16 29, fcntl 72 25, prlimit64 302 261, sched_setaffinity 203 122,
sched_setscheduler 144 119, sched_setparam 142 118, sched_setattr 314 274,
setpriority 141 140, ioprio_set 251 30, truncate 76 45
"""
# signals to other processes
SIGNALS = """
kill 62 129, tkill 200 130, tgkill 234 131, rt_sigqueueinfo 129 138,
rt_tgsigqueueinfo 297 240, pidfd_send_signal 424 424
"""
# what a file is like, beside what is in it
MODES = """
chmod 90 -1, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, utime 132 -1,
utimes 235 -1, utimensat 280 88, futimesat 261 -1
"""
OWNERS = """
chown 92 -1, fchown 93 55, lchown 94 -1, fchownat 260 54, setxattr 188 5,
lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15,
fremovexattr 199 16
"""

NEVER = (SPYING, UNSEEN, MOUNTS, HOARDS, MACHINE)
SOMETIMES = (RULED, SOCKETS, SIGNALS, MODES, OWNERS)

# name of the machine: column in the tables, and what the kernel calls it in a filter
MACHINES = {
    "x86_64": (0, 0xC000003E),
    "amd64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
    "arm64": (1, 0xC00000B7),
}


def machine() -> tuple[int, int]:
    """This machine's column and its name in a filter.

    Raises OSError for a machine that the tables don't know.
    """
    try:
        return MACHINES[platform.machine().lower()]
    except KeyError:
        raise OSError(f"no table of system calls for {platform.machine()}") from None


def names(table: str) -> list[str]:
    """The names of one table."""
    return [row.split()[0] for row in table.split(",")]


def numbers(table: str, column: int) -> dict[str, int]:
    """The numbers of one table, by name, for the machine of that column."""
    rows = (row.split() for row in table.split(","))
    return {name: int(both[column]) for name, *both in rows if int(both[column]) >= 0}
