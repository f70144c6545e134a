"""What ONNX Runtime's operators share: activations by name, channels last, codes with scale and zero point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright.frontend.splits.parts import Parts
from tilewright.model import DType

MICROSOFT = "com.microsoft"

_PARAMETERS = {"LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "Elu": ("alpha",)}
_PLAIN = ("Relu", "Sigmoid", "Tanh", "Softplus", "Softsign", "Gelu", "HardSwish", "Mish")


def activate(parts: Parts, name: str, parameters: Sequence[float], into: str = "") -> str:
    """The tensor behind the activation that the attribute `activation` names; no activation is the tensor itself."""
    kind = parts.text("activation")
    if not kind:
        return parts.op("Identity", name, into=into) if into else name
    if kind == "Clip":
        low, high = (*parameters, -3.402823e38, 3.402823e38)[:2] if len(parameters) == 2 else (-3.4e38, 3.4e38)
        return parts.op("Clip", name, parts.like(0, low), parts.like(0, high), into=into)
    if kind not in _PARAMETERS and kind not in _PLAIN:
        raise parts.unsupported(f"its activation '{kind}' is not known", "save the model without that optimisation")
    known: dict[str, Any] = dict(zip(_PARAMETERS.get(kind, ()), map(float, parameters), strict=False))
    return parts.op(kind, name, into=into, **known)


def channels_first(parts: Parts, name: str, rank: int) -> str:
    """A tensor with its last axis moved behind the first."""
    return parts.op("Transpose", name, perm=(0, rank - 1, *range(1, rank - 1)))


def channels_last(parts: Parts, name: str, rank: int, into: str = "") -> str:
    """A tensor with its second axis moved to the end."""
    return parts.op("Transpose", name, into=into, perm=(0, *range(2, rank), 1))


def dequantised(parts: Parts, index: int, axis: int = 0) -> str:
    """The real values of the codes in operand `index`, whose scale and zero point follow it."""
    scale = parts.known(index + 1, "its scale")
    zero = parts.known(index + 2, "its zero point") if parts.input(index + 2) else None
    return real(parts, parts.input(index), (scale, zero, parts.tensor(index).dtype), axis)


def real(parts: Parts, name: str, quantisation: tuple[object, object | None, DType], axis: int = 0) -> str:
    """The real values of codes with this scale, zero point and type."""
    operands, axis = _quantisation(parts, quantisation, axis)
    return parts.op("DequantizeLinear", name, *operands, axis=axis)


def quantised(parts: Parts, name: str, index: int, dtype: DType, into: str) -> None:
    """The codes of real values; operand `index` is the scale and is followed by the zero point."""
    scale = parts.known(index, "its scale")
    zero = parts.known(index + 1, "its zero point") if parts.input(index + 1) else None
    operands, _ = _quantisation(parts, (scale, 0 if zero is None else zero, dtype), 0)
    parts.op("QuantizeLinear", name, *operands, into=into)


def _quantisation(
    parts: Parts, quantisation: tuple[object, object | None, DType], axis: int
) -> tuple[tuple[str, ...], int]:
    """Names of scale and zero point, scalars where there is one of them."""
    import numpy as np

    scale, zero, dtype = quantisation
    scales = np.asarray(scale, np.float32).reshape(-1)
    shape = () if scales.size == 1 else (-1,)
    scale_name = parts.constant(scales.reshape(shape), DType.F32)
    if zero is None:
        return (scale_name,), axis
    zeros = np.broadcast_to(np.asarray(zero).reshape(-1), scales.shape).reshape(shape)
    return (scale_name, parts.constant(zeros, dtype)), axis
