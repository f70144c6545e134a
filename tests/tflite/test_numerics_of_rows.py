"""`--numerics tflm` over rows of codes: logarithms of shares, lengths, running sums, quotients, wide products."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_files import T, single
from tflm_codes import codes_of_case, codes_of_the_wheel, lowered, weighed
from tilewright.cli import main
from tilewright.errors import UnsupportedError
from tilewright.model import Array
from tilewright.ops.quantised.log_shares import logarithm
from tilewright.ops.quantised.quotient_twice import Quotient

RNG = np.random.default_rng(77)
EVERY = np.arange(-128, 128)
NUMBERS, DIVISORS = (part.reshape(1, -1).astype(np.int8) for part in np.meshgrid(EVERY, EVERY[EVERY != 5]))
ROWS = RNG.integers(-128, 128, (300, 17)).astype(np.int8)
ROWS[0], ROWS[1], ROWS[2, 1:] = 5, 6, 5
FLAT = np.concatenate([ROWS[:20], (ROWS // 8), np.full((1, 17), -128, np.int8)]).astype(np.int8)
PAIRS = np.stack([part.reshape(-1) for part in np.meshgrid(EVERY, EVERY)], -1).astype(np.int8)
RUNS = RNG.integers(-128, 128, (6, 12, 9)).astype(np.int8)
WIDE = RNG.integers(-32768, 32768, (200, 11)).astype(np.int16)
WIDE[:100] //= 64
ROOTS = np.concatenate([np.arange(0, 2000), np.arange(2000, 32768, 7), [32767]]).astype(np.int16).reshape(1, -1)
LEFT = RNG.integers(-32768, 32768, (2, 5, 40)).astype(np.int16)
RIGHT = RNG.integers(-32768, 32768, (2, 40, 3)).astype(np.int16)
TURNED = np.ascontiguousarray(RIGHT.transpose(0, 2, 1))
Case = tuple[bytes, tuple[Array, ...]]


def rows(op: str, given: Array, scale: tuple[float, int], result: tuple[float, int]) -> Case:
    """An operator over the last axis."""
    kind = given.dtype.name
    known: dict[str, list[tuple[int, str, Any]]] = {"SOFTMAX": [(0, "f", 1.0)], "L2_NORMALIZATION": [(0, "b", 0)]}
    return single(op, [T(given.shape, kind, *scale)], [T(given.shape, kind, *result)], known.get(op, [])), (given,)


def running(axis: int, exclusive: int, reverse: int, zero: int = 5) -> Case:
    """Running sums of `RUNS`."""
    tensors = [T(RUNS.shape, "int8", 0.1, zero), T((), "int32", data=np.asarray(axis))]
    flags = [(0, "b", exclusive), (1, "b", reverse)]
    return single("CUMSUM", tensors, [T(RUNS.shape, "int8", 0.3, -7)], flags), (RUNS,)


def quotients(scales: Sequence[float], zero: int = 5, divisors: Array = DIVISORS) -> Case:
    """All numbers over all divisors that are not 0, or over others."""
    tensors = [T(NUMBERS.shape, "int8", scales[0], -3), T(NUMBERS.shape, "int8", scales[1], zero)]
    return single("DIV", tensors, [T(NUMBERS.shape, "int8", scales[2], 9)], [(0, "b", 0)]), (NUMBERS, divisors)


def product(right: Array, turned: int = 0) -> Case:
    """Two tensors of 16 bits, multiplied."""
    tensors = [T(LEFT.shape, "int16", 0.001), T(right.shape, "int16", 0.002)]
    flags = [(0, "b", 0), (1, "b", turned)]
    return single("BATCH_MATMUL", tensors, [T((2, 5, 3), "int16", 4.3)], flags), (LEFT, right)


def constant_product() -> Case:
    """The same with the second a constant."""
    tensors = [T(LEFT.shape, "int16", 0.001), T(RIGHT.shape, "int16", 0.002, data=RIGHT)]
    result = [T((2, 5, 3), "int16", 4.3)]
    return single("BATCH_MATMUL", tensors, result, [(0, "b", 0), (1, "b", 0)]), (LEFT,)


CASES: dict[str, Case] = {
    "logarithms of shares": rows("LOG_SOFTMAX", ROWS, (0.047, 4), (1 / 16, 127)),
    "logarithms of shares of pairs": rows("LOG_SOFTMAX", PAIRS, (0.11, 4), (1 / 16, 127)),
    "logarithms of steep codes": rows("LOG_SOFTMAX", FLAT, (0.9, 4), (1 / 16, 127)),
    "unit rows": rows("L2_NORMALIZATION", ROWS, (0.1, 5), (1 / 128, 0)),
    "unit rows of one": rows("L2_NORMALIZATION", ROWS.reshape(-1, 1), (0.1, -128), (1 / 128, 0)),
    "running sums": running(1, 0, 0),
    "running sums before": running(2, 1, 0),
    "running sums backwards": running(1, 1, 1),
    "running sums without a zero point": running(2, 0, 1, 0),
    "quotients": quotients((0.11, 0.09, 0.017)),
    "quotients of large steps": quotients((0.9, 0.01, 0.3)),
    "quotients by positive codes": quotients((0.7, 0.15, 0.0011)),
    "softmax of codes of 16 bits": rows("SOFTMAX", WIDE, (0.0003, 0), (2.0**-15, 0)),
    "softmax of steep codes of 16 bits": rows("SOFTMAX", WIDE, (0.01, 0), (2.0**-15, 0)),
    "inverse roots of 16 bits": rows("RSQRT", ROOTS, (0.001, 0), (0.01, 0)),
    "inverse roots in large steps": rows("RSQRT", ROOTS, (1e-4, 0), (3.0, 0)),
    "products of 16 bits": product(RIGHT),
    "products of 16 bits, turned": product(TURNED, 1),
    "products of 16 bits by a constant": constant_product(),
}


@pytest.mark.parametrize("case", CASES)
def test_codes_are_those_of_the_kernels(case: str) -> None:
    assert np.array_equal(codes_of_case(CASES[case]), codes_of_the_wheel(CASES[case]))


def test_codes_are_recorded() -> None:
    """As the wheel 0.dev20261023182759 gave them."""
    assert {name: weighed(codes_of_case(case)) for name, case in CASES.items()} == RECORDED


@pytest.mark.parametrize("case", CASES)
def test_the_generated_code_computes_what_the_semantics_says(case: str, tmp_path: Path) -> None:
    content, values = CASES[case]
    file = tmp_path / "net.tflite"
    file.write_bytes(content)
    named: dict[str, Any] = {f"t{index}": value for index, value in enumerate(values)}
    np.savez(tmp_path / "values.npz", **named)
    assert main(["run", str(file), "-t", "host", "--numerics", "tflm", "--inputs", str(tmp_path / "values.npz")]) == 0


def test_logarithms_are_right_to_twenty_bits() -> None:
    totals = np.concatenate([np.arange(1 << 19, (1 << 19) + 500), RNG.integers(1 << 19, 1 << 31, 500)])
    assert np.abs(logarithm(totals) / 2.0**26 - np.log(totals / 2.0**19)).max() < 2e-6


def test_quotients_by_zero_are_the_ends(tmp_path: Path) -> None:
    content, values = quotients((0.11, 0.09, 0.017), divisors=np.full_like(NUMBERS, 5))
    (tmp_path / "net.tflite").write_bytes(content)
    np.savez(tmp_path / "values.npz", allow_pickle=False, **{f"t{i}": value for i, value in enumerate(values)})
    words = ["run", str(tmp_path / "net.tflite"), "-t", "host", "--numerics", "tflm"]
    assert main([*words, "--inputs", str(tmp_path / "values.npz")]) == 0
    zeros = np.zeros(3, np.int64)
    assert np.sign(Quotient.of(0.1, 0.1, 0.01).apply(np.asarray([-3, 0, 7]), zeros)).tolist() == [-1, 0, 1]


BYTES, SHORT, FLOATS = T((1, 8), "int8", 0.1), T((1, 8), "int16", 0.1), T((1, 8))
REFUSED = {
    "the kernels take no codes but int8 here": [
        single("LOG_SOFTMAX", [SHORT], [SHORT]), single("L2_NORMALIZATION", [SHORT], [SHORT], [(0, "b", 0)]),
    ],
    "its result is not in the one form that the kernels give": [
        single("LOG_SOFTMAX", [BYTES], [BYTES]), single("L2_NORMALIZATION", [BYTES], [BYTES], [(0, "b", 0)]),
        single("RSQRT", [SHORT], [T((1, 8), "int16", 0.1, 3)]), single("SOFTMAX", [SHORT], [SHORT], [(0, "f", 1.0)]),
    ],
    "its sums leave 32 bits": [
        single("CUMSUM", [T((1, 40), "int8", 0.1), T((), "int32", data=np.asarray(1))], [T((1, 40), "int8", 0.1)]),
        single("BATCH_MATMUL", [SHORT, T((8, 1), "int16", 0.1)], [T((1, 1), "int16", 1e-6)]),
    ],
    "its scales are further apart than the kernels take": [
        single("CUMSUM", [BYTES, T((), "int32", data=np.asarray(1))], [T((1, 8), "int8", 1e-8)]),
        single("RSQRT", [T((1, 8), "int16", 1e-9)], [T((1, 8), "int16", 1e-6)]),
    ],
    "its operands and its result are not all int8": [single("DIV", [SHORT, SHORT], [SHORT], [(0, "b", 0)])],
    "shift some of its quotients by less than no bit or more than 31": [
        single("DIV", [BYTES, BYTES], [BYTES], [(0, "b", 0)])
    ],
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_the_kernels_refuse_or_leave_open_is_refused(why: str) -> None:
    for content in REFUSED[why]:
        with pytest.raises(UnsupportedError, match=why):
            lowered(content)


RECORDED = {
    "logarithms of shares": 7165910,
    "logarithms of shares of pairs": 367080364,
    "logarithms of steep codes": -13015745,
    "unit rows": -664873,
    "unit rows of one": 31459932,
    "running sums": -599770,
    "running sums before": -576393,
    "running sums backwards": -912753,
    "running sums without a zero point": -474160,
    "quotients": 20119303,
    "quotients of large steps": 4572291,
    "quotients by positive codes": -1475370,
    "softmax of codes of 16 bits": 318538437,
    "softmax of steep codes of 16 bits": 317940580,
    "inverse roots of 16 bits": 18696492,
    "inverse roots in large steps": 186490,
    "products of 16 bits": -182560,
    "products of 16 bits, turned": -182560,
    "products of 16 bits by a constant": -182560,
}
