"""What a jailed process may see of this computer: an interpreter, and little else."""

from __future__ import annotations

import os
import site
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
OWN = ("__init__.py", "errors.py", "system.py", "engine")  # nothing that knows answers

# not all of /usr: nbgrader keeps what was handed in under /usr/local/share
SYSTEM = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec"),
    *("/usr/share", "/usr/local/bin", "/usr/local/lib", "/usr/local/lib64"),
    *("/lib", "/lib32", "/lib64", "/bin", "/sbin"),
)
COVERED = {Path("/usr"), Path("/usr/local")}  # as a prefix: what SYSTEM has of them
ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("alternatives", "fonts", "localtime"),
)
GPU = ("nvidia*", "dri", "kfd")  # in /dev
PROCESSORS = "/sys/devices/system/cpu"  # torch counts the processors there


def interpreter() -> list[Path]:
    """The folders and files of this Python: prefixes, links to it, site-packages."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = {Path(prefix) for prefix in prefixes}
    paths |= {path.resolve() for path in paths}
    paths -= COVERED
    link = Path(sys.executable)
    paths |= {link, link.resolve()}
    while link.is_symlink():
        link = link.parent / link.readlink()
        paths.add(Path(os.path.normpath(link)))
    paths |= set(user_site())
    if link.is_relative_to("/nix"):
        paths.add(Path("/nix/store"))
    return outermost(paths - COVERED)


def user_site() -> list[Path]:
    """The user's own site-packages, where this Python uses them."""
    folder = site.getusersitepackages()
    return [Path(folder)] if folder in sys.path else []


def outermost(paths: set[Path]) -> list[Path]:
    """Those that exist and lie in none of the others, in order."""
    there = sorted(path for path in paths if path.exists())
    return [
        path
        for path in there
        if not any(path != other and path.is_relative_to(other) for other in there)
    ]


def readable(extra: list[Path]) -> list[Path]:
    """Everything that may be read: the system's programs, this Python, and `extra`."""
    system = {Path(path) for path in SYSTEM}
    etc = {Path("/etc") / name for name in ETC}
    more = {Path(os.path.normpath(path.absolute())) for path in extra}
    return outermost({*system, *etc, *more, *own(), *interpreter()})


def own() -> list[Path]:
    """What builds the inner walls."""
    return [PACKAGE / name for name in OWN]


def environment() -> dict[str, str]:
    """The environment of a jailed process: nothing of the caller's own."""
    path = [str(PACKAGE.parent), *map(str, user_site())]
    threads = ("OMP", "MKL", "OPENBLAS", "NUMEXPR")
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",
        "USER": "student",
        "LOGNAME": "student",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONHASHSEED": "0",
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **{f"{name}_NUM_THREADS": "1" for name in threads},
    }
