"""Reads .npz and .npy files of users: nothing in them is run, and no size is believed before the bytes are there."""

from __future__ import annotations

import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from tilewright.errors import UsageError
from tilewright.model import Array, restored

UNNAMED = ""
"""The name of the one array of an .npy file."""

_DAMAGE = (
    OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, RuntimeError, MemoryError, OverflowError,
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError,
)  # fmt: skip


def read_arrays(file: Path) -> dict[str, Array]:
    """All arrays of an .npz by name, or the one of an .npy as `UNNAMED`; UsageError where it cannot be read."""
    try:
        with file.open("rb") as stream:
            if stream.read(2) == b"PK":
                return _members(stream)
            stream.seek(0)
            return {UNNAMED: _array(stream, file.stat().st_size)}
    except _DAMAGE as error:
        raise unreadable(file, error, "give a .npz file") from None


def read_array(file: Path) -> Array:
    """The array of an .npy file; UsageError where it cannot be read."""
    arrays = read_arrays(file)
    if UNNAMED not in arrays:
        raise unreadable(file, ValueError("it holds several arrays by name"), "pass a .npy file")
    return arrays[UNNAMED]


def unreadable(file: Path, error: BaseException, fix: str) -> UsageError:
    """The error for a file of arrays that is damaged, too large or of another kind."""
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return UsageError(f"{file} cannot be read", why=" ".join(why.split()), fix=fix, file=str(file))


def _members(stream: IO[bytes]) -> dict[str, Array]:
    arrays = {}
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            with archive.open(member) as content:
                arrays[member.filename.removesuffix(".npy")] = _array(content, member.file_size)
    return arrays


def _array(stream: IO[bytes], size_bytes: int) -> Array:
    """The array in a stream of so many bytes; ValueError where its header claims another size."""
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read")
    promised, present = math.prod(shape) * dtype.itemsize, size_bytes - stream.tell()
    if promised != present:
        raise ValueError(f"its header promises {promised:,} bytes of values, and {present:,} are there")
    stream.seek(0)
    array: Array = restored(np.lib.format.read_array(stream, allow_pickle=False))
    return array
