"""The text of constants: what printf would write, back to the same bits, and made only when it is read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilewright.codegen import constant_array
from tilewright.codegen.c_types import initialiser, initialiser_pieces, literal
from tilewright.compile import compile_model, write
from tilewright.model import DType
from tilewright.options import CompileOptions
from tilewright.target import load_target

EDGES = [0.0, -0.0, 1.0, -1.0, 1e-45, 1.17549435e-38, 3.4028235e38, 1e10, 999999999.5, 9.99999999e8, 0.5, 2.0**24, 1e-5]


def words(text: str) -> list[str]:
    return text.replace("\n", "").replace(" ", "").split(",")


def bits(values: list[float]) -> list[int]:
    return [int(bits) for bits in np.array(values, np.float32).view(np.uint32)]


@pytest.mark.parametrize("values", [EDGES, [10.0**p for p in range(-44, 39)], [2.0**p for p in range(-149, 128)]])
def test_floats_are_written_as_printf_does_it_and_mean_the_same_bits(values: list[float]) -> None:
    array = np.array(values, np.float32)
    found = words(initialiser(DType.F32, array))
    assert found == [f"{float(v):.8e}f" for v in array]
    assert bits([float(word.removesuffix("f")) for word in found]) == bits(values)


@given(st.lists(st.integers(0, (1 << 32) - 1), min_size=2, max_size=40))
def test_any_bits_of_a_float_come_back(patterns: list[int]) -> None:
    array = np.array(patterns, np.uint32).view(np.float32)
    array = array[np.isfinite(array)]
    found = words(initialiser(DType.F32, array)) if array.size else []
    assert found == [f"{float(v):.8e}f" for v in array]


@pytest.mark.parametrize("value", [0.0002053316927425155, 0.00028720298744770885, 0.1, 3.4028235e38, -1e-45])
def test_a_double_is_written_as_the_nearest_float(value: float) -> None:
    assert np.float32(float(literal(DType.F32, value).removesuffix("f"))) == np.float32(value)


@pytest.mark.parametrize("kind", [DType.F16, DType.BF16])
def test_every_float_of_sixteen_bits_is_written_as_its_bits(kind: DType) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    assert words(initialiser(kind, bits.view(kind.numpy))) == [f"0x{word:04x}" for word in range(1 << 16)]


def test_a_number_that_is_none_leaves_its_neighbours_as_they_are() -> None:
    text = initialiser(DType.F32, np.array([1.5, math.inf, -math.inf, math.nan], np.float32))
    assert words(text) == ["1.5f", "INFINITY", "-INFINITY", "NAN"]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16])
def test_every_small_integer_is_written_in_full(kind: type[np.integer[Any]]) -> None:
    info = np.iinfo(kind)
    array = np.arange(info.min, info.max + 1).astype(kind)
    dtype = next(d for d in DType if d.numpy == np.dtype(kind) and d.bits == info.bits)
    assert words(initialiser(dtype, array)) == [str(number) for number in array.tolist()]


@pytest.mark.parametrize("count", [1, 11, 12, 13, 24, 49151, 49152, 49153, 100_000])
@pytest.mark.parametrize("alike", [False, True])
def test_lines_hold_twelve_also_where_a_long_text_is_made_in_pieces(count: int, alike: bool) -> None:
    array = np.zeros(count, np.float32) if alike else np.arange(count).astype(np.float32)
    pieces = list(initialiser_pieces(DType.F32, array))
    lines = "".join(pieces).split(",\n    ")
    assert [len(line.split(", ")) for line in lines] == [12] * (count // 12) + [count % 12] * (count % 12 > 0)
    assert words("".join(pieces)) == [f"{float(v):.8e}f" for v in array]
    assert max(map(len, pieces)) < 1 << 20


def test_no_weight_is_written_as_text_before_the_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(dtype: DType, values: np.ndarray, per_line: int = 12) -> object:
        asked.append(values.size)
        return initialiser_pieces(dtype, values, per_line)

    monkeypatch.setattr(constant_array, "initialiser_pieces", counted)
    model = Path(__file__).parents[1] / "models" / "digits" / "model.onnx"
    compiled = compile_model(model, CompileOptions(), load_target("host"))
    assert not asked
    report = write(compiled, tmp_path).report
    assert sum(asked) * 4 == compiled.artifacts.constant_bytes
    assert (tmp_path / "src/digits_weights.c").read_text() == compiled.artifacts.files["src/digits_weights.c"]
    assert report.tool.seconds["codegen"] > compiled.report.tool.seconds["codegen"]
