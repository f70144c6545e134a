"""A file of our own: an npz with a JSON header that names kind, version and arrays, and a checksum over everything.

Reading refuses, with a `StateError`, a file that is damaged, of another kind, of another version, or that holds more
or less than its header says; writing replaces the file whole or not at all. Nothing in it is ever executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from tilewright.errors import StateError, UsageError
from tilewright.model import Array, restored
from tilewright.report.codec import Json

HEADER = "header.json"
DATE = (2020, 1, 1, 0, 0, 0)


def write_container(path: Path, kind: str, version: int, body: Json, arrays: Mapping[str, Array]) -> None:
    """Write `body` and named arrays; the same values give the same bytes. UsageError where it cannot be written."""
    described: dict[str, Json] = {
        name: {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": _digest(array)}
        for name, array in arrays.items()
    }
    header: dict[str, Json] = {"kind": kind, "version": version, "arrays": described, "body": body}
    text = json.dumps({**header, "sha256": _header_digest(header)}, allow_nan=True)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, DATE), text)
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, member.getvalue())
    _replace(path, buffer.getvalue())


def read_container(path: Path, kind: str, version: int) -> tuple[Json, dict[str, Array]]:
    """Body and arrays of a file; StateError where it is not what `write_container` wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            header = json.loads(archive.read(HEADER))
            members = {name.removesuffix(".npy"): archive.read(name) for name in names if name != HEADER}
    except (
        OSError,
        KeyError,
        ValueError,
        RecursionError,
        NotImplementedError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise damaged(path, kind, str(error) or type(error).__name__) from error
    if len(set(names)) != len(names):
        raise damaged(path, kind, "it holds a name twice")
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), dict):
        raise damaged(path, kind, "its header is no description")
    if header.get("kind") != kind:
        raise StateError(f"'{path}' holds no {kind}", why=f"it holds a {header.get('kind')}", file=str(path))
    if header.get("version") != version:
        raise StateError(
            f"'{path}' is of version {header.get('version')}", why=f"{kind}s are written in version {version}",
            fix="write it again", file=str(path),
        )  # fmt: skip
    if _header_digest({key: value for key, value in header.items() if key != "sha256"}) != header.get("sha256"):
        raise damaged(path, kind, "the checksum of its header differs")
    if set(members) != set(header["arrays"]):
        raise damaged(path, kind, "its arrays are not those that its header names")
    arrays = {name: _array(path, kind, name, members[name], header["arrays"][name]) for name in header["arrays"]}
    body: Json = header.get("body")
    return body, arrays


def damaged(path: Path, kind: str, why: str) -> StateError:
    """The error for a file that cannot be read back."""
    return StateError(f"'{path}' is no readable {kind}", why=why, fix="write it again", file=str(path))


def _array(path: Path, kind: str, name: str, data: bytes, described: Mapping[str, object]) -> Array:
    try:
        array: Array = restored(np.lib.format.read_array(io.BytesIO(data), allow_pickle=False))
    except (ValueError, EOFError, OSError, TypeError) as error:
        raise damaged(path, kind, f"array '{name}': {error}") from error
    if array.dtype.str != described.get("dtype") or list(array.shape) != described.get("shape"):
        raise damaged(path, kind, f"array '{name}' has another type or shape than its header says")
    if _digest(array) != described.get("sha256"):
        raise damaged(path, kind, f"the checksum of array '{name}' differs")
    return array


def _digest(array: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def _header_digest(header: Mapping[str, Json]) -> str:
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()


def _replace(path: Path, data: bytes) -> None:
    try:
        handle, name = tempfile.mkstemp(prefix=".tilewright-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UsageError(f"cannot write '{path}'", why=why, fix="name a place that can be written") from error
