"""Activations with parameters: LeakyRelu, Elu, Gelu, HardSigmoid, Clip, PRelu, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isnan

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.activation_gradients import (
    celu,
    clip_slope,
    elu,
    gelu,
    hard_sigmoid,
    leaky_relu,
    prelu,
    selu,
    shrink,
    swish,
    thresholded_relu,
)
from tilewright.ops.check import NUMBERS, broadcast_shape, given, same_type, typed
from tilewright.ops.clamp import clamped, the_number
from tilewright.ops.codes import Pairwise, Passes, Table
from tilewright.ops.elementwise import Choose, elementwise, pointwise, present
from tilewright.ops.facts import Limits
from tilewright.ops.gradient import by_slope
from tilewright.ops.index.body import Body, body
from tilewright.ops.index.nest import Nest
from tilewright.ops.index.scalars import clip
from tilewright.ops.operator import Call, Operator, TensorType
from tilewright.ops.torch import Torch

CLIP = ("x", "min", "max")
SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


def _with(name: str, **defaults: float) -> Choose:
    """The body of this name whose parameters are float attributes with these defaults, in order."""
    return lambda call: body(name, *(call.real(attribute, default) for attribute, default in defaults.items()))


def _gelu(call: Call) -> Body:
    kind = call.text("approximate", "none")
    if kind not in ("none", "tanh"):
        raise call.invalid(f"attribute 'approximate' is '{kind}', it must be 'none' or 'tanh'")
    return body("gelu" if kind == "none" else "gelu_tanh")


def _celu(call: Call) -> Body:
    alpha = call.real("alpha", 1.0)
    if alpha == 0:
        raise call.invalid("attribute 'alpha' must not be 0")
    return body("celu", alpha)


def clip_limits(call: Call) -> tuple[float, float] | None:
    """Lower and upper limit of a Clip, infinite where missing or NaN; None where one is computed at run time."""
    limits = [-inf, inf]
    if call.opset < 11:
        limits = [call.real("min", -inf), call.real("max", inf)]
    for index in (1, 2):
        if call.opset >= 11 and call.optional(index) is not None:
            if index not in call.constants:
                return None
            limits[index - 1] = np.asarray(call.constants[index]).reshape(-1)[0].item()
    return (-inf if isnan(limits[0]) else limits[0]), (inf if isnan(limits[1]) else limits[1])


def _infer_clip(call: Call) -> tuple[TensorType, ...]:
    tensor = typed(call, 0, NUMBERS)
    same_type(call, *present(call))
    for index in (1, 2):
        limit = call.optional(index)
        if limit is not None and limit.elements != 1:
            raise call.invalid(f"limit '{limit.name}' has {limit.elements} elements, it must be a scalar")
    return (TensorType(tensor.dtype, tensor.shape),)


def _evaluate_clip(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, low, high = given(arrays[0], call, 0), *(*arrays[1:], None, None)[:2]
    if call.opset < 11:
        low, high = np.asarray(call.real("min", -np.inf)), np.asarray(call.real("max", np.inf))
    least, most = _type_limits(call.tensor(0).dtype)
    lower = np.asarray(least if low is None else low).reshape(()).astype(x.dtype)
    upper = np.asarray(most if high is None else high).reshape(()).astype(x.dtype)
    return (clamped(call, clip(x, lower, upper)),)


def _type_limits(dtype: DType) -> tuple[float, float]:
    return (-np.inf, np.inf) if dtype.is_float else dtype.range


def _clip_nests(call: Call) -> tuple[Nest, ...]:
    (kind,) = _infer_clip(call)
    limits = clip_limits(call)
    if limits is None:
        names = [CLIP[index] for index in present(call)]
        chosen = "clip_operands" if len(names) == 3 else "max" if "min" in names else "min"
        return (pointwise(call, body(chosen), names, kind.shape, kind.dtype),)
    least, most = _type_limits(kind.dtype)
    low, high = (min(max(limit, least), most) for limit in limits)
    if not kind.dtype.is_float:
        low, high = int(low), int(high)
    return (pointwise(replace(call, inputs=call.inputs[:1]), body("clip", low, high), "x", kind.shape, kind.dtype),)


def _infer_prelu(call: Call) -> tuple[TensorType, ...]:
    tensor = typed(call, 0, NUMBERS)
    same_type(call, 0, 1)
    if broadcast_shape(call, tensor.shape, call.shape(1)) != tensor.shape:
        raise call.invalid(f"slope of shape {list(call.shape(1))} cannot be broadcast to {list(tensor.shape)}")
    return (TensorType(tensor.dtype, tensor.shape),)


def _limit(call: Call) -> Limits | None:
    low = -inf if call.optional(1) is None else the_number(call, 1)
    high = inf if call.optional(2) is None else the_number(call, 2)
    return None if low is None or high is None else Limits(0, min(low, high), high)


OPERATORS = (
    elementwise(
        "LeakyRelu",
        _with("leaky_relu", alpha=0.01),
        codes=Table(),
        torch=Torch("F.leaky_relu({0}, {alpha})", (("alpha", 0.01),)),
        batchable=True,
        gradient=leaky_relu,
    ),
    elementwise(
        "ThresholdedRelu",
        _with("thresholded_relu", alpha=1.0),
        codes=Table(),
        torch=Torch("F.threshold({0}, {alpha}, 0.0)", (("alpha", 1.0),)),
        gradient=thresholded_relu,
    ),
    elementwise(
        "Elu",
        _with("elu", alpha=1.0),
        codes=Table(),
        torch=Torch("F.elu({0}, {alpha})", (("alpha", 1.0),)),
        gradient=elu,
    ),
    elementwise(
        "Selu",
        _with("selu", alpha=SELU_ALPHA, gamma=SELU_GAMMA),
        codes=Table(),
        torch=Torch("{gamma} * F.elu({0}, {alpha})", (("alpha", 1.6732632423543772), ("gamma", 1.0507009873554805))),
        gradient=selu,
    ),
    elementwise(
        "Celu",
        _celu,
        codes=Table(),
        torch=Torch("F.celu({0}, {alpha})", (("alpha", 1.0),)),
        gradient=celu,
    ),
    elementwise(
        "Gelu",
        _gelu,
        codes=Table(),
        torch=Torch(writer="gelu"),
        gradient=by_slope(gelu),
    ),
    elementwise(
        "HardSigmoid",
        _with("hard_sigmoid", alpha=0.2, beta=0.5),
        codes=Table(),
        torch=Torch("torch.clamp({alpha} * {0} + {beta}, 0, 1)", (("alpha", 0.2), ("beta", 0.5))),
        gradient=hard_sigmoid,
    ),
    elementwise(
        "Swish",
        _with("swish", alpha=1.0),
        codes=Table(),
        torch=Torch("{0} * torch.sigmoid({alpha} * {0})", (("alpha", 1.0),)),
        gradient=by_slope(swish),
    ),
    elementwise(
        "Shrink",
        _with("shrink", lambd=0.5, bias=0.0),
        accepts=NUMBERS,
        codes=Table(),
        gradient=shrink,
    ),
    Operator(
        "Clip",
        _infer_clip,
        _evaluate_clip,
        CLIP,
        nests=_clip_nests,
        overwrites=True,
        codes=Table(limits=True),
        passes=Passes(whole=False),
        torch=Torch(writer="clip"),
        sketch="clip",
        limit=_limit,
        batchable=True,
        gradient=clip_slope,
    ),
    elementwise(
        "PRelu",
        "prelu",
        operands=("x", "slope"),
        rule=_infer_prelu,
        codes=Pairwise(),
        torch=Torch("torch.where({0} < 0, {1} * {0}, {0})", layer=True),
        sketch="prelu",
        gradient=prelu,
    ),
)
