"""Moving operators refuse what contradicts itself, is too large or is not known, with the reason; never otherwise."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ops.building import call, evaluated, operands, operator
from ops.moving import LOOKED_UP, REAL, WHOLE, ints
from tilewright.errors import ModelError, TilewrightError, UnsupportedNode, UsageError
from tilewright.model import Array, Attribute, DType, Tensor
from tilewright.ops.operator import Call, Kind
from tilewright.ops.registry import find

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def use(*args: Any, **attributes: Any) -> Arguments:
    return args, attributes


X = (2, 3, 4)
IMAGE = (1, 4, 6, 6)
INVALID: list[tuple[str, Arguments]] = [
    ("24 elements of (2, 3, 4) do not divide into (5, -1)", use("Reshape", X, ints((5, -1)))),
    ("(2, 3, 4) has 24 elements, the new shape (2, 3) has 6", use("Reshape", X, ints((2, 3)))),
    ("may hold one -1 and nothing else below 0", use("Reshape", X, ints((-1, -1)))),
    ("copies an axis that (2, 3, 4) does not have", use("Reshape", X, ints((2, 12, 1, 0)))),
    ("with allowzero the new shape may not hold both 0 and -1", use("Reshape", X, ints((0, -1)), allowzero=1)),
    ("axis 5 is outside the rank 3", use("Flatten", X, axis=5)),
    ("axis 1 of (2, 3, 4) is not 1", use("Squeeze", X, ints((1,)))),
    ("name an axis twice", use("Unsqueeze", X, ints((0, -5)))),
    ("perm (0, 1) does not name every axis of (2, 3, 4)", use("Transpose", X, perm=(0, 1))),
    ("'t1' (2, 4, 4) does not fit 't0' (2, 3, 4)", use("Concat", X, (2, 4, 4), axis=0)),
    ("split (1, 1) does not cover axis 1 of (2, 3, 4) with 2 outputs",
     use("Split", X, ints((1, 1)), axis=1, outputs=2)),
    ("a step is 0", use("Slice", X, ints((0,)), ints((1,)), ints((0,)), ints((0,)))),
    ("differ in length", use("Slice", X, ints((0, 0)), ints((1,)))),
    ("starts must be a vector of integers, not float32 of shape (1,)", use("Slice", X, np.zeros(1, "f"), ints((1,)))),
    ("5 pads are given for 3 axes", use("Pad", X, ints((0,) * 5))),
    ("cut more than (2, 3, 4) has", use("Pad", X, ints((-2, 0, 0, -1, 0, 0)))),
    ("mode 'mirror' is none of constant, reflect, edge, wrap", use("Pad", X, ints((0,) * 6), mode="mirror")),
    ("needs an element to repeat", use("Pad", (0, 2), ints((1, 0, 0, 0)), mode="edge")),
    ("shapes (2, 3, 4), (5, 4) do not broadcast", use("Expand", X, ints((5, 4)))),
    ("repeats (1, 2) do not fit the shape (2, 3, 4)", use("Tile", X, ints((1, 2)))),
    ("an index lies outside [-3, 3)", use("Gather", X, ints((3,)), axis=1)),
    ("indices 't1' must be int32 or int64, not f32", use("Gather", X, (2,))),
    ("indices of 4 places do not fit data of shape (2, 3, 4)", use("GatherND", X, ints((0, 0, 0, 0)))),
    ("reduction 'sub' is none of none, add, mul, max, min",
     use("ScatterElements", X, ints((0,)).reshape(1, 1, 1), (1, 1, 1), reduction="sub")),
    ("updates (3,) should have the shape (2, 4)", use("ScatterND", X, ints((0, 0, 1, 1)).reshape(2, 2), (3,))),
    ("99 is not an element type", use("Cast", X, to=99)),
    ("f32 and f64 differ in bits", use("BitCast", X, to=11)),
    ("axis 1 of (2, 0) is empty", use("ArgMax", (2, 0), axis=1)),
    ("6 channels do not divide by 2 x 2", use("DepthToSpace", (1, 6, 2, 2), blocksize=2)),
    ("5 x 6 does not divide by the block size 2", use("SpaceToDepth", (1, 1, 5, 6), blocksize=2)),
    ("DepthToSpace needs 4 axes", use("DepthToSpace", X, blocksize=2)),
    ("k = 9 does not fit axis 2 of (2, 3, 4)", use("TopK", X, ints((9,)), outputs=2)),
    ("a range from 0 to 5 by 0", use("Range", np.asarray(0), np.asarray(5), np.asarray(0))),
    ("EyeLike needs 1 or 2 axes, not (2, 3, 4)", use("EyeLike", X)),
    ("the value must be one element, not 2", use("ConstantOfShape", ints((2,)), value=np.zeros(2, "f"))),
    ("exactly one of scales and sizes must be given", use("Resize", IMAGE)),
    ("must be 4 positive numbers", use("Resize", IMAGE, None, np.asarray((1, 1, 0, 2), "f"))),
    ("mode 'area' is none of nearest, linear, cubic", use("Resize", IMAGE, None, None, ints(IMAGE), mode="area")),
    ("names 1 operands, there are 2", use("Einsum", X, X, equation="ijk->i")),
    ("'ijkl' does not fit the shape (2, 3, 4)", use("Einsum", X, equation="ijkl")),
    ("the result 'iz' repeats letters or names some that no operand has", use("Einsum", X, equation="ijk->iz")),
    ("holds other characters than letters", use("Einsum", X, equation="i%s->i")),
    ("'t1' has the shape (1, 8, 3), expected (1, 8, 5)", use("LSTM", (3, 1, 5), (1, 8, 3), (1, 8, 2), hidden_size=2)),
    ("direction 'up' is none of forward, reverse, bidirectional",
     use("GRU", (3, 1, 5), (1, 6, 5), (1, 6, 2), direction="up")),
    ("it needs 1 activations", use("RNN", (3, 1, 5), (1, 2, 5), (1, 2, 2), activations=("Tanh", "Relu"))),
    ("activation 'Sine' is none of", use("RNN", (3, 1, 5), (1, 2, 5), (1, 2, 2), activations=("Sine",))),
    ("Q (1, 3, 4, 8), K (1, 2, 4, 8) and V (1, 2, 4, 8) do not fit",
     use("Attention", (1, 3, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8), opset=23)),
    ("shapes (3, 7), (1, 2, 3, 3) do not broadcast",
     use("Attention", (1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), (3, 7), opset=23)),
    ("rotary_embedding_dim 3 does not fit heads of 4",
     use("RotaryEmbedding", (1, 2, 3, 4), (1, 3, 2), (1, 3, 2), rotary_embedding_dim=3)),
    ("a grid of shape (1, 2, 2, 3) does not fit an image of shape (1, 4, 6, 6)",
     use("GridSample", IMAGE, (1, 2, 2, 3))),
    ("does not hold (5, 5) blocks of (2, 2)", use("Col2Im", (1, 4, 9), ints((6, 6)), ints((2, 2)))),
    ("the last two axes of (2, 3, 4) are no square", use("Det", X)),
    ("batch_axis 0 and time_axis 2 must be 0 and 1",
     use("ReverseSequence", X, ints((1, 1)), batch_axis=0, time_axis=2)),
]  # fmt: skip
UNSUPPORTED: list[tuple[str, Arguments]] = [
    ("the element type float8e4m3fn is not supported", use("Cast", X, to=17)),
    ("is larger than 2 GiB", use("Expand", X, ints((1 << 30, 2, 3, 4)))),
    ("is larger than 2 GiB", use("ConstantOfShape", ints((1 << 40, 0)))),
    ("is larger than 2 GiB", use("Pad", X, ints((1 << 40,) + (0,) * 5))),
    ("is larger than 2 GiB", use("Range", np.asarray(0.0), np.asarray(1e30), np.asarray(0.5))),
    ("1099511627776 products are too many", use("Einsum", (1 << 20,), (1 << 20,), equation="i,j->ij")),
    ("its output shape depends on the values of 't0', which is computed at run time", use("NonZero", X)),
    ("its output shape depends on the values of 't1'", use("Compress", X, (4,), axis=2)),
    ("its output shape depends on the values of 't0'", use("Unique", X)),
    ("its output shape depends on the values of 't0'", use("NonMaxSuppression", (1, 5, 4), (1, 2, 5))),
    ("the shape is not known at compile time", use("Expand", X, (3,))),
    ("repeats is not known at compile time", use("Tile", X, (3,))),
    ("k is not known at compile time", use("TopK", X, (1,), outputs=2)),
    ("training_mode is true: random numbers are drawn", use("Dropout", X, None, np.asarray(True))),
    ("a constant by 'sparse_value'", use("Constant", sparse_value=np.zeros(1))),
]


@pytest.mark.parametrize(("why", "arguments"), INVALID)
def test_a_contradiction_is_named(why: str, arguments: Arguments) -> None:
    with pytest.raises(ModelError) as refusal:
        call(*arguments[0], **arguments[1])
    assert why in str(refusal.value)
    assert "node 'it'" in str(refusal.value)


@pytest.mark.parametrize(("why", "arguments"), UNSUPPORTED)
def test_what_is_not_computed_is_named(why: str, arguments: Arguments) -> None:
    with pytest.raises(UnsupportedNode) as refusal:
        call(*arguments[0], **arguments[1])
    assert why in str(refusal.value)
    assert refusal.value.where.node == "it"


def test_indices_of_the_run_time_are_checked_when_they_are_known() -> None:
    made = call("Gather", (3,), (2,), dtype=DType.I64)
    arrays: tuple[Array, ...] = (ints((5, 6, 7)), ints((1, 3)))
    with pytest.raises(
        UsageError, match=r"the inputs do not suit node 'it' \(Gather\): an index lies outside \[-3, 3\)"
    ):
        evaluated(made, arrays)


def test_views_say_that_they_are_views() -> None:
    for name in ("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"):
        assert operator(name).kind is Kind.VIEW
    for name in ("LSTM", "GRU", "RNN"):
        assert operator(name).kind is Kind.SEQUENTIAL


def test_what_is_out_of_range_saturates_or_wraps_as_documented() -> None:
    x = np.asarray([1e30, -1e30, np.nan, 3e9, -3e9, 300.7, -1.5], np.float32)
    for number, expected in (
        (6, [2147483647, -2147483648, 0, 2147483647, -2147483648, 300, -1]),
        (7, [2**63 - 1, -(2**63), 0, 3000000000, -3000000000, 300, -1]),
        (12, [4294967295, 0, 0, 3000000000, 0, 300, 0]),
        (2, [255, 0, 0, 255, 0, 44, 255]),
    ):
        made = call("Cast", x.shape, to=number)
        assert next(iter(evaluated(made, (x,)).values())).tolist() == expected


def test_a_mean_of_integers_truncates_towards_zero() -> None:
    made = call("ReduceMean", (3,), dtype=DType.I32, keepdims=0)
    assert evaluated(made, (np.asarray([-1, -2, -2], np.int32),))["y"] == -1


def test_equal_values_keep_their_order_in_top_k() -> None:
    made = call("TopK", (5,), ints((3,)), outputs=2)
    found = evaluated(made, (np.asarray([1, 2, 2, 0, 2], np.float32), ints((3,))))
    assert found["indices"].tolist() == [1, 2, 4]


NOISE: tuple[Attribute, ...] = (
    -1, 0, 1, 7, 1 << 40, -(1 << 63), 0.5, float("nan"), float("inf"), "x", b"x", (), (1,), (0, 0), (-1, -1),
    (1 << 40,), (1.5,), ("a",), np.zeros(0, np.float32), np.zeros((2, 2), np.int64),
)  # fmt: skip


def spoil(made: Call, r: random.Random) -> Call:
    """The call with one attribute, shape, type or constant replaced by noise; its outputs are not inferred."""
    inputs, constants, attributes = list(made.inputs), dict(made.constants), dict(made.node.attributes)
    what, index = r.choice(("attribute", "shape", "type", "constant", "unknown")), r.randrange(max(len(inputs), 1))
    tensor = inputs[index] if inputs else None
    if what == "attribute" or tensor is None:
        attributes[r.choice([*attributes, "axis", "axes", "mode"])] = r.choice(NOISE)
        return replace(made, node=replace(made.node, attributes=attributes), outputs=(), constants=constants)
    constants.pop(index, None)
    if what == "shape":
        inputs[index] = replace(tensor, shape=tuple(r.choice((0, 1, 2, 3, 1 << 33)) for _ in range(r.randint(0, 4))))
    elif what == "type":
        inputs[index] = replace(tensor, dtype=r.choice(list(DType)))
    elif what == "constant":
        choices = (-1, 0, 1, 3, 1 << 40, -(1 << 63), float("nan"), float("inf"))
        with np.errstate(all="ignore"):
            value: Array = np.asarray([r.choice(choices) for _ in range(r.randint(0, 4))], np.float64)
            value = np.nan_to_num(value).clip(-(2.0**62), 2.0**62).astype(r.choice(("int64", "float32", "bool")))
        inputs[index], constants[index] = Tensor("t", DType.of(value.dtype), value.shape), value
    node = replace(made.node, attributes=attributes)
    return replace(made, node=node, inputs=tuple(inputs), outputs=(), constants=constants)


@pytest.mark.parametrize("family", [*WHOLE, *REAL, *LOOKED_UP])
def test_nonsense_is_refused_or_bounded_and_nothing_else(family: str) -> None:
    r = random.Random(family)
    build = {**WHOLE, **REAL, **LOOKED_UP}[family]
    for _ in range(60):
        spoilt = spoil(build(r), r)
        found = find(spoilt.node.op)
        assert found is not None
        try:
            kinds = found.infer(spoilt)
        except TilewrightError:
            continue
        for kind in kinds:
            assert Tensor("", kind.dtype, kind.shape).size_bytes <= 1 << 31


def test_a_call_that_is_sound_again_is_computed() -> None:
    made = call("Resize", (1, 1, 2, 2), None, None, ints((1, 1, 4, 4)))
    assert evaluated(made, operands(made))["y"].shape == (1, 1, 4, 4)
