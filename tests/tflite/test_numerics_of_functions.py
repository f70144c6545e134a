"""`--numerics tflm` of what kernels compute in a way of their own: functions, comparisons, codes of 16 and 32 bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import node, onnx_model
from onnx import TensorProto
from tflite_files import G, Op, T, single, written
from tflm_codes import codes_of, codes_of_case, codes_of_the_wheel, lowered, weighed
from tilewright.cli import main
from tilewright.errors import UnsupportedError
from tilewright.model import Array
from tilewright.ops.quantised.function_twice import root_multiplier

RNG = np.random.default_rng(41)
EVERY = np.arange(-128, 128).astype(np.int8).reshape(1, -1)
PAIR = tuple(part.reshape(1, -1).astype(np.int8) for part in np.meshgrid(EVERY, EVERY))
SHORT = RNG.integers(-32768, 32768, (2, 1, 700)).astype(np.int16)
LONG = RNG.integers(-1000000, 1000000, (1, 300)).astype(np.int32)
IMAGE = RNG.integers(-32768, 32768, (1, 5, 6, 4)).astype(np.int16)
WAVE = RNG.integers(-32768, 32768, (1, 1, 9, 6)).astype(np.int16)
TAPS = T((4, 1, 3, 6), "int8", [0.01, 0.02, 0.013, 0.007], data=RNG.integers(-127, 128, (4, 1, 3, 6)))
SUMS = T((4,), "int32", [1e-5, 2e-5, 1.3e-5, 7e-6], data=RNG.integers(-90000, 90000, 4))
WINDOW = [(0, "b", 0), (1, "i", 2), (2, "i", 2), (3, "i", 3), (4, "i", 3), (5, "b", 3)]
STEPS = [(0, "b", 1), (1, "i", 1), (2, "i", 1)]
AXES = T((2,), "int32", data=np.asarray([1, 2]))
Case = tuple[bytes, tuple[Array, ...]]


def one(
    op: str, source: tuple[float, int], target: tuple[float, int], options: Sequence[tuple[int, str, Any]] = ()
) -> Case:
    """A function of every code of eight bits."""
    return single(op, [T(EVERY.shape, "int8", *source)], [T(EVERY.shape, "int8", *target)], options), (EVERY,)


def two(op: str, scales: Sequence[tuple[float, int]], kind: str = "int8") -> Case:
    """A function of all pairs of bytes, or of some of numbers of sixteen bits."""
    given = PAIR if kind == "int8" else (SHORT[0], SHORT[1])
    tensors = [T(given[0].shape, kind, *scale) for scale in scales[:2]]
    result = T(given[0].shape, kind, *scales[2]) if len(scales) > 2 else T(given[0].shape, "bool")
    return single(op, tensors, [result]), given


def wide(op: str, source: float, target: float) -> Case:
    """A function of codes of sixteen bits."""
    return single(op, [T(SHORT[0].shape, "int16", source)], [T(SHORT[0].shape, "int16", target)]), (SHORT[0],)


def pooled(op: str, result: T, options: Sequence[tuple[int, str, Any]], *more: T) -> Case:
    """Sums over an image of sixteen bits."""
    return single(op, [T(IMAGE.shape, "int16", 0.0005), *more], [result], options), (IMAGE,)


SLOPES = T((1, 256), "int8", 0.0123, 5, RNG.integers(-128, 128, (1, 256)))
CASES: dict[str, Case] = {
    "abs": one("ABS", (0.03, 4), (0.021, -100)),
    "abs of one scale": one("ABS", (0.03, 4), (0.03, -100)),
    "elu": one("ELU", (0.041, 11), (0.027, -70)),
    "relu6": one("RELU6", (0.05, -60), (0.05, -60)),
    "inverse root": one("RSQRT", (0.037, -128), (0.05, -128)),
    "slopes": (single("PRELU", [T(EVERY.shape, "int8", 0.031, 9), SLOPES], [T(EVERY.shape, "int8", 0.03, -3)]),
               (EVERY,)),
    "squared difference": two("SQUARED_DIFFERENCE", [(0.031, 9), (0.023, -11), (0.17, -128)]),
    "squared difference of 16 bits": two("SQUARED_DIFFERENCE", [(0.0011, 0), (0.0007, 0), (0.31, 0)], "int16"),
    "equal": two("EQUAL", [(0.0021, 9), (0.0017, -11)]),
    "less": two("LESS", [(0.0021, 9), (0.0017, -11)]),
    "abs of 16 bits": wide("ABS", 0.0011, 0.0007),
    "relu of 16 bits": wide("RELU", 0.0011, 0.0007),
    "ratios of float64": (single("RELU", [T((1, 3), "int16", 0.002707619918510318)],
                                 [T((1, 3), "int16", 0.0018799399258568883)]),
                          (np.asarray([[5123, 9727, 12548]], np.int16),)),
    "relu6 of 16 bits": wide("RELU6", 0.0003, 0.0003),
    "mean of 16 bits": pooled("MEAN", T((1, 4), "int16", 0.0002), [(0, "b", 0)], AXES),
    "average of 16 bits": pooled("AVERAGE_POOL_2D", T((1, 3, 3, 4), "int16", 0.0005), WINDOW),
    "largest of 16 bits": pooled("MAX_POOL_2D", T((1, 3, 3, 4), "int16", 0.0005), WINDOW),
    "16 bits in sums of 32": (single("CONV_2D", [T(WAVE.shape, "int16", 0.001), TAPS, SUMS],
                                     [T((1, 1, 7, 4), "int16", 0.003)], STEPS), (WAVE,)),
    "from 32 bits": (single("QUANTIZE", [T(LONG.shape, "int32", 0.0001)], [T(LONG.shape, "int8", 0.31, -7)]), (LONG,)),
    "to 32 bits": (single("QUANTIZE", [T((1, 700), "int16", 0.0011)], [T((1, 700), "int32", 0.0003)]), (SHORT[0],)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_codes_are_those_of_the_kernels(case: str) -> None:
    assert np.array_equal(codes_of_case(CASES[case]), codes_of_the_wheel(CASES[case]))


def test_codes_are_recorded() -> None:
    """As the wheel 0.dev20261023182759 gave them."""
    assert {name: weighed(codes_of_case(case)) for name, case in CASES.items()} == RECORDED


RECORDED = {
    "abs": -178692,
    "abs of one scale": -468811,
    "elu": -517540,
    "relu6": 23142,
    "inverse root": -1345527,
    "slopes": 310638,
    "squared difference": -252563116,
    "squared difference of 16 bits": 64093873,
    "equal": 23213,
    "less": 1819013,
    "abs of 16 bits": 754468522,
    "relu of 16 bits": 393192993,
    "ratios of float64": 89618,
    "relu6 of 16 bits": 245026271,
    "mean of 16 bits": -16428,
    "average of 16 bits": 1807424,
    "largest of 16 bits": 7863094,
    "16 bits in sums of 32": 2000123,
    "from 32 bits": 26876,
    "to 32 bits": 80738932,
}


def test_inverse_roots_are_right_to_nineteen_bits() -> None:
    for number in (2, 3, 7, 255, 256, 65025, (1 << 29) - 1, 1 << 30):
        multiplier, shift = root_multiplier(number)
        assert abs(multiplier * 2.0 ** (shift - 31) * number**0.5 - 1) < 2e-6


COMPILED = (
    "slopes", "squared difference", "less", "abs of 16 bits", "relu of 16 bits", "mean of 16 bits",
    "16 bits in sums of 32", "from 32 bits", "to 32 bits",
)  # fmt: skip


@pytest.mark.parametrize("case", COMPILED)
def test_the_generated_code_computes_what_the_semantics_says(case: str, tmp_path: Path) -> None:
    content, values = CASES[case]
    file = tmp_path / "net.tflite"
    file.write_bytes(content)
    named: dict[str, Any] = {f"t{index}": value for index, value in enumerate(values)}
    np.savez(tmp_path / "values.npz", **named)
    assert main(["run", str(file), "-t", "host", "--numerics", "tflm", "--inputs", str(tmp_path / "values.npz")]) == 0


def test_floats_behind_the_last_codes_promise_nothing() -> None:
    """A file that ends in floats is taken; one whose floats become codes again, or decide, is not."""
    codes = T((1, 4), "int8", 0.1)
    tensors = [codes, T((1, 4)), T((1, 4)), codes, T((), "int32", data=np.asarray(1)), T((1,), "int32")]
    begin = [Op("DEQUANTIZE", [0], [1]), Op("LOG_SOFTMAX", [1], [2])]
    assert [each.op for each in lowered(written(G(tensors, begin, [0], [2]))).nodes][-1] == "LogSoftmax"
    for last, result in ((Op("QUANTIZE", [2], [3]), 3), (Op("ARG_MAX", [2, 4], [5]), 5)):
        with pytest.raises(UnsupportedError, match="it is made of floats that were codes before"):
            lowered(written(G(tensors, [*begin, last], [0], [result])))
    nodes = [node("DequantizeLinear", "x s z", "r"), node("LogSoftmax", "r", "l"), node("ArgMax", "l", "y", axis=1)]
    types = {"x": TensorProto.INT8, "y": TensorProto.INT64}
    parameters = {"s": np.float32(0.1), "z": np.int8(0)}
    with pytest.raises(UnsupportedError, match="it computes in floats"):
        lowered(onnx_model(nodes, {"x": (1, 4)}, ["y"], parameters, types=types).SerializeToString())


def test_bytes_cast_to_floats_are_exact() -> None:
    pixels = T((1, 4), "uint8")
    tensors = [pixels, T((1, 4)), T((1, 4), "int8", 0.5, -128)]
    content = written(G(tensors, [Op("CAST", [0], [1]), Op("QUANTIZE", [1], [2])], [0], [2]))
    (result,) = codes_of(lowered(content), {"t0": np.asarray([[0, 3, 17, 255]], np.uint8)})
    assert result.tolist() == [[-128, -122, -94, 127]]


def test_kernels_that_read_or_add_something_else_are_refused() -> None:
    codes = [T((1, 4), "int8", 0.1, 3)] * 2
    with pytest.raises(UnsupportedError, match="its zero point is added once more than it is taken away"):
        lowered(single("ADD_N", codes, [T((1, 4), "int8", 0.2)]))
    lowered(single("ADD_N", [T((1, 4), "int8", 0.1)] * 2, [T((1, 4), "int8", 0.2)]))
    with pytest.raises(UnsupportedError, match="it adds more than two tensors up before it rounds"):
        lowered(single("ADD_N", [T((1, 4), "int8", 0.1)] * 3, [T((1, 4), "int8", 0.2)]))
    weights = T((1, 1, 3, 6), "int8", [0.01] * 6, axis=3, data=np.ones((1, 1, 3, 6)))
    bias = T((6,), "int32", [1e-5] * 6, data=np.arange(6))
    with pytest.raises(UnsupportedError, match="its bias has 32 bits, and the kernels read 64"):
        lowered(single("DEPTHWISE_CONV_2D", [T(WAVE.shape, "int16", 0.001), weights, bias],
                       [T((1, 1, 7, 6), "int16", 0.001)], [*STEPS, (3, "i", 1)]))  # fmt: skip
    with pytest.raises(UnsupportedError, match="its operand and its result have scales of their own"):
        lowered(one("RELU6", (0.05, -60), (0.04, -60))[0])
