"""`--numerics tflm`: the integers of TensorFlow Lite Micro, against its two roundings written out and its wheel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tflite_files import T, single
from tflm_codes import codes_of, lowered
from tilewright.cli import main
from tilewright.errors import UnsupportedError
from tilewright.model import Array
from tilewright.numerics import RoundedTwice, requantise
from tilewright.ops.quantised.proof import Bounds, prove, thresholds
from tilewright.ops.quantised.twice import RawMean, Twice
from tilewright.ops.requantize import Requantisation

RNG = np.random.default_rng(9)
EVERY = np.arange(-128, 128).astype(np.int8).reshape(1, -1)


def twice_in_steps(total: int, multiplier: int, shift: int) -> int:
    """The high half of the doubled product, rounded, then its shift to the right, ties away from zero."""
    product = (total << max(shift, 0)) * multiplier
    nudged = product + (1 << 30 if product >= 0 else 1 - (1 << 30))
    high = abs(nudged) // (1 << 31) * (1 if nudged >= 0 else -1)
    right = max(-shift, 0)
    rest, mask = high & ((1 << right) - 1), (1 << right) - 1
    return (high >> right) + (rest > (mask >> 1) + (high < 0))


@pytest.mark.parametrize("shift", [2, 0, -1, -6, -12, -30])
def test_one_multiplication_is_the_two_roundings_and_its_thresholds_are_theirs(shift: int) -> None:
    for _ in range(40):
        twice = Twice(int(RNG.integers(1 << 30, 1 << 31)), shift)
        for result in (-129, -2, -1, 0, 1, 2, 127):
            (first,) = twice.first_sums(np.asarray([result]))
            for total in (first - 1, first):
                steps = twice_in_steps(total, twice.multiplier, shift)
                assert (steps >= result) == (total >= first)
                if abs(total) < 1 << 31:  # sums are of 32 bits
                    assert twice.apply(np.asarray([total]))[0] == steps


def test_a_mean_of_codes_has_ties_away_from_zero() -> None:
    for count, zero in ((4, 0), (3, -7), (6, 100)):
        rule, sums = RawMean(count, zero), np.arange(-130 * count, 130 * count) - count * zero
        raw = sums + count * zero
        expected = np.sign(raw) * ((np.abs(raw) + count // 2) // count) - zero
        assert np.array_equal(rule.apply(sums), expected)
        results = np.arange(-120 - zero, 120 - zero)
        assert rule.first_sums(results).tolist() == [sums[expected >= result][0] for result in results]


@pytest.mark.parametrize("low", [-128, 3])
def test_a_form_of_either_kind_gives_the_codes_of_the_rule(low: int) -> None:
    rules = [Twice.of(float(real)) for real in RNG.uniform(0.0005, 0.02, 6)]
    wanted = Requantisation.by(rules, 3, low, 127)
    bounds = Bounds(np.full(6, -400_000, np.int64), np.full(6, 400_000, np.int64))
    proof = prove(wanted, bounds)
    edges = np.asarray(thresholds(wanted))
    sums = np.concatenate([edges - 1, edges], axis=1).T.clip(-400_000, 400_000)
    form = requantise(proof)
    assert np.array_equal(form.apply(sums), wanted.apply(sums))
    assert isinstance(form, RoundedTwice) == (low == -128)  # codes of one sign need no addend by sign


def test_sums_of_64_bits_are_rounded_once_by_fifteen_bits() -> None:
    """MultiplyByQuantizedMultiplier of an int64_t, written out as in kernels/internal/common.cc."""
    for real in (*RNG.uniform(1e-7, 2.5, 300).tolist(), 0.999999999, 0.25):
        whole, wide = Twice.of(real), Twice.of_wide(real)
        upper = (whole.multiplier + (1 << 15)) >> 16 if whole.multiplier < 0x7FFF0000 else 0x7FFF
        sums = RNG.integers(-(1 << 30), 1 << 30, 50)
        shift = 15 - whole.shift
        assert wide.apply(sums).tolist() == [(total * upper + (1 << (shift - 1))) >> shift for total in sums.tolist()]
        results = RNG.integers(-32768, 32768, 20)
        first = wide.first_sums(results).tolist()
        assert [(total * upper + (1 << (shift - 1))) >> shift >= r for total, r in zip(first, results, strict=True)]
        assert all(
            (total - 1) * upper + (1 << (shift - 1)) < r << shift for total, r in zip(first, results, strict=True)
        )


def test_large_multipliers_are_shifted_to_the_left() -> None:
    wanted = Requantisation.by([Twice.of(real) for real in (0.011, 0.73, 2.6)], -4, -128, 127)
    sums = np.arange(-3000, 3000)[:, None] + np.zeros(3, np.int64)
    form = requantise(prove(wanted, Bounds(np.full(3, -3000, np.int64), np.full(3, 3000, np.int64))))
    assert isinstance(form, RoundedTwice)
    assert np.array_equal(form.apply(sums), wanted.apply(sums))


def at_thresholds() -> tuple[bytes, tuple[Array, ...]]:
    """A product whose sums are its biases: one below and at every threshold, where random data hides differences."""
    twice = Twice.of(float(np.float32(0.05)) * float(np.float32(0.07)) / float(np.float32(0.3)))
    first = twice.first_sums(np.arange(-127, 128) - 9)
    sums = np.stack([first, first - 1], 1).reshape(-1).astype(np.int32)
    rows = np.full((sums.size, 4), 100, np.int8)  # inputs at the zero point leave the biases, others reach far
    tensors = [
        T((1, 4), "int8", 0.05, 5),
        T(rows.shape, "int8", 0.07, data=rows),
        T(sums.shape, "int32", 0.05 * 0.07, data=sums),
    ]
    content = single("FULLY_CONNECTED", tensors, [T((1, sums.size), "int8", 0.3, 9)], [(0, "b", 0)])
    return content, (np.full((1, 4), 5, np.int8),)


def test_codes_step_where_the_thresholds_are() -> None:
    content, inputs = at_thresholds()
    (codes,) = codes_of(lowered(content), {"t0": inputs[0]})
    steps = np.arange(-127, 128)
    assert np.array_equal(codes.reshape(-1, 2), np.stack([steps, steps - 1], 1))


PAIR = tuple(part.reshape(1, -1).astype(np.int8) for part in np.meshgrid(EVERY, EVERY))
IMAGE = RNG.integers(-128, 128, (1, 5, 6, 8)).astype(np.int8)
AXES = T((2,), "int32", data=np.asarray([1, 2]))
WINDOW = [(0, "b", 0), (1, "i", 1), (2, "i", 1), (3, "i", 3), (4, "i", 2)]
MIX_SCALES = np.asarray([0.02, 1e-11, 0.013, 1e-12])
MIX_SUMS = (0.3 * MIX_SCALES).tolist()
MIX = T(
    (4, 1, 1, 8),
    "int8",
    MIX_SCALES.tolist(),
    data=RNG.integers(-127, 128, (4, 1, 1, 8)) * [[[[1]]], [[[0]]], [[[1]]], [[[0]]]],
)
BIASES = T((4,), "int32", MIX_SUMS, data=np.asarray([30, 1 << 30, -70, -(1 << 30) - 9]))
BETA = [(0, "f", 1.0)]
MORE = np.random.default_rng(10)
SHORT = MORE.integers(-32768, 32768, (3, 1, 600)).astype(np.int16)
WAVE = MORE.integers(-32768, 32768, (1, 1, 9, 6)).astype(np.int16)
TAPS = T((4, 1, 3, 6), "int8", [0.01, 0.02, 0.013, 0.007], data=MORE.integers(-127, 128, (4, 1, 3, 6)))
WIDE_BIAS = T((4,), "int64", [1e-5, 2e-5, 1.3e-5, 7e-6], data=MORE.integers(-90000, 90000, 4))
STEPS = [(1, "i", 1), (2, "i", 1), (0, "b", 1)]
PHOTO = MORE.integers(-128, 128, (1, 5, 7, 3)).astype(np.int8)


def resized(op: str, rows: int, columns: int, options: Sequence[tuple[int, str, int]]) -> tuple[bytes, tuple[Array]]:
    """A resize of `PHOTO`."""
    sizes = T((2,), "int32", data=np.asarray([rows, columns]))
    result = T((1, rows, columns, 3), "int8", 0.1, -11)
    return single(op, [T(PHOTO.shape, "int8", 0.1, -11), sizes], [result], options), (PHOTO,)


def halves(op: str, scales: tuple[float, float, float]) -> tuple[bytes, tuple[Array, ...]]:
    """An operator of two tensors of 16 bits."""
    tensors = [T(SHORT[0].shape, "int16", scale) for scale in scales]
    return single(op, tensors[:2], tensors[2:], [(0, "b", 0)]), (SHORT[0], SHORT[1])


ROWS = RNG.integers(-128, 128, (512, 12)).astype(np.int8)
HALVES = np.concatenate([
    np.nextafter(edge := np.arange(-140, 140, dtype=np.float32) / 8, np.float32(far)) for far in (-99, 99, 0)
] + [edge, np.asarray([0.12499999, -0.12499999, 1e8, -1e8], np.float32)]).reshape(1, -1)  # fmt: skip
CASES = {
    "thresholds": at_thresholds(),
    "add": (single("ADD", [T(PAIR[0].shape, "int8", 0.11, 4), T(PAIR[0].shape, "int8", 0.07, -9)],
                   [T(PAIR[0].shape, "int8", 0.13, 1)], [(0, "b", 1)]), PAIR),
    "constant channel": (single("CONV_2D", [T(IMAGE.shape, "int8", 0.3, 4), MIX, BIASES],
                                [T((1, 5, 6, 4), "int8", 0.4, 7)], [(0, "b", 1), (1, "i", 1), (2, "i", 1)]), (IMAGE,)),
    "mean": (single("MEAN", [T(IMAGE.shape, "int8", 0.3, 4), AXES], [T((1, 8), "int8", 0.2, 7)]), (IMAGE,)),
    "average": (single("AVERAGE_POOL_2D", [T(IMAGE.shape, "int8", 0.3, 4)], [T(IMAGE.shape, "int8", 0.3, 4)], WINDOW),
                (IMAGE,)),
    "logistic": (single("LOGISTIC", [T(EVERY.shape, "int8", 0.09, 4)], [T(EVERY.shape, "int8", 1 / 256, -128)]),
                 (EVERY,)),
    "tanh": (single("TANH", [T(EVERY.shape, "int8", 0.03, 4)], [T(EVERY.shape, "int8", 1 / 128)]), (EVERY,)),
    "leaky": (single("LEAKY_RELU", [T(EVERY.shape, "int8", 0.03, 4)], [T(EVERY.shape, "int8", 0.02, -3)],
                     [(0, "f", 0.1)]), (EVERY,)),
    "hard swish": (single("HARD_SWISH", [T(EVERY.shape, "int8", 0.0613, -33)], [T(EVERY.shape, "int8", 0.0401, 9)]),
                   (EVERY,)),
    "hard swish of steep codes": (single("HARD_SWISH", [T(EVERY.shape, "int8", 0.9)], [T(EVERY.shape, "int8", 0.03)]),
                                  (EVERY,)),
    "softmax": (single("SOFTMAX", [T((65536, 2), "int8", 0.11, 4)], [T((65536, 2), "int8", 1 / 256, -128)], BETA),
                (np.stack(PAIR, -1)[0],)),
    "softmax of 16 bits": (single("SOFTMAX", [T((512, 12), "int8", 0.047)],
                                  [T((512, 12), "int16", 1 / 65536, -32768)], BETA), (ROWS,)),
    "quantise floats": (single("QUANTIZE", [T(HALVES.shape)], [T(HALVES.shape, "int8", 0.25, 4)]), (HALVES,)),
    "mul": (single("MUL", [T(PAIR[0].shape, "int8", 0.0613, -11), T(PAIR[0].shape, "int8", 0.0413, 19)],
                   [T(PAIR[0].shape, "int8", 0.0321, 5)], [(0, "b", 0)]), PAIR),
    "relu": (single("RELU", [T(EVERY.shape, "int8", 0.03, 4)], [T(EVERY.shape, "int8", 0.017, -9)]), (EVERY,)),
    "maximum": (single("MAXIMUM", [T(PAIR[0].shape, "int8", 0.1, 4)] * 2, [T(PAIR[0].shape, "int8", 0.1, 4)]), PAIR),
    "place of the largest": (single("ARG_MAX", [T(IMAGE.shape, "int8", 0.3, 4), T((1,), "int32", data=np.asarray([3]))],
                                    [T((1, 5, 6), "int32")], [(0, "b", 2)]), (IMAGE,)),
    "add of 16 bits": halves("ADD", (0.0011, 0.0007, 0.0013)),
    "sub of 16 bits": halves("SUB", (0.0011, 0.0007, 0.0013)),
    "mul of 16 bits": halves("MUL", (0.0011, 0.0007, 0.0213)),
    "convolution of 16 bits": (single("CONV_2D", [T(WAVE.shape, "int16", 0.001), TAPS, WIDE_BIAS],
                                      [T((1, 1, 7, 4), "int16", 0.0009)], STEPS), (WAVE,)),
    "leaky of 16 bits": (single("LEAKY_RELU", [T(SHORT[0].shape, "int16", 0.0011)],
                                [T(SHORT[0].shape, "int16", 0.0007)], [(0, "f", 0.3)]), (SHORT[0],)),
    "quantise of 16 bits": (single("QUANTIZE", [T(SHORT[0].shape, "int16", 0.0011)],
                                   [T(SHORT[0].shape, "int8", 0.31, -7)]), (SHORT[0],)),
    "bilinear": resized("RESIZE_BILINEAR", 12, 9, [(2, "b", 0), (3, "b", 1)]),
    "bilinear corners": resized("RESIZE_BILINEAR", 9, 3, [(2, "b", 1), (3, "b", 0)]),
    "bilinear twice": resized("RESIZE_BILINEAR", 10, 14, [(2, "b", 0), (3, "b", 0)]),
    "nearest": resized("RESIZE_NEAREST_NEIGHBOR", 12, 9, [(0, "b", 0), (1, "b", 1)]),
    "quantise": (single("QUANTIZE", [T(EVERY.shape, "int8", 0.03, 4)], [T(EVERY.shape, "int8", 0.021, 5)]), (EVERY,)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_codes_are_those_of_the_kernels(case: str) -> None:
    runtime = pytest.importorskip("tflite_micro", reason="tflite-micro is not installed").runtime
    content, inputs = CASES[case]
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 21)
    for index, value in enumerate(inputs):
        interpreter.set_input(value, index)
    interpreter.invoke()
    (codes,) = codes_of(lowered(content), {f"t{index}": value for index, value in enumerate(inputs)})
    assert np.array_equal(codes, interpreter.get_output(0))


def test_codes_of_functions_are_recorded() -> None:
    """Sums over all codes, as the wheel 0.dev20261023182759 gave them."""
    sums = {case: int(codes_of(lowered(CASES[case][0]), {f"t{n}": v for n, v in enumerate(CASES[case][1])})[0]
                      .astype(np.int64).sum()) for case in RECORDED}  # fmt: skip
    assert sums == RECORDED


RECORDED = {
    "thresholds": -255,
    "add": 2053429,
    "constant channel": 981,
    "mean": 87,
    "average": 1244,
    "logistic": -1206,
    "tanh": -1172,
    "leaky": 8342,
    "hard swish": 16082,
    "hard swish of steep codes": 15867,
    "softmax": -39800,
    "softmax of 16 bits": -167772172,
    "quantise floats": 4207,
    "quantise": -294,
    "mul": -19832,
    "relu": 9252,
    "maximum": 2763392,
    "place of the largest": 108,
    "add of 16 bits": -460921,
    "sub of 16 bits": -197797,
    "mul of 16 bits": -253658,
    "convolution of 16 bits": 185159,
    "leaky of 16 bits": 4014927,
    "quantise of 16 bits": -5556,
    "bilinear": -2901,
    "bilinear corners": -959,
    "bilinear twice": -5126,
    "nearest": -1991,
}


def test_the_generated_code_steps_there_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.tflite"
    file.write_bytes(at_thresholds()[0])
    np.savez(tmp_path / "zero.npz", t0=np.full((1, 4), 5, np.int8))
    inputs = ["--inputs", str(tmp_path / "zero.npz")]
    assert main(["run", str(file), "-t", "host", "--numerics", "tflm", *inputs]) == 0
    told = capsys.readouterr().out
    assert "exact_sequence" in told
    assert "codes are those of TensorFlow Lite Micro, onnxruntime computes others" in told


COMPILED = (
    "softmax of 16 bits", "quantise floats", "constant channel", "hard swish", "mul", "sub of 16 bits", "maximum",
    "convolution of 16 bits", "leaky of 16 bits", "bilinear",
)  # fmt: skip


@pytest.mark.parametrize("case", COMPILED)
def test_the_generated_code_computes_what_the_semantics_says(case: str, tmp_path: Path) -> None:
    content, values = CASES[case]
    file = tmp_path / "net.tflite"
    file.write_bytes(content)
    np.savez(tmp_path / "values.npz", **{f"t{index}": value for index, value in enumerate(values)})
    assert main(["run", str(file), "-t", "host", "--numerics", "tflm", "--inputs", str(tmp_path / "values.npz")]) == 0


def test_what_is_not_known_is_refused(tmp_path: Path) -> None:
    content = single("TANH", [T((1, 4), "int8", 0.1)], [T((1, 4), "int8", 0.1)])
    with pytest.raises(UnsupportedError) as caught:
        lowered(content)
    why = "--numerics tflm does not have it: its result is not in the one form that the kernels give"
    assert str(caught.value) == f"node 'TANH_0/Tanh' (Tanh): {why}; use --numerics exact"
    with pytest.raises(UnsupportedError, match="the scale of its result is a 128th of its operand's or less"):
        lowered(single("HARD_SWISH", [T((1, 4), "int8", 1.28)], [T((1, 4), "int8", 0.01)]))
    for scale, zero, length in ((1 / 128, -128, 4), (1 / 256, 0, 4), (1 / 256, -128, 4096)):
        shape = (1, length)
        with pytest.raises(UnsupportedError, match=r"not in the one form|4096 elements or more"):
            lowered(single("SOFTMAX", [T(shape, "int8", 0.1)], [T(shape, "int8", scale, zero)], BETA))
    with pytest.raises(UnsupportedError, match="not all of eight bits, nor all of sixteen"):
        lowered(single("MUL", [T((1, 4), "int8", 0.1)] * 2, [T((1, 4), "int16", 0.2)]))
    other = [T((1, 4, 4, 1), "int8", 0.2)]
    with pytest.raises(UnsupportedError, match="resize int8 images linearly, to one scale"):
        lowered(
            single("RESIZE_BILINEAR", [T((1, 2, 2, 1), "int8", 0.1), T((2,), "int32", data=np.asarray([4, 4]))], other)
        )
    lowered(
        single(
            "TRANSPOSE", [T((1, 4), "int16", 0.1), T((2,), "int32", data=np.asarray([1, 0]))], [T((4, 1), "int16", 0.1)]
        )
    )  # what moves codes does so at any width
    file = tmp_path / "net.tflite"
    file.write_bytes(single("RELU", [T((1, 4))], [T((1, 4))]))
    assert main(["check", str(file), "-t", "host", "--numerics", "tflm"]) == 3
