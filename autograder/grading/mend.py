"""Small damage in a notebook's file, mended so that nbgrader can read it.

Other editors, merges and scripts leave such damage. Nothing that a student wrote is
changed; whatever a locked cell should be comes from the master later.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BOM = b"\xef\xbb\xbf"
KINDS = ("code", "markdown", "raw")


def mended(path: Path) -> tuple[bytes | None, list[str]]:
    """The notebook's bytes without the damage, and what that was, in words.

    None when nothing is to be mended. The file must hold a JSON object with cells.
    """
    raw = path.read_bytes()
    notebook = json.loads(raw.decode("utf-8-sig"))
    if not all(isinstance(cell, dict) for cell in notebook["cells"]):
        return None, []
    damage = _notebook(notebook)
    for number, cell in enumerate(notebook["cells"], 1):
        damage += [f"cell {number} {what}" for what in _cell(cell)]
    text = json.dumps(notebook, ensure_ascii=False)
    clean = text.encode("utf-8", "replace")
    if clean.decode() != text:
        damage.append("the notebook held half of a sign (a surrogate)")
    if not damage and not raw.startswith(BOM):
        return None, []
    return clean, [f"{what} and was mended" for what in damage]


def _notebook(notebook: dict[str, Any]) -> list[str]:
    damage = []
    if not isinstance(notebook.get("metadata"), dict):
        notebook["metadata"] = {}
        damage.append("the notebook had no metadata")
    for key in ("kernelspec", "language_info"):
        if not isinstance(notebook["metadata"].get(key, {}), dict):
            del notebook["metadata"][key]
            damage.append(f"the notebook had an odd {key}")
    return damage


def _cell(cell: dict[str, Any]) -> list[str]:
    damage = []
    if cell.get("cell_type") not in KINDS:
        cell["cell_type"] = "raw"
        damage.append("was of no known type")
    if not isinstance(cell.get("metadata"), dict):
        cell["metadata"] = {}
        damage.append("had no metadata")
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        cell["source"] = ""
        damage.append("had no text")
    if cell["cell_type"] == "code" and not isinstance(cell.get("outputs"), list):
        cell["outputs"] = []
        damage.append("had no outputs")
    if cell["cell_type"] == "code":
        cell.setdefault("execution_count", None)
    return damage + _info(cell["metadata"])


def _info(metadata: dict[str, Any]) -> list[str]:
    """nbgrader's own metadata of a cell: dropped, or brought to its schema 3."""
    if "nbgrader" not in metadata:
        return []
    info = metadata["nbgrader"]
    if not isinstance(info, dict) or not isinstance(info.get("grade_id", ""), str):
        del metadata["nbgrader"]
        return ["had odd nbgrader metadata"]
    if not info or info.get("schema_version") == 3:
        return []
    for key in ("grade", "solution", "locked", "task"):
        info.setdefault(key, False)
    info["schema_version"] = 3
    return ["had nbgrader metadata of another version"]
