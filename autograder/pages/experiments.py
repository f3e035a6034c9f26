"""Recorded experiments: how a result file is written, and how it is read.

Anything that takes longer than a page may (ten seconds) is run once, by
`solutions/<chapter>/experiment.py`, and leaves `results/<name>.json` beside it:

    {"command": ..., "seed": ..., "machine": {...}, "recorded": "YYYY-MM-DD",
     "results": {...}}

A page plots the file and can say how every number in it came about.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
from pathlib import Path
from typing import Any

from ..errors import CourseError
from ..paths import source_file


def machine(device: str = "cpu") -> dict[str, Any]:
    """What the numbers depend on: processor, cores, versions, device.

    No names of hosts, users or folders.
    """
    import torch

    told: dict[str, Any] = {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": device,
    }
    if device.startswith("cuda"):
        told["gpu"] = torch.cuda.get_device_name()
        told["gpu_bytes"] = torch.cuda.get_device_properties(0).total_memory
        told["cuda"] = torch.version.cuda
    return told


def record(
    path: Path, results: dict[str, Any], *, command: str, seed: int, device: str = "cpu"
) -> None:
    """Write one result file (its folder is made when it is missing)."""
    whole = {
        "command": command,
        "seed": seed,
        "machine": machine(device),
        "recorded": datetime.date.today().isoformat(),
        "results": results,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_laid_out(whole) + "\n", encoding="utf-8")


def load(chapter: str, name: str, root: Path | None = None) -> dict[str, Any]:
    """One recorded result file of a chapter, as it was written.

    Raises CourseError when that experiment was never recorded.
    """
    folder = source_file(chapter, root).parent
    path = folder / "results" / f"{name}.json"
    if not path.is_file():
        raise CourseError(
            f"no recorded experiment {name!r} in the chapter {chapter!r}",
            f"record it: python solutions/{chapter}/experiment.py {name}",
        )
    whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return whole


def _cpu_model() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.M)
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def _laid_out(value: Any, margin: str = "") -> str:
    """JSON for people: whatever holds no further list or object is one line."""
    parts = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(parts, list) or not any(
        isinstance(p, dict | list) for p in parts
    ):
        return json.dumps(value)
    deeper = margin + " "
    if isinstance(value, dict):
        lines = [
            f"{json.dumps(key)}: {_laid_out(part, deeper)}"
            for key, part in value.items()
        ]
        opened, closed = "{}"
    else:
        lines = [_laid_out(part, deeper) for part in parts]
        opened, closed = "[]"
    body = f",\n{deeper}".join(lines)
    return f"{opened}\n{deeper}{body}\n{margin}{closed}"
