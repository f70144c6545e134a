"""Operators that move nothing: Identity, Reshape, Flatten, Squeeze, Unsqueeze and Dropout in inference."""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops.codes import Moves
from tilewright.ops.operands import (
    Arrays,
    given,
    listed,
    one_axis,
    result,
    same,
    some_axes,
    wanted,
)
from tilewright.ops.operator import Call, Kind, Operator, TensorType, always
from tilewright.ops.torch import Torch


def _identity(call: Call) -> tuple[TensorType, ...]:
    return (same(call),)


def _dropout(call: Call) -> tuple[TensorType, ...]:
    training = call.optional(2) is not None and bool(call.constant(2, "training_mode").any())
    if training and (call.optional(1) is None or call.constant(1, "the ratio").any()):
        raise call.unsupported("training_mode is true: random numbers are drawn at run time", "export for inference")
    mask = call.tensor(0).dtype if call.opset < 10 else DType.BOOL
    return wanted(call, same(call), result(call, mask, call.shape()))


def _reshape(call: Call) -> tuple[TensorType, ...]:
    wanted = listed(call, 1, "shape")
    if wanted is None:
        raise call.invalid("the new shape is missing")
    old, total = call.shape(), prod(call.shape())
    sizes = list(wanted)
    if call.integer("allowzero", 0) == 0:
        for axis, size in enumerate(sizes):
            if size == 0:
                if axis >= len(old):
                    raise call.invalid(f"the 0 at axis {axis} of {wanted} copies an axis that {old} does not have")
                sizes[axis] = old[axis]
    elif 0 in sizes and -1 in sizes:
        raise call.invalid("with allowzero the new shape may not hold both 0 and -1")
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise call.invalid(f"the new shape {wanted} may hold one -1 and nothing else below 0")
    if -1 in sizes:
        rest = prod(size for size in sizes if size != -1)
        if rest == 0 or total % rest:
            raise call.invalid(f"{total} elements of {old} do not divide into {wanted}")
        sizes[sizes.index(-1)] = total // rest
    if prod(sizes) != total:
        raise call.invalid(f"{old} has {total} elements, the new shape {wanted} has {prod(sizes)}")
    return (result(call, call.tensor(0).dtype, sizes),)


def _flatten(call: Call) -> tuple[TensorType, ...]:
    shape = call.shape()
    axis = call.integer("axis", 1)
    split = axis if axis == len(shape) else one_axis(call, axis, len(shape))
    return (result(call, call.tensor(0).dtype, (prod(shape[:split]), prod(shape[split:]))),)


def _squeeze(call: Call) -> tuple[TensorType, ...]:
    shape, axes = call.shape(), listed(call, 1, "axes")
    if axes is None:
        remaining: Shape = tuple(size for size in shape if size != 1)
    else:
        dropped = some_axes(call, axes, len(shape))
        for axis in dropped:
            if shape[axis] != 1:
                raise call.invalid(f"axis {axis} of {shape} is not 1")
        remaining = tuple(size for axis, size in enumerate(shape) if axis not in dropped)
    return (result(call, call.tensor(0).dtype, remaining),)


def _unsqueeze(call: Call) -> tuple[TensorType, ...]:
    axes = listed(call, 1, "axes")
    if axes is None:
        raise call.invalid("axes are missing")
    rank = len(call.shape()) + len(axes)
    added, sizes = set(some_axes(call, axes, rank)), iter(call.shape())
    return (result(call, call.tensor(0).dtype, [1 if axis in added else next(sizes) for axis in range(rank)]),)


def _reshaped(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (given(arrays, 0).reshape(call.outputs[0].shape),)


def _dropped(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x = given(arrays, 0)
    mask = np.ones(x.shape, call.outputs[1].dtype.numpy) if len(call.outputs) > 1 else None
    return (x,) if mask is None else (x, mask)


def new_shape(call: Call) -> Shape:
    """The shape that a Reshape gives its operand, e.g. for a pass that merges two of them."""
    return _reshape(call)[0].shape


OPERATORS = (
    Operator(
        "Identity",
        _identity,
        _reshaped,
        ("x",),
        kind=Kind.VIEW,
        codes=Moves(whole=True),
        keeps=always,
        torch=Torch("{0}"),
        sketch="unary",
    ),
    Operator(
        "Reshape",
        _reshape,
        _reshaped,
        ("x", "shape"),
        kind=Kind.VIEW,
        codes=Moves(whole=True),
        keeps=always,
        torch=Torch(writer="reshape"),
    ),
    Operator(
        "Flatten",
        _flatten,
        _reshaped,
        ("x",),
        kind=Kind.VIEW,
        codes=Moves(whole=True),
        keeps=always,
        torch=Torch(writer="reshape"),
    ),
    Operator(
        "Squeeze",
        _squeeze,
        _reshaped,
        ("x", "axes"),
        kind=Kind.VIEW,
        codes=Moves(whole=True),
        keeps=always,
        torch=Torch(writer="reshape"),
    ),
    Operator(
        "Unsqueeze",
        _unsqueeze,
        _reshaped,
        ("x", "axes"),
        kind=Kind.VIEW,
        codes=Moves(whole=True),
        keeps=always,
        torch=Torch(writer="reshape"),
    ),
    Operator(
        "Dropout",
        _dropout,
        _dropped,
        ("x", "ratio", "training_mode"),
        ("y", "mask"),
        kind=Kind.VIEW,
        keeps=always,
        required_results=1,
    ),
)
