"""Files of arrays that users give: .npz by name, .npy alone, and every kind of damage in one sentence."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from tilewright.arrays import read_array, read_arrays
from tilewright.errors import UsageError
from tilewright.frontend.load import frozen_inputs
from tilewright.model import Array, DType, Tensor
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.inputs import expected_outputs, input_arrays

ONES = np.ones((2, 3), np.float32)


class Slot:
    def __init__(self, name: str) -> None:
        self.tensor = Tensor(name, DType.F32, (2, 3))


class Plan:
    """As much of an execution plan as inputs need."""

    def __init__(self, *names: str) -> None:
        self.slots = [Slot(name) for name in names]
        self.input_slots = self.output_slots = tuple(range(len(names)))
        self.output_names = names
        self.instructions = ()


def header(shape: str, dtype: str = "<f4") -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def archive(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for name, content in members.items():
            made.writestr(name, content)
    return stream.getvalue()


def npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


def damaged() -> dict[str, tuple[bytes, str]]:
    whole = archive({"x.npy": npy(ONES)})
    return {
        "empty": (b"", "EOF: reading magic string"),
        "text": (b"hello world\n", "the magic string is not correct"),
        "cut": (whole[: len(whole) // 2], "File is not a zip file"),
        "flipped": (whole[:180] + bytes([whole[180] ^ 255]) + whole[181:], "Bad CRC-32 for file 'x.npy'"),
        "bytes": (archive({"x": b"no array at all"}), "the magic string is not correct"),
        "pickle": (archive({"x.npy": npy([{"a": 1}])}), "it holds Python objects, which are not read"),
        "giant": (archive({"x.npy": header("(1099511627776,)")}), "promises 4,398,046,511,104 bytes of values, and 0"),
        "short": (archive({"x.npy": npy(ONES)[:-4]}), "its header promises 24 bytes of values, and 20 are there"),
        "long": (npy(ONES) + b"0123", "its header promises 24 bytes of values, and 28 are there"),
        "negative": (header("(-1,)"), "its header promises -4 bytes of values, and 0 are there"),
        "code": (header("__import__('os')"), ""),
        "type": (header("(1,)", "what"), "descr is not a valid dtype descriptor"),
        "locked": (whole.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"), "encrypted"),
    }


@pytest.mark.parametrize("kind", damaged())
def test_damage_is_one_sentence(kind: str, tmp_path: Path) -> None:
    content, why = damaged()[kind]
    file = tmp_path / "in.npz"
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_arrays(file)
    assert str(caught.value).startswith(f"{file} cannot be read: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match=r"--freeze x=.* cannot be read: .*; pass a .npy file"):
        frozen_inputs({"x": file})


def plan_of(*names: str) -> ExecutionPlan:
    return cast(ExecutionPlan, Plan(*names))


@pytest.mark.parametrize("word", ["input", "output"])
def test_an_array_alone_is_that_of_the_only_input_or_output(word: str, tmp_path: Path) -> None:
    file = tmp_path / "in.npy"
    np.save(file, ONES)

    def read(plan: ExecutionPlan) -> list[Array]:
        return input_arrays(plan, file, 0) if word == "input" else expected_outputs(plan, file)

    [array] = read(plan_of("x"))
    assert np.array_equal(array, ONES)
    with pytest.raises(UsageError, match=r"holds one array without a name: the model has 2 .*s; .* names: a, b"):
        read(plan_of("a", "b"))


def test_arrays_come_as_they_were_saved(tmp_path: Path) -> None:
    ordered = np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3))
    arrays: dict[str, Array] = {"x": ONES, "a/b": ordered, "s": np.asarray(3.0)}
    (tmp_path / "in.npz").write_bytes(archive({f"{name}.npy": npy(array) for name, array in arrays.items()}))
    found = read_arrays(tmp_path / "in.npz")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    with pytest.raises(UsageError, match=r"it holds several arrays by name; pass a .npy file"):
        read_array(tmp_path / "in.npz")
