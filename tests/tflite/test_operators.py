"""Operators of small files: what ONNX Runtime makes of the converted model against sums written out in NHWC."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from tflite_files import CODES, G, Op, T, single, written
from tilewright.errors import UnsupportedError
from tilewright.frontend.load import load
from tilewright.model import Array
from tilewright.passes.driver import run as passes
from tilewright.passes.quantise.lower import lower
from tilewright.tflite.convert import to_onnx
from tilewright.tflite.registry import operators

RNG = np.random.default_rng(5)
X = RNG.standard_normal((1, 5, 6, 4)).astype(np.float32)
SAME, VALID = 0, 1


def run(content: bytes, *inputs: Array) -> list[Array]:
    """Results of the converted model, which the checker holds good."""
    model = to_onnx(content)
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(model, strict_mode=True), full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]
    return [np.asarray(value) for value in session.run(None, dict(zip(names, inputs, strict=True)))]


def conv(x: Array, w: Array, strides: tuple[int, int], same: bool, dilations: tuple[int, int] = (1, 1)) -> Array:
    """A convolution of channels-last images with kernels of [out, row, column, in], element by element."""
    outs, pads = [], []
    for axis in range(2):
        reach, size, step = (w.shape[1 + axis] - 1) * dilations[axis] + 1, x.shape[1 + axis], strides[axis]
        outs.append(-(-size // step) if same else (size - reach) // step + 1)
        total = max((outs[-1] - 1) * step + reach - size, 0) if same else 0
        pads.append((total // 2, total - total // 2))
    padded = np.pad(x, ((0, 0), *pads, (0, 0)))
    result = np.zeros((1, *outs, w.shape[0]))
    for row, column in np.ndindex(*outs):
        for i, j in np.ndindex(*w.shape[1:3]):
            pixel = padded[0, row * strides[0] + i * dilations[0], column * strides[1] + j * dilations[1]]
            result[0, row, column] += w[:, i, j] @ pixel
    return result


W = RNG.standard_normal((3, 3, 2, 4)).astype(np.float32)
DEPTHWISE = RNG.standard_normal((1, 3, 3, 8)).astype(np.float32)
SPREAD = np.zeros((8, 3, 3, 4))  # the depthwise kernel as a full one
for _channel in range(8):
    SPREAD[_channel, :, :, _channel // 2] = DEPTHWISE[0, :, :, _channel]
ROWS = RNG.standard_normal((5, 24)).astype(np.float32)


def weights(value: Array) -> T:
    return T(value.shape, str(value.dtype), data=value)


def indices(*numbers: Any) -> T:
    value = np.asarray(numbers, np.int32)
    return T(value.shape, "int32", data=value)


def blocks_of_rows(x: Array) -> Array:
    """Space to depth by 2."""
    return np.concatenate([x[:, i::2, j::2] for i, j in np.ndindex(2, 2)], axis=3)


Case = tuple[str, Sequence[T], Sequence[tuple[int, str, Any]], Callable[[Array], Any]]
CASES: dict[str, Case] = {
    "conv same": ("CONV_2D", [weights(W)], [(0, "b", SAME), (1, "i", 1), (2, "i", 2)],
                  lambda x: conv(x, W, (2, 1), True)),
    "conv valid dilated relu": (
        "CONV_2D", [weights(W)], [(0, "b", VALID), (1, "i", 1), (2, "i", 1), (3, "b", 1), (4, "i", 2), (5, "i", 1)],
        lambda x: np.maximum(conv(x, W, (1, 1), False, (1, 2)), 0)),
    "depthwise": ("DEPTHWISE_CONV_2D", [weights(DEPTHWISE)], [(0, "b", SAME), (1, "i", 2), (2, "i", 2), (3, "i", 2)],
                  lambda x: conv(x, SPREAD, (2, 2), True)),
    "max pool": ("MAX_POOL_2D", [], [(0, "b", VALID), (1, "i", 2), (2, "i", 1), (3, "i", 2), (4, "i", 1)],
                 lambda x: np.maximum(x[:, :, ::2], x[:, :, 1::2])),
    "pad": ("PAD", [indices((0, 0), (1, 2), (0, 1), (0, 0))], [],
            lambda x: np.pad(x, ((0, 0), (1, 2), (0, 1), (0, 0)))),
    "strided slice": ("STRIDED_SLICE", [indices(0, 4, 1, 0), indices(0, 0, 6, 2), indices(1, -2, 1, 1)],
                      [(0, "i", 0), (1, "i", 1), (4, "i", 0)], lambda x: x[:, 4:0:-2, 1:6, 0:2]),
    "shrunk slice": ("STRIDED_SLICE", [indices(0, -1, 0, 0), indices(1, 0, 6, 4), indices(1, 1, 1, 1)],
                     [(4, "i", 2)], lambda x: x[:, -1]),
    "mean": ("MEAN", [indices(1, 2)], [], lambda x: x.mean((1, 2))),
    "mean kept": ("MEAN", [indices(-1)], [(0, "b", 1)], lambda x: x.mean(3, keepdims=True)),
    "reshape": ("RESHAPE", [indices(5, 24)], [], lambda x: x.reshape(5, 24)),
    "dense": ("FULLY_CONNECTED", [weights(ROWS), weights(ROWS[:, 0])], [(0, "b", 3)],
              lambda x: np.clip(x.reshape(5, 24) @ ROWS.T + ROWS[:, 0], 0, 6)),
    "transpose": ("TRANSPOSE", [indices(0, 3, 2, 1)], [], lambda x: x.transpose(0, 3, 2, 1)),
    "leaky": ("LEAKY_RELU", [], [(0, "f", 0.25)], lambda x: np.where(x > 0, x, 0.25 * x)),
    "softmax": ("SOFTMAX", [], [(0, "f", 2.0)],
                lambda x: np.exp(2 * x) / np.exp(2 * x).sum(-1, keepdims=True)),
    "nearest": ("RESIZE_NEAREST_NEIGHBOR", [indices(10, 12)], [], lambda x: x.repeat(2, 1).repeat(2, 2)),
    "reverse": ("REVERSE_V2", [indices(1, 3)], [], lambda x: x[:, ::-1, :, ::-1]),
    "add channel": ("ADD", [weights(ROWS[0, :4])], [], lambda x: x + ROWS[0, :4]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_operator_means_what_it_says(case: str) -> None:
    op, operands, options, meaning = CASES[case]
    expected = np.asarray(meaning(X.astype(np.float64)))
    (given,) = run(single(op, [T(X.shape), *operands], [T(expected.shape)], options), X)
    assert given.shape == expected.shape
    np.testing.assert_allclose(given, expected, rtol=1e-5, atol=1e-5)


def test_blocks_of_space_go_into_channels_and_batches_and_back() -> None:
    x = X[:, :4]
    deep = blocks_of_rows(x)
    (given,) = run(single("SPACE_TO_DEPTH", [T(x.shape)], [T(deep.shape)], [(0, "i", 2)]), x)
    assert np.array_equal(given, deep)
    (back,) = run(single("DEPTH_TO_SPACE", [T(deep.shape)], [T(x.shape)], [(0, "i", 2)]), deep)
    assert np.array_equal(back, x)
    margins = ((1, 1), (0, 2))
    padded = np.pad(x, ((0, 0), *margins, (0, 0)))
    batches = np.concatenate([padded[:, i::2, j::2] for i, j in np.ndindex(2, 2)])
    tensors = [T(x.shape), indices(2, 2), indices(*margins)]
    (given,) = run(single("SPACE_TO_BATCH_ND", tensors, [T(batches.shape)]), x)
    assert np.array_equal(given, batches)
    tensors = [T(batches.shape), indices(2, 2), indices(*margins)]
    (back,) = run(single("BATCH_TO_SPACE_ND", tensors, [T(x.shape)]), batches)
    assert np.array_equal(back, x)


def test_parts_are_joined_and_taken_apart() -> None:
    halves = [T((1, 5, 3, 4))] * 2
    axis = T((), "int32", data=np.asarray(2, np.int32))
    a, b = run(single("SPLIT", [axis, T(X.shape)], halves, [(0, "i", 2)]), X)
    assert np.array_equal(np.concatenate([a, b], 2), X)
    (joined,) = run(single("CONCATENATION", halves, [T(X.shape)], [(0, "i", -2)]), a, b)
    assert np.array_equal(joined, X)
    (packed,) = run(single("PACK", halves, [T((1, 5, 3, 4, 2))], [(0, "i", 2), (1, "i", 4)]), a, b)
    assert np.array_equal(packed, np.stack([a, b], 4))


def test_a_transposed_convolution_spreads_its_input() -> None:
    x, w = X[:, :3, :3, :2].copy(), RNG.standard_normal((3, 3, 3, 2)).astype(np.float32)
    expected = np.zeros((8, 8, 3))
    for row, column in np.ndindex(3, 3):
        expected[2 * row : 2 * row + 3, 2 * column : 2 * column + 3] += (w @ x[0, row, column]).transpose(1, 2, 0)
    tensors = [indices(1, 6, 6, 3), weights(w), T(x.shape)]
    (given,) = run(single("TRANSPOSE_CONV", tensors, [T((1, 6, 6, 3))], [(0, "b", SAME), (1, "i", 2), (2, "i", 2)]), x)
    np.testing.assert_allclose(given[0], expected[:6, :6], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("told", [1.0, 3.0], ids=["of the sum", "another one"])
def test_codes_stay_codes_at_the_border_and_scales_count_channels(told: float) -> None:
    """`told`: what the file gives the bias for a unit, in units of the sum; nobody reads it."""
    x = RNG.integers(-128, 128, (1, 4, 4, 3)).astype(np.int8)
    w = RNG.integers(-127, 128, (1, 2, 2, 3)).astype(np.int8)
    scales = np.asarray([0.01, 0.02, 0.03], np.float32)
    sums = np.asarray([100, -200, 300], np.int32)
    tensors = [
        T(x.shape, "int8", 0.5, -3),
        T(w.shape, "int8", scales.tolist(), data=w, axis=3),
        T((3,), "int32", (0.5 * scales * told).tolist(), data=sums, axis=3),
    ]  # as some converters name a bias's axis
    options = [(0, "b", VALID), (1, "i", 2), (2, "i", 2), (3, "i", 1), (4, "b", 1)]
    (given,) = run(single("DEPTHWISE_CONV_2D", tensors, [T((1, 2, 2, 3), "int8", 0.75, 5)], options), x)
    spread = np.eye(3)[:, None, None, :] * w[0].transpose(2, 0, 1)[..., None].astype(np.int64)
    acc = conv(x.astype(np.int64) + 3, spread, (2, 2), False) + sums
    real = acc * (0.5 * scales.astype(np.float64))
    expected = np.clip(np.rint(np.maximum(real, 0) / 0.75) + 5, -128, 127)
    assert given.dtype == np.int8
    assert np.abs(given - expected).max() <= 1
    assert (given != expected).mean() < 0.1


def test_chains_of_images_have_no_transposes_inside() -> None:
    kernel = weights(RNG.standard_normal((4, 3, 3, 4)).astype(np.float32))
    shape, margins = (1, 6, 6, 4), indices((0, 0), (1, 1), (1, 1), (0, 0))
    tensors = [T(shape), kernel, margins, T((1, 8, 8, 4)), T(shape), T(shape), T(shape), T(shape)]
    one = [(1, "i", 1), (2, "i", 1)]
    ops = [
        Op("CONV_2D", [0, 1], [4], [(0, "b", SAME), *one]), Op("PAD", [4, 2], [3]),
        Op("CONV_2D", [3, 1], [5], [(0, "b", VALID), *one]), Op("ADD", [4, 5], [6]), Op("RELU", [6], [7]),
    ]  # fmt: skip
    model = to_onnx(written(G(tensors, ops, [0], [7])))
    assert [node.op_type for node in model.graph.node].count("Transpose") == 2  # at the input and at the output


@pytest.mark.parametrize(("scale", "zero", "left"), [(0.5, 3, ["Conv"]), (0.25, 3, ["QuantizeLinear", "Conv"])])
def test_a_pad_of_codes_is_taken_in_under_their_scale(scale: float, zero: int, left: list[str]) -> None:
    kernel = T((2, 2, 2, 1), "int8", 0.1, data=RNG.integers(-9, 9, (2, 2, 2, 1)))
    margins = indices((0, 0), (1, 1), (0, 2), (0, 0))
    tensors = [T((1, 4, 4, 1), "int8", 0.5, 3), margins, T((1, 6, 6, 1), "int8", scale, zero), kernel,
               T((1, 5, 5, 2), "int8", 1.0)]  # fmt: skip
    ops = [Op("PAD", [0, 1], [2]), Op("CONV_2D", [2, 3], [4], [(0, "b", VALID), (1, "i", 1), (2, "i", 1)])]
    model, _ = passes(lower(load(written(G(tensors, ops, [0], [4])))))
    assert [node.op for node in model.nodes if node.op != "Transpose"] == left


def test_codes_of_thirty_two_bits_are_rounded_and_read_again() -> None:
    content = written(G([T((1, 4), "int16", 0.75), T((1, 4), "int32", 0.5), T((1, 4))],
                        [Op("QUANTIZE", [0], [1]), Op("DEQUANTIZE", [1], [2])], [0], [1, 2]))  # fmt: skip
    codes = np.asarray([[-32768, -3, 5, 32767]], np.int16)
    whole, real = run(content, codes)
    assert np.asarray(whole).tolist() == [[-49152, -4, 8, 49150]]  # 7.5 lies at 8, -4.5 at -4, 49150.5 at 49150
    assert np.array_equal(real, np.asarray(whole) * 0.5)


def test_an_input_of_thirty_two_bits_has_its_scale() -> None:
    content = single("QUANTIZE", [T((1, 4), "int32", 0.001)], [T((1, 4), "int16", 0.5)])
    assert run(content, np.asarray([[-90000, -249, 251, 100000]], np.int32))[0].tolist() == [[-180, 0, 1, 200]]
    with pytest.raises(UnsupportedError, match="holds codes of 32 bits with a zero point"):
        to_onnx(single("QUANTIZE", [T((1, 4), "int32", 0.001, 7)], [T((1, 4), "int16", 0.5)]))


def test_names_of_operators_are_the_schema_s() -> None:
    from tilewright.tflite.schema import BUILTINS

    assert {BUILTINS[number]: number for number in CODES.values()} == CODES
    assert set(operators()) <= set(BUILTINS)


def test_the_page_names_every_operator() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tflite.md").read_text()
    assert set(operators()) <= set(re.findall(r"[A-Z][A-Z0-9_]+", page))
