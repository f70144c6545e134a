"""Why another runtime's code may differ by one step: how near the exact value lies to a tie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
import numpy.typing as npt

from tilewright.model import Array, DType, Quantisation, Tensor
from tilewright.ops.codes import Normalises
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.normalised import has_normalised_form, normalised_form
from tilewright.ops.quantised.real import real_call, the_quantisation
from tilewright.ops.requantize import per_axis

NEAR_TIE = 2.0**-16
"""A difference is explained where it is one step and the exact value lies this near to a tie, in output steps.

A runtime that sums in float32 may be farther off: by at most `terms * 2**-24` of the sum of the terms' magnitudes, the
classical bound of recursive summation. What lies within that bound of a tie is explained too.
"""

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """How two arrays of codes differ: elements that differ, how many of them are explained, the farthest from a tie."""

    mismatches: int
    explained: int
    farthest: float


def _wide(tensor: Tensor, codes: Array) -> Reals:
    """Real values in float64, nothing rounded to float32; a bias without quantisation is not asked."""
    meaning: Quantisation | None = tensor.quantisation
    if meaning is None:
        return np.asarray(codes, np.float64 if codes.dtype.kind == "f" else codes.dtype)
    zero = per_axis(meaning.zero_point, meaning.axis, codes.ndim, np.int64)
    scale = per_axis(meaning.scale, meaning.axis, codes.ndim, np.float32).astype(np.float64)
    return np.asarray((codes.astype(np.int64) - zero) * scale)


def exact_steps(operator: Operator, call: Call, arrays: Sequence[Array | None]) -> Reals:
    """The first result in output steps before it is rounded, without zero point, from real arithmetic in float64."""
    x, y = call.tensor(0), call.outputs[0]
    reals = [None if t is None or a is None else _wide(t, a) for t, a in zip(call.inputs, arrays, strict=False)]
    step = float(np.float32(the_quantisation(y).scale[0]))
    linear = operator.name in ("Conv", "ConvTranspose", "Gemm", "MatMul")
    if linear:
        reals[2:] = [_bias(call, reals[2])] if len(reals) > 2 and reals[2] is not None else []
    constants = {i: _wide(call.tensor(i), v) for i, v in call.constants.items() if not (linear and i == 2)}
    if operator.name == "Softmax":
        codes = np.asarray(arrays[0], np.int64)
        axis = call.integer("axis", -1) % codes.ndim
        table = np.asarray(
            [exp(-d * float(np.float32(the_quantisation(x).scale[0]))) for d in range(1 << x.dtype.bits)]
        )
        powers = table[codes.max(axis=axis, keepdims=True) - codes]
        return np.asarray(powers / powers.sum(axis=axis, keepdims=True) / step)
    with np.errstate(all="ignore"):
        result = operator.evaluate(real_call(call, DType.F64, constants, len(reals)), reals)[0]
    clamp = call.node.clamp
    if clamp is not None:
        result = np.clip(result, clamp.low, clamp.high)
    return np.asarray(result, np.float64) / step


def _bias(call: Call, bias: Array) -> Reals:
    """The bias as a real vector: accumulator units times the product of the scales."""
    x, w = the_quantisation(call.tensor(0)), the_quantisation(call.tensor(1))
    unit = np.float64(x.scale[0]) * np.asarray(w.scale, np.float64)
    fine = call.tensor(2).dtype is DType.I64
    return np.asarray(bias.reshape(-1) * unit / (1 << 16 if fine else 1))


def _summation_error(operator: Operator, call: Call, arrays: Sequence[Array | None]) -> Reals:
    """What float32 summation may be off by, per element in output steps; zeros for operators that sum nothing.

    Of normalisations it is what their own integers may be off by too.
    """
    y = call.outputs[0]
    if isinstance(operator.codes_of(call.node), Normalises) and has_normalised_form(call):
        form = normalised_form(call)
        return np.full(y.shape, form.error + (form.high - form.low) * form.rows.length * 2.0**-24)
    if operator.name not in ("Conv", "ConvTranspose", "Gemm", "MatMul"):
        return np.zeros(y.shape)
    step = float(np.float32(the_quantisation(y).scale[0]))
    reals = [
        np.abs(_wide(t, a)) for t, a in zip(call.inputs[:2], arrays, strict=False) if t is not None and a is not None
    ]
    bias = arrays[2] if len(arrays) > 2 else None
    if bias is not None:
        reals.append(np.abs(_bias(call, bias)))
    total = operator.evaluate(real_call(call, DType.F64, {}, len(reals)), reals)[0]
    terms = call.tensor(1).elements // max(1, y.shape[1] if operator.name == "Conv" else y.shape[-1]) + 1
    return np.asarray(total, np.float64) * terms * 2.0**-24 / step


def explain(operator: Operator, call: Call, arrays: Sequence[Array | None], ours: Array, theirs: Array) -> Difference:
    """Compare another runtime's codes of the first result with ours, both made from the same operands `arrays`.

    `operator` is the one of the registry.
    """
    apart = np.abs(ours.astype(np.int64) - theirs.astype(np.int64))
    if not apart.any():
        return Difference(0, 0, 0.0)
    steps = np.nan_to_num(exact_steps(operator, call, arrays), posinf=0.0, neginf=0.0)
    distance = np.abs(steps - np.floor(steps) - 0.5)[apart > 0]
    allowed = np.maximum(NEAR_TIE, _summation_error(operator, call, arrays))[apart > 0]
    near = (distance <= allowed) & (apart[apart > 0] == 1)
    return Difference(int((apart > 0).sum()), int(near.sum()), float(distance.max()))
