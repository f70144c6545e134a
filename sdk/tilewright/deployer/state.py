"""A deployer's state on disk: one JSON file and one npz beside it, never pickle.

The JSON holds the network and the decisions; it names the npz by its content's hash and carries a checksum of itself,
and both are put in place by renaming, the JSON last: a state is there whole or not at all. Kernels are stored by name:
restoring follows the decisions anew, and refuses what cannot be followed on this target.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.deployer.stored_model import Arrays, model_in, model_out
from tilewright.deployer.verbosity import CodeGenVerbosity
from tilewright.errors import StateError, UsageError
from tilewright.model import restored
from tilewright.schedule.decisions import Decisions
from tilewright.schedule.decisions_json import decisions_in, decisions_out
from tilewright.schedule.question import Lowered

FORMAT = "tilewright deployer state"
VERSION = 2
LARGEST_JSON = 256 * 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class State:
    """What a deployer has come to: `decisions` are None before the network is bound, `levels` sizes in bytes by name.

    Where code was `transformed` the state is restored up to the code, with these marks in it.
    """

    platform: str
    target: str
    levels: Mapping[str, int | None]
    network: Lowered
    decisions: Decisions | None
    transformed: bool
    verbosity: CodeGenVerbosity


def save(state: State, folder: Path, file_name: str) -> Path:
    """Write the state; returns the JSON file."""
    path = json_file(folder, file_name)
    arrays: Arrays = {}
    body: dict[str, Any] = {
        "platform": state.platform,
        "target": state.target,
        "levels": dict(state.levels),
        "loaded": model_out(state.network.loaded, arrays, "loaded"),
        "model": model_out(state.network.model, arrays, "model"),
        "decisions": None if state.decisions is None else decisions_out(state.decisions),
        "transformed": state.transformed,
        "verbosity": {"tiled": state.verbosity.tiled_profiling, "untiled": state.verbosity.untiled_profiling},
    }
    packed = io.BytesIO()
    np.savez(packed, **{f"a{i}": value for i, value in enumerate(arrays.values())})  # type: ignore[arg-type]
    digest = _content(arrays)
    body["arrays"] = {"file": f"{file_name}-{digest[:16]}.npz", "names": list(arrays), "sha256": digest}
    document = {"format": FORMAT, "version": VERSION, "sha256": _checksum(body), "state": body}
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder / body["arrays"]["file"], packed.getvalue())
    _put(path, json.dumps(document, indent=1).encode())
    for old in folder.glob(f"{file_name}-*.npz"):
        if old.name != body["arrays"]["file"] and re.fullmatch(re.escape(file_name) + r"-[0-9a-f]{16}\.npz", old.name):
            old.unlink()
    return path


def read(path: Path) -> State:
    """The state in a JSON file and its arrays; StateError where it is damaged."""
    body = _read(path)
    try:
        arrays = _read_arrays(path, body)
        network = Lowered(model_in(body["loaded"], arrays, "loaded"), model_in(body["model"], arrays, "model"))
        decisions = None if body["decisions"] is None else decisions_in(body["decisions"])
        verbosity = CodeGenVerbosity(bool(body["verbosity"]["tiled"]), bool(body["verbosity"]["untiled"]))
        return State(
            str(body["platform"]), str(body["target"]), body["levels"], network, decisions,
            bool(body["transformed"]), verbosity,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise refused(path, f"{type(error).__name__}: {error}") from error


# ------------------------------------------------------------------------------------------------ files
def json_file(folder: Path, file_name: str) -> Path:
    """The JSON file of a state; UsageError for a name that could leave the folder."""
    if not _NAME.fullmatch(file_name):
        raise UsageError(f"'{file_name}' is no name for a state", fix="use letters, digits, '.', '_' and '-'")
    return folder / f"{file_name}.json"


def refused(path: Path, why: str) -> StateError:
    """The error for a state that cannot be used."""
    return StateError(f"the state in '{path.name}' cannot be used", why=why, fix="export it again", file=str(path))


def _checksum(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _content(arrays: Arrays) -> str:
    """A hash of names, types, shapes and bytes: npz files carry times, contents do not."""
    digest = hashlib.sha256()
    for name, value in arrays.items():
        digest.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


def _put(file: Path, content: bytes) -> None:
    """Write one file whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=".tilewright-", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_JSON:
            raise refused(path, f"it has more than {LARGEST_JSON} bytes")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StateError(f"the state '{path.name}' cannot be read", why=str(error), file=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise refused(path, f"it is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise refused(path, "it is no state of a deployer")
    if document.get("version") != VERSION:
        raise refused(path, f"it has version {document.get('version')}, this is version {VERSION}")
    body = document.get("state")
    if not isinstance(body, dict) or document.get("sha256") != _checksum(body):
        raise refused(path, "its checksum is wrong, it was changed or damaged")
    return body


def _read_arrays(path: Path, body: Mapping[str, Any]) -> Arrays:
    entry = body["arrays"]
    file = path.parent / Path(entry["file"]).name
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as stored:
            arrays = {name: restored(stored[f"a{i}"]) for i, name in enumerate(entry["names"])}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise refused(path, f"its arrays in '{file.name}' cannot be read: {error}") from error
    if _content(arrays) != entry["sha256"]:
        raise refused(path, f"the checksum of '{file.name}' is wrong")
    return arrays
