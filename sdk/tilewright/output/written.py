"""Tells what tilewright wrote into a folder from what somebody else put or changed there.

`report.json` lists the files that were written beside it with the SHA-256 of each. What it does not list is somebody
else's, unless whoever writes it again recognises it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from tilewright.output.publishing import Refusal

REPORT = "report.json"
SCHEMA = "tilewright/report/"

Recognised = Callable[[str, Path], bool]
"""Whether the file of that relative name, which stands at that place, is of the kind that is written there."""


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file in a folder but its report, by relative path with `/`."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: _digest(path) for name, path in files.items() if name != REPORT}


def listed(folder: Path) -> dict[str, str]:
    """What the report of a folder says was written there; nothing where there is none that can be read."""
    files = _document(folder / REPORT).get("files", {})
    return {str(name): str(value) for name, value in files.items()} if isinstance(files, Mapping) else {}


def remove_obsolete(folder: Path, before: Mapping[str, str]) -> None:
    """Remove what an earlier report listed, by relative path, and the folder's own does not.

    Files that were changed since, and those that lie elsewhere by a link or by their name, stay.
    """
    now, root = listed(folder), folder.resolve()
    for name, digest in before.items():
        path = folder / name
        inside = not path.is_symlink() and root in path.resolve().parents
        if name not in now and inside and path.is_file() and _digest(path) == digest:
            path.unlink()


def protection(folder: Path, *, force: bool, recognised: Recognised = lambda name, place: False) -> Refusal | None:
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
        ours = _is_report(place) if path == REPORT else recognised(path, place)
        return None if ours else "tilewright did not write it"

    return refusal


def _is_report(place: Path) -> bool:
    return str(_document(place).get("schema", "")).startswith(SCHEMA)


def _document(file: Path) -> Mapping[str, object]:
    """The JSON object in a file; an empty one where there is none that can be read."""
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, Mapping) else {}


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
