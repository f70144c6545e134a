"""Tells what tilewright wrote into a folder from what somebody else put or changed there.

`report.json` lists the files that were written beside it with the SHA-256 of each. A file that it does not list, as in
folders of older versions, is ours where its first lines say so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from tilewright.output.publishing import Refusal

REPORT = "report.json"
_HEADS = re.compile(
    rb"tilewright \d+\.\d+|tilewright/report/\d|constants shared by \w+\.c and \w+_weights\.c\. Not for use by|"
    rb"What the generated code asks of a cluster|Plays the part of the CUDA runtime|^TWWB|"
    rb"^(model,platform,target,level,|index,name,op,kernel,|id,lower,upper,size,)",
)
_HEAD_BYTES = 600


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file in a folder but its report, by relative path with `/`."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: _digest(path) for name, path in files.items() if name != REPORT}


def listed(folder: Path) -> dict[str, str]:
    """What the report of a folder says was written there; nothing where there is none that can be read."""
    try:
        found = json.loads((folder / REPORT).read_bytes()).get("files", {})
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, Mapping) else {}


def protection(folder: Path, *, force: bool) -> Refusal | None:
    """Why a file of this folder must not be replaced: it is somebody else's, or was changed; `force` replaces all."""
    if force:
        return None
    known: dict[str, str] | None = None

    def refusal(name: str, place: Path) -> str | None:
        nonlocal known
        known = listed(folder) if known is None else known
        path = Path(name).as_posix()
        if path in known:
            return None if _digest(place) == known[path] else "it was changed since tilewright wrote it"
        with place.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
        return None if _HEADS.search(head) else "tilewright did not write it"

    return refusal


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
