"""What differs from system to system: where programs are, how they are installed."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def program(name: str) -> str | None:
    """Where a program is: beside this Python, or on PATH."""
    here = str(Path(sys.executable).parent)
    return shutil.which(name, path=here) or shutil.which(name)


def sudo() -> str:
    """What a command needs in front to be run as root."""
    return "" if hasattr(os, "geteuid") and os.geteuid() == 0 else "sudo "


def by_system(package: str) -> str:
    """The command that installs a system package here."""
    if sys.platform == "darwin":
        return f"brew install {package}"
    if sys.platform == "win32":
        return f"winget install {package}"
    if shutil.which("apt-get"):
        return f"{sudo()}apt install {package}"
    if shutil.which("dnf"):
        return f"{sudo()}dnf install {package}"
    return f"install {package} with your system's package manager"
