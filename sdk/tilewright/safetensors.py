"""Safetensors files, read and written without a package: a header of JSON, then the bytes of every array.

Layout: u64 header length, little endian; the header, which maps each name to type, shape and [begin, end) in the data
and may hold `__metadata__` (text to text); the data. Nothing in such a file is executed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tilewright.errors import UsageError
from tilewright.model import Array

_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8",
    "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_NAMES = {np.dtype(text): name for name, text in _TYPES.items()}
_LARGEST_HEADER = 100_000_000


@dataclass(frozen=True)
class TensorFile:
    """The arrays of a file by name, and its metadata."""

    arrays: Mapping[str, Array]
    metadata: Mapping[str, str] = field(default_factory=dict)


def dumps(file: TensorFile) -> bytes:
    """The bytes of the file; the data begins at a multiple of eight. KeyError for a type that the format lacks."""
    header: dict[str, Any] = {"__metadata__": dict(file.metadata)} if file.metadata else {}
    parts, at = [], 0
    for name, array in file.arrays.items():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        raw = little.tobytes()
        header[name] = {
            "dtype": _NAMES[np.dtype(little.dtype.str)],
            "shape": list(array.shape),
            "data_offsets": [at, at + len(raw)],
        }
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def loads(data: bytes, file: str) -> TensorFile:
    """The arrays of the bytes of a file called `file`; UsageError where they are no whole safetensors file."""
    try:
        (length,) = struct.unpack_from("<Q", data)
        if length > min(_LARGEST_HEADER, len(data) - 8):
            raise ValueError(f"its header of {length} bytes is longer than the file")
        header = json.loads(data[8 : 8 + length])
        if not isinstance(header, dict):
            raise ValueError("its header is no table")
        metadata = header.pop("__metadata__", {})
        body = memoryview(data)[8 + length :]
        return TensorFile({name: _array(name, entry, body) for name, entry in header.items()}, dict(metadata))
    except (struct.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            f"cannot read the weights in '{file}'", why=str(error), fix="pass a .safetensors file", file=file
        ) from None


def _array(name: str, entry: Mapping[str, Any], body: memoryview) -> Array:
    shape = tuple(entry["shape"])
    begin, end = entry["data_offsets"]
    if entry["dtype"] not in _TYPES:
        raise ValueError(f"tensor '{name}' has the type {entry['dtype']}, which is not read here")
    dtype = np.dtype(_TYPES[entry["dtype"]])
    if not 0 <= begin <= end <= len(body) or end - begin != prod(shape) * dtype.itemsize or min(shape, default=0) < 0:
        raise ValueError(f"tensor '{name}' of shape {list(shape)} does not fill bytes {begin} to {end}")
    return np.frombuffer(body[begin:end], dtype).reshape(shape).astype(dtype.newbyteorder("="))
