"""Codes that a file turns to floats and back, copies to another scale, or casts: the operator on codes gives others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tflite_files import G, Op, T, single, written
from tflm_codes import Case, codes_of_case, codes_of_the_wheel, lowered
from tilewright.errors import UnsupportedError
from tilewright.frontend.load import load
from tilewright.model import Array

RNG = np.random.default_rng(7)
MEANING, OTHER = (0.05, 3), (0.11, -7)
BETWEEN = "it is made of floats that were codes before, by arithmetic of floats or to another scale"
COPIED = "the kernels copy codes of another scale as they are"
HALVES = [(0, "b", 1), (1, "i", 2), (2, "i", 2), (3, "i", 2), (4, "i", 2)]
EIGHT, ONE = np.asarray([8, 8], np.int32), np.asarray([1], np.int32)


def in_floats(
    op: str, result: T, options: Sequence[tuple[int, str, Any]] = (), count: int = 1, shape: Sequence[int] = (1, 64),
    constants: Sequence[Array] = (),
) -> Case:  # fmt: skip
    """DEQUANTIZE of each operand, the operator on floats, and QUANTIZE."""
    tensors = [*([T(shape, "int8", *MEANING)] * count), *([T(shape)] * count)]
    tensors += [T(value.shape, str(value.dtype), data=value) for value in constants]
    operators = [Op("DEQUANTIZE", [index], [count + index]) for index in range(count)]
    operators.append(Op(op, range(count, len(tensors)), [len(tensors)], options))
    operators.append(Op("QUANTIZE", [len(tensors)], [len(tensors) + 1]))
    content = written(G([*tensors, T(result.shape), result], operators, range(count), [len(tensors) + 1]))
    return content, [RNG.integers(-128, 128, shape).astype(np.int8) for _ in range(count)]


ROW = T((1, 64), "int8", *OTHER)
COMPUTED: dict[str, Case] = {
    "ADD": in_floats("ADD", ROW, [(0, "b", 0)], 2), "MUL": in_floats("MUL", ROW, [(0, "b", 0)], 2),
    "LOGISTIC": in_floats("LOGISTIC", T((1, 64), "int8", 1 / 256, -128)),
    "SOFTMAX": in_floats("SOFTMAX", T((1, 64), "int8", 1 / 256, -128), [(0, "f", 1.0)]),
    "RELU to another scale": in_floats("RELU", ROW),
    "MAX_POOL_2D to another scale": in_floats("MAX_POOL_2D", T((1, 4, 4, 2), "int8", *OTHER), HALVES, 1, (1, 8, 8, 2)),
    "AVERAGE_POOL_2D": in_floats("AVERAGE_POOL_2D", T((1, 4, 4, 2), "int8", *MEANING), HALVES, 1, (1, 8, 8, 2)),
    "CONV_2D": in_floats("CONV_2D", T((1, 8, 8, 3), "int8", *OTHER), [(1, "i", 1), (2, "i", 1)], 1, (1, 8, 8, 2),
                         [RNG.normal(size=(3, 1, 1, 2)).astype(np.float32), np.zeros(3, np.float32)]),
    "FULLY_CONNECTED": in_floats("FULLY_CONNECTED", T((1, 3), "int8", *OTHER), (), 1, (1, 64),
                                 [RNG.normal(size=(3, 64)).astype(np.float32), np.zeros(3, np.float32)]),
    "CONCATENATION of RELU": in_floats("CONCATENATION", T((1, 128), "int8", *MEANING), [(0, "i", 1), (1, "b", 3)], 2),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_floats_between_codes_are_refused_and_computed_exactly_without_the_contract(name: str) -> None:
    """The codes of the operator on codes differ from those of floats: of 4,096 of RELU to another scale by 540."""
    with pytest.raises(UnsupportedError, match=BETWEEN):
        lowered(COMPUTED[name][0])
    assert load(COMPUTED[name][0]).nodes


MOVED: dict[str, Case] = {
    "RELU": in_floats("RELU", T((1, 64), "int8", *MEANING)),
    "RESHAPE": in_floats("RESHAPE", T((8, 8), "int8", *MEANING), (), 1, (1, 64), [EIGHT]),
    "MAX_POOL_2D": in_floats("MAX_POOL_2D", T((1, 4, 4, 2), "int8", *MEANING), HALVES, 1, (1, 8, 8, 2)),
    "CONCATENATION": in_floats("CONCATENATION", T((1, 128), "int8", *MEANING), [(0, "i", 1)], 2),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_floats_that_are_only_moved_are_the_codes_that_they_were(name: str) -> None:
    assert np.array_equal(codes_of_case(MOVED[name]).reshape(-1), codes_of_the_wheel(MOVED[name]).reshape(-1))


def test_the_largest_of_floats_is_that_of_the_codes() -> None:
    tensors = [T((1, 9), "int8", *MEANING), T((1, 9)), T((), "int32", data=np.asarray(1)), T((1,), "int32"), T((1, 9))]
    start, last = Op("DEQUANTIZE", [0], [1]), Op("ARG_MAX", [1, 2], [3], [(0, "b", 2)])
    lowered(written(G(tensors, [start, last], [0], [3])))
    squared = [start, Op("ABS", [1], [4]), Op("ARG_MAX", [4, 2], [3], [(0, "b", 2)])]
    with pytest.raises(UnsupportedError, match=BETWEEN):
        lowered(written(G(tensors, squared, [0], [3])))


@pytest.mark.parametrize(
    ("op", "shape", "constants", "options"),
    [
        ("RESHAPE", (8, 8), [EIGHT], ()), ("PAD", (1, 66), [np.asarray([[0, 0], [1, 1]], np.int32)], ()),
        ("TRANSPOSE", (64, 1), [np.asarray([1, 0], np.int32)], ()), ("EXPAND_DIMS", (1, 1, 64), [ONE], ()),
        ("STRIDED_SLICE", (1, 3), [np.asarray(part, np.int32) for part in ([0, 1], [1, 4], [1, 1])], ()),
        ("CONCATENATION", (1, 64), [], [(0, "i", 1)]), ("REVERSE_V2", (1, 64), [ONE], ()),
    ],
)  # fmt: skip
def test_codes_that_are_copied_to_another_scale_are_refused(
    op: str, shape: Sequence[int], constants: Sequence[Array], options: Sequence[tuple[int, str, Any]]
) -> None:
    tensors = [T((1, 64), "int8", *MEANING), *(T(np.shape(c), "int32", data=np.asarray(c)) for c in constants)]
    with pytest.raises(UnsupportedError, match=COPIED):
        lowered(single(op, tensors, [T(shape, "int8", *OTHER)], options))
    lowered(single(op, tensors, [T(shape, "int8", MEANING[0] * (1 + 1e-6), MEANING[1])], options))


def test_a_loop_whose_second_turn_reads_floats_of_codes_is_refused() -> None:
    """The first turn quantises an input of floats, the second the floats of other codes."""
    counter, one, three = T((), "int32"), T((), "int32", data=np.asarray(1)), T((), "int32", data=np.asarray(3))
    carried = [counter, T((1, 4)), T((1, 4), "int8", *OTHER)]
    going = G([*carried, three, T((), "bool")], [Op("LESS", [0, 3], [4])], [0, 1, 2], [4])
    turn = G([*carried, one, counter, *carried[1:]],
             [Op("ADD", [0, 3], [4]), Op("QUANTIZE", [1], [6]), Op("DEQUANTIZE", [2], [5])],
             [0, 1, 2], [4, 5, 6])  # fmt: skip
    zero = T((), "int32", data=np.asarray(0))
    outer = G([zero, *carried[1:], *carried], [Op("WHILE", [0, 1, 2], [3, 4, 5], [(0, "i", 1), (1, "i", 2)])],
              [1, 2], [5])  # fmt: skip
    with pytest.raises(UnsupportedError, match=BETWEEN):
        lowered(written(outer, going, turn))


def test_a_branch_knows_which_floats_were_codes() -> None:
    then = G(
        [T((1, 64)), T((1, 64), "int8", *OTHER), T((1, 64))],
        [Op("QUANTIZE", [0], [1]), Op("DEQUANTIZE", [1], [2])],
        [0],
        [2],
    )
    outer = G([T((), "bool"), T((1, 64), "int8", *MEANING), T((1, 64)), T((1, 64))],
              [Op("DEQUANTIZE", [1], [2]), Op("IF", [0, 2], [3], [(0, "i", 1), (1, "i", 1)])], [0, 1], [3])  # fmt: skip
    with pytest.raises(UnsupportedError, match=BETWEEN):
        lowered(written(outer, then))


@pytest.mark.parametrize("kinds", [("int8", "float32"), ("int8", "int32"), ("int32", "int8")])
def test_a_cast_takes_codes_for_the_numbers_that_they_are(kinds: tuple[str, str]) -> None:
    tensors = [T((1, 64), kind, *MEANING) if kind == "int8" else T((1, 64), kind) for kind in kinds]
    case = single("CAST", tensors[:1], tensors[1:]), [RNG.integers(-128, 128, (1, 64)).astype(kinds[0])]
    assert np.array_equal(codes_of_case(case), case[1][0].astype(kinds[1]))
    assert np.array_equal(codes_of_case(case), codes_of_the_wheel(case))
