"""Normalisation by statistics of the tensor itself, with scale and bias: Layer, RMS, Instance and Group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops import norm_gradients
from tilewright.ops.check import broadcast_shape, given, one_axis, ranked, shaped, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Normalises
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import body, combine, finish
from tilewright.ops.index.build import axes, broadcast, operand
from tilewright.ops.index.nest import Access, Nest, Space, Tensor
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch


def _epsilon(call: Call) -> float:
    return call.real("epsilon", 1e-5)


# ---------------------------------------------------------------------------- Layer and RMS, over trailing axes
def _first_axis(call: Call) -> int:
    return one_axis(call, len(ranked(call, 0, 1)), -1)


def _fits(call: Call, index: int) -> None:
    tensor = call.optional(index)
    if tensor is not None and broadcast_shape(call, call.shape(0), tensor.shape) != call.shape(0):
        raise call.invalid(f"'{tensor.name}' of shape {list(tensor.shape)} does not fit {list(call.shape(0))}")


def _stash(call: Call) -> DType:
    kind = {1: DType.F32, 10: DType.F16, 11: DType.F64}.get(call.integer("stash_type", 1))
    if kind is None:
        raise call.unsupported(f"attribute 'stash_type' is {call.integer('stash_type', 1)}")
    return kind


def _statistics_shape(call: Call) -> Shape:
    shape, axis = call.shape(0), _first_axis(call)
    return (*shape[:axis], *(1,) * (len(shape) - axis))


def _infer_layer(call: Call) -> tuple[TensorType, ...]:
    x = typed(call, 0)
    _first_axis(call)
    for index in (1, 2):
        _fits(call, index)
    statistics = TensorType(_stash(call), _statistics_shape(call))
    return (TensorType(x.dtype, x.shape), *(statistics,) * (len(call.node.outputs) - 1))


def _stashed(call: Call, x: Array) -> Array:
    return x.astype(np.result_type(x.dtype, np.float32))


def _evaluate_layer(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, scale, bias = (*arrays, None)[:3]
    original = given(x, call, 0)
    wide, over = _stashed(call, original), tuple(range(_first_axis(call), original.ndim))
    mean = wide.mean(axis=over, keepdims=True)
    difference = wide - mean
    inverse = 1 / np.sqrt(np.square(difference).mean(axis=over, keepdims=True) + _epsilon(call))
    result = difference * inverse * widened(given(scale, call, 1))
    result = result if bias is None else result + widened(bias)
    kinds = [tensor.dtype.numpy for tensor in call.outputs]
    results = (clamped(call, result), mean, inverse)
    return tuple(np.asarray(value).astype(kind) for value, kind in zip(results, kinds, strict=False))


def _evaluate_rms(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    original = given(arrays[0], call, 0)
    wide, over = _stashed(call, original), tuple(range(_first_axis(call), original.ndim))
    inverse = 1 / np.sqrt(np.square(wide).mean(axis=over, keepdims=True) + _epsilon(call))
    result = wide * inverse * widened(given(arrays[1], call, 1))
    return (clamped(call, result).astype(original.dtype),)


@dataclass(frozen=True)
class _Rows:
    """Loops over a tensor whose statistics drop some axes."""

    space: Space
    x: Access
    statistics: tuple[Affine | int, ...]
    shape: Shape

    def tensor(self, name: str, dtype: DType = DType.F32) -> Access:
        """A statistic of this name."""
        return Tensor(name, self.shape, dtype)[*self.statistics]


def _trailing(call: Call) -> _Rows:
    x, axis = operand(call.tensor(0), "x"), _first_axis(call)
    space = Space.of(**axes("i", x.shape))
    loops = list(space)
    leading: tuple[Affine | int, ...] = tuple(loop if a < axis else 0 for a, loop in enumerate(loops))
    return _Rows(space, x[*loops], leading, _statistics_shape(call))


def _mean_and_variance(rows: _Rows, mean: Access, variance: Access) -> tuple[Nest, Nest]:
    return (
        Nest(rows.space, mean, (rows.x,), body("copy"), combine("add"), finish("mean")),
        Nest(rows.space, variance, (rows.x, mean), body("sq_diff"), combine("add"), finish("mean")),
    )


def _layer_nests(call: Call) -> tuple[Nest, ...]:
    """Mean, variance, then every element; mean and inverse deviation where they are asked for."""
    (kind, *_), rows = _infer_layer(call), _trailing(call)
    wide = DType.F64 if kind.dtype is DType.F64 else DType.F32
    outputs = [*call.node.outputs, "", ""]
    mean = rows.tensor("mean", _stash(call) if outputs[1] else wide)
    variance = rows.tensor("variance", wide)
    loops = list(rows.space)
    given_names = [(call.optional(i), name) for i, name in ((1, "scale"), (2, "bias"))]
    parameters = tuple(broadcast(operand(t, name), loops) for t, name in given_names if t is not None)
    chosen = body("normalise", _epsilon(call))
    chain = [
        *_mean_and_variance(rows, mean, variance),
        Nest(rows.space, Tensor("y", kind.shape, kind.dtype)[*loops], (rows.x, mean, variance, *parameters), chosen),
    ]
    if outputs[2]:
        inverse = rows.tensor("inverse_deviation", _stash(call))
        ins, last = (rows.x, mean), finish("inverse_root", _epsilon(call))
        chain.append(Nest(rows.space, inverse, ins, body("sq_diff"), combine("add"), last))
    return tuple(chain)


def _infer_rms(call: Call) -> tuple[TensorType, ...]:
    x = typed(call, 0)
    _first_axis(call)
    _fits(call, 1)
    return (TensorType(x.dtype, x.shape),)


def _rms_nests(call: Call) -> tuple[Nest, ...]:
    """Mean of squares, then every element."""
    (kind,), rows = _infer_rms(call), _trailing(call)
    wide = DType.F64 if kind.dtype is DType.F64 else DType.F32
    square, loops = rows.tensor("mean_square", wide), list(rows.space)
    scale = broadcast(operand(call.tensor(1), "scale"), loops)
    y = Tensor("y", kind.shape, kind.dtype)[*loops]
    return (
        Nest(rows.space, square, (rows.x,), body("square"), combine("add"), finish("mean")),
        Nest(rows.space, y, (rows.x, square, scale), body("rms_scale", _epsilon(call))),
    )


# ------------------------------------------------------------------- Instance and Group, over groups of channels
def _groups(call: Call) -> int:
    shape = ranked(call, 0, 3 if call.node.op == "InstanceNormalization" else 2)
    groups = shape[1] if call.node.op == "InstanceNormalization" else call.integer("num_groups")
    if groups < 1 or shape[1] % groups:
        raise call.invalid(f"{shape[1]} channels cannot be divided into {groups} groups")
    return groups


def _parameters_per_group(call: Call) -> bool:
    """Before opset 21 GroupNormalization had a scale per group."""
    return call.node.op == "GroupNormalization" and call.opset < 21


def _infer_group(call: Call) -> tuple[TensorType, ...]:
    x, groups = typed(call, 0), _groups(call)
    count = groups if _parameters_per_group(call) else x.shape[1]
    for index, name in ((1, "scale"), (2, "bias")):
        call.tensor(index)
        shaped(call, index, (count,), name)
    return (TensorType(x.dtype, x.shape),)


def _evaluate_group(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, groups = given(arrays[0], call, 0), _groups(call)
    parts = _stashed(call, x).reshape(x.shape[0], groups, -1)
    difference = parts - parts.mean(axis=2, keepdims=True)
    inverse = 1 / np.sqrt(np.square(difference).mean(axis=2, keepdims=True) + _epsilon(call))
    normal = (difference * inverse).reshape(x.shape)
    repeat = x.shape[1] // groups if _parameters_per_group(call) else 1
    along = (-1, *(1,) * (x.ndim - 2))
    scale, bias = (np.repeat(widened(given(arrays[i], call, i)), repeat).reshape(along) for i in (1, 2))
    return (clamped(call, normal * scale + bias).astype(x.dtype),)


def _group_nests(call: Call) -> tuple[Nest, ...]:
    """Mean and variance per image and group `g`, then every element; `c` runs inside a group."""
    (kind,), groups = _infer_group(call), _groups(call)
    x = operand(call.tensor(0), "x")
    wide, each = DType.F64 if kind.dtype is DType.F64 else DType.F32, x.shape[1] // groups
    n, g, c, *rest = space = Space.of(n=x.shape[0], g=groups, c=each, **axes("i", x.shape[2:]))
    channel = g * each + c
    rows = _Rows(space, x[n, channel, *rest], (n, g), (x.shape[0], groups))
    mean, variance = rows.tensor("mean", wide), rows.tensor("variance", wide)
    place = g if _parameters_per_group(call) else channel
    parameters = (operand(call.tensor(1), "scale")[place], operand(call.tensor(2), "bias")[place])
    y = Tensor("y", kind.shape, kind.dtype)[n, channel, *rest]
    chosen = body("normalise", _epsilon(call))
    return (
        *_mean_and_variance(rows, mean, variance),
        Nest(space, y, (rows.x, mean, variance, *parameters), chosen),
    )


AFFINE = ("x", "scale", "bias")

OPERATORS = (
    Operator(
        "LayerNormalization",
        _infer_layer,
        _evaluate_layer,
        AFFINE,
        ("y", "mean", "inverse_deviation"),
        _layer_nests,
        torch=Torch(writer="layer_norm", layer=True),
        sketch="layer_norm",
        required_results=1,
        codes=Normalises(centred=True),
        gradient=lambda a, index: norm_gradients.layer_norm(a, index, _first_axis(a.call)),
    ),
    Operator(
        "RMSNormalization",
        _infer_rms,
        _evaluate_rms,
        ("x", "scale"),
        nests=_rms_nests,
        torch=Torch(writer="rms_norm", layer=True),
        sketch="layer_norm",
        codes=Normalises(centred=False),
        gradient=lambda a, index: norm_gradients.rms_norm(a, index, _first_axis(a.call)),
    ),
    Operator(
        "InstanceNormalization",
        _infer_group,
        _evaluate_group,
        AFFINE,
        nests=_group_nests,
        torch=Torch(writer="instance_norm", layer=True),
        sketch="normalised_by_two",
        codes=Normalises(centred=True),
    ),
    Operator(
        "GroupNormalization",
        _infer_group,
        _evaluate_group,
        AFFINE,
        nests=_group_nests,
        torch=Torch(writer="group_norm", layer=True),
        sketch="normalised_in_groups",
        codes=Normalises(centred=True),
    ),
)
