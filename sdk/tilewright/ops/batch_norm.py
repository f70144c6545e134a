"""BatchNormalization of inference: mean and variance are operands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array
from tilewright.ops import norm_gradients
from tilewright.ops.check import given, ranked, shaped, typed, widened
from tilewright.ops.clamp import clamped
from tilewright.ops.index.body import body
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.index.scalars import batch_norm
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

NAMES = ("x", "scale", "bias", "mean", "variance")


def infer(call: Call) -> tuple[TensorType, ...]:
    """Type and shape of the operand; one scale, bias, mean and variance per channel."""
    x = typed(call, 0)
    shape = ranked(call, 0, 1)
    channels = shape[1] if len(shape) > 1 else 1
    for index, name in enumerate(NAMES[1:], 1):
        typed(call, index)
        shaped(call, index, (channels,), name)
    if call.integer("training_mode", 0):
        raise call.unsupported("attribute 'training_mode' is 1", fix="export the model in inference mode")
    if sum(1 for name in call.node.outputs if name) > 1:
        raise call.unsupported("it has the outputs of training", fix="export the model in inference mode")
    return (TensorType(x.dtype, x.shape),)


def evaluate(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """Float semantics, in single or double precision, clamp."""
    x = given(arrays[0], call, 0)
    along = (-1, *(1,) * (x.ndim - 2)) if x.ndim > 1 else (1,)
    scale, bias, mean, variance = (widened(given(a, call, i)).reshape(along) for i, a in enumerate(arrays[1:5], 1))
    result = batch_norm(widened(x), scale, bias, mean, variance, call.real("epsilon", 1e-5))
    return (clamped(call, np.asarray(result)).astype(x.dtype),)


def nests(call: Call) -> tuple[Nest, ...]:
    """One nest; every parameter is moved by the channel loop alone."""
    (kind,) = infer(call)
    space = Space.of(**axes("i", kind.shape))
    loops = list(space)
    channel = loops[1] if len(loops) > 1 else 0
    x, *parameters = (operand(call.tensor(i), name) for i, name in enumerate(NAMES))
    ins = (x[*loops], *(tensor[channel] for tensor in parameters))
    chosen = body("batch_norm", call.real("epsilon", 1e-5))
    return (Nest(space, Tensor("y", kind.shape, kind.dtype)[*loops], ins, chosen),)


OPERATORS = (
    Operator(
        "BatchNormalization",
        infer,
        evaluate,
        NAMES,
        nests=nests,
        torch=Torch(writer="batch_norm", layer=True, statistics=(3, 4)),
        required_results=1,
        sketch="normalised_by_four",
        gradient=norm_gradients.batch_norm,
    ),
)
