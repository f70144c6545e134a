"""Safetensors files of our own: what is written comes back, what is damaged is refused."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from tilewright.errors import UsageError
from tilewright.model import Array
from tilewright.safetensors import TensorFile, dumps, loads


def test_what_is_written_comes_back() -> None:
    arrays: dict[str, Array] = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.asarray([-128, 127], np.int8),
        "c": np.asarray(True),
        "d": np.zeros((0, 3), np.int64),
    }
    found = loads(dumps(TensorFile(arrays, {"made": "here"})), "x.safetensors")
    assert found.metadata == {"made": "here"}
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)


def test_the_data_is_aligned() -> None:
    data = dumps(TensorFile({"a": np.zeros(3)}))
    (length,) = struct.unpack_from("<Q", data)
    assert length % 8 == 0


def header(entry: object) -> bytes:
    text = json.dumps({"a": entry}).encode()
    return struct.pack("<Q", len(text)) + text + bytes(8)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"abc", "unpack_from"),
        (struct.pack("<Q", 1 << 40) + b"{}", "longer than the file"),
        (struct.pack("<Q", 2) + b"[]", "no table"),
        (header({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}), "does not fill bytes 0 to 8"),
        (header({"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}), "does not fill"),
        (header({"dtype": "F32", "shape": [-2], "data_offsets": [8, 0]}), "does not fill"),
        (header({"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}), "type BF16"),
        (header({"shape": [4]}), "data_offsets"),
    ],
)
def test_damaged_files_are_refused_with_a_sentence(data: bytes, why: str) -> None:
    with pytest.raises(UsageError, match=r"cannot read the weights in 'x\.safetensors'") as caught:
        loads(data, "x.safetensors")
    assert why in str(caught.value)
