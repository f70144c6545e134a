"""What all elementwise operators share: broadcasting, one nest, the meaning of their body applied to whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops.check import FLOATS, Types, broadcast_shape, same_type, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.codes import Codes, Passes
from tilewright.ops.facts import Limits, Reads
from tilewright.ops.index.body import Body, body
from tilewright.ops.index.build import axes, broadcast, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operator import Call, Operator, Rule, ShapeRule, TensorType
from tilewright.ops.torch import Torch

Choose = Callable[[Call], Body]
"""Which body, with which parameters, a call computes."""


def present(call: Call) -> tuple[int, ...]:
    """Indices of the operands that are given."""
    return tuple(i for i, tensor in enumerate(call.inputs) if tensor is not None)


def infer_broadcast(call: Call, accepts: Types, least: int, most: int | None, result: DType | None) -> TensorType:
    """All operands of one accepted type, broadcast together."""
    count = len(present(call))
    if count < least or (most is not None and count > most):
        wanted = str(least) if least == most else f"at least {least}"
        raise call.invalid(f"it has {count} operands, it must have {wanted}")
    indices = present(call)
    for index in indices:
        typed(call, index, accepts)
    dtype = same_type(call, *indices)
    shape = broadcast_shape(call, *(call.shape(i) for i in indices))
    return TensorType(result or dtype, shape)


def apply(call: Call, chosen: Body, arrays: Sequence[Array | None]) -> tuple[Array]:
    """The body on whole arrays, in the type and shape of the result; half precision rounds once."""
    operands = [widened(a) for a in arrays if a is not None]
    dtype = call.outputs[0].dtype.numpy
    with np.errstate(all="ignore"):
        values = np.asarray(chosen(*operands))
        values = values if values.dtype.kind == "f" and dtype.kind == "f" else values.astype(dtype)
        result = clamped(call, values).astype(dtype)
    return (np.broadcast_to(result, call.outputs[0].shape).copy(),)


def pointwise(call: Call, chosen: Body, names: Sequence[str], shape: Shape, dtype: DType) -> Nest:
    """One nest over the axes of the result; `names` are those of the operands that are given, in order."""
    space = Space.of(**axes("i", shape))
    loops = list(space)
    tensors = (operand(call.tensor(i), name) for i, name in zip(present(call), names, strict=True))
    return Nest(space, Tensor("y", shape, dtype)[*loops], tuple(broadcast(t, loops) for t in tensors), chosen)


_SKETCHES = {1: "unary", 2: "broadcast"}


def elementwise(
    name: str,
    choose: Choose | str,
    *,
    accepts: Types = FLOATS,
    operands: tuple[str, ...] = ("x",),
    least: int | None = None,
    result: DType | None = None,
    rule: ShapeRule | None = None,
    codes: Codes | None = None,
    passes: Passes | None = None,
    clamps: bool = False,
    overwrites: bool = False,
    batchable: bool = False,
    torch: Torch | None = None,
    sketch: str | None = None,
    keeps: Callable[[Call], bool] | None = None,
    reads: Callable[[Call, int], Reads | None] | None = None,
    limit: Callable[[Call], Limits | None] | None = None,
    gradient: Rule | None = None,
) -> Operator:
    """An operator whose every element is one body of the elements of its operands.

    `choose` is the name of the body or a function of the call; `least` the number of operands that must be given.
    All operands have one type of `accepts`, unless `rule` is a shape rule of the operator's own.
    `sketch` is the family of random calls, by default that of the number of operands.
    """
    fixed = body(choose) if isinstance(choose, str) else None
    variadic = operands[-1].endswith("...")
    drawn = sketch if sketch is not None else "variadic" if variadic else _SKETCHES.get(len(operands), "")
    fewest, most = (least if least is not None else len(operands)), (None if variadic else len(operands))

    def chosen(call: Call) -> Body:
        return fixed or cast(Choose, choose)(call)

    def infer(call: Call) -> tuple[TensorType, ...]:
        chosen(call)
        return rule(call) if rule else (infer_broadcast(call, accepts, fewest, most, result),)

    def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        return apply(call, chosen(call), arrays)

    def nests(call: Call) -> tuple[Nest, ...]:
        kind = infer(call)[0]
        names = [operator.operand(i) for i in present(call)]
        return (pointwise(call, chosen(call), names, kind.shape, kind.dtype),)

    operator = Operator(
        name, infer, evaluate, operands, nests=nests, codes=codes, passes=passes, clamps=clamps, overwrites=overwrites,
        batchable=batchable, torch=torch, sketch=drawn, keeps=keeps, reads=reads, limit=limit,
        gradient=gradient,
    )  # fmt: skip
    return operator
