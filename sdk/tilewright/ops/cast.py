"""Cast, CastLike and BitCast between the element types.

The standard leaves a float that an integer type cannot hold undefined. Here types of 32 and 64 bits saturate, smaller
ones wrap what int32 would hold, and not-a-number becomes 0: so NumPy, ONNX Runtime on x86 wherever int32 holds the
value, and every generated program agree. Integers wrap, as the standard says.
"""

from __future__ import annotations

import numpy as np

from tilewright.model import Array, DType
from tilewright.ops.codes import Passes
from tilewright.ops.index.body import body
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, element_type, given, result
from tilewright.ops.operator import Adjoint, Call, Operator, TensorType, always
from tilewright.ops.torch import Torch


def convert(x: Array, source: DType, target: DType) -> Array:
    """`x` as elements of `target`: floats truncate, integers wrap, anything but 0 is true."""
    if target is DType.BOOL:
        return np.not_equal(x, 0)
    if target.is_float:
        with np.errstate(over="ignore"):
            converted: Array = x.astype(target.numpy)
        return converted
    if source.is_float:
        if target.bits >= 32:
            return _saturated(x, target)
        x = _saturated(x, DType.I32)
    if target.bits == 4:
        low: Array = x.astype(np.int64) & 15
        return ((low ^ 8) - 8 if target is DType.I4 else low).astype(target.numpy)
    converted = x.astype(target.numpy)
    return converted


def _saturated(x: Array, target: DType) -> Array:
    low, high = target.range
    wide = np.where(np.isnan(x), 0.0, x.astype(np.float64))
    converted: Array = np.where((wide > low - 1) & (wide < high + 1), wide, 0.0).astype(target.numpy)
    converted[wide >= high + 1] = high
    converted[wide <= low - 1] = low
    return converted


def _cast(call: Call) -> tuple[TensorType, ...]:
    return (result(call, element_type(call, call.integer("to")), call.shape()),)


def _cast_like(call: Call) -> tuple[TensorType, ...]:
    return (result(call, call.tensor(1).dtype, call.shape()),)


def _converted(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    return (convert(given(arrays, 0), call.tensor(0).dtype, call.outputs[0].dtype),)


def _bit_cast(call: Call) -> tuple[TensorType, ...]:
    source, target = call.tensor(0).dtype, element_type(call, call.integer("to"))
    if call.tensor(0).quantisation is not None:
        raise call.unsupported("the operand is quantised and codes are no numbers", "put DequantizeLinear before it")
    if source.bits != target.bits:
        raise call.invalid(f"{source.value} and {target.value} differ in bits")
    if target is DType.BOOL and source is not target:
        raise call.unsupported("a bool is 0 or 1, other bits have no meaning", "use Cast")
    return (result(call, target, call.shape()),)


def _bits(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, target = given(arrays, 0), call.outputs[0].dtype
    return (convert(x, call.tensor(0).dtype, target) if target.bits == 4 else x.view(target.numpy),)


def _cast_nests(call: Call) -> tuple[Nest, ...]:
    (kind,) = (_cast if call.node.op == "Cast" else _cast_like)(call)
    if 0 in kind.shape:
        return ()
    return (converting_nest(operand(call.tensor(0), "x"), Tensor("y", kind.shape, kind.dtype)),)


def converting_nest(source: Tensor, out: Tensor) -> Nest:
    """Every element of a tensor in another's type, as `convert` has it."""
    space = Space.of(**axes("i", out.shape))
    return Nest(space, out[*space], (source[*space],), body("cast"))


def _gradient(a: Adjoint, index: int) -> str:
    """Back in the operand's type, between floating-point types alone."""
    flows = index == 0 and a.call.tensor(0).dtype.is_float and a.call.outputs[0].dtype.is_float
    return a.op("CastLike", a.dy, a.x()) if flows else ""


OPERATORS = (
    Operator(
        "Cast",
        _cast,
        _converted,
        ("x",),
        nests=_cast_nests,
        passes=Passes(),
        torch=Torch(writer="cast"),
        sketch="cast",
        keeps=always,
        gradient=_gradient,
    ),
    Operator(
        "CastLike",
        _cast_like,
        _converted,
        ("x", "like"),
        nests=_cast_nests,
        passes=Passes(),
        keeps=always,
        gradient=_gradient,
    ),
    Operator("BitCast", _bit_cast, _bits, ("x",), sketch="cast"),
)
