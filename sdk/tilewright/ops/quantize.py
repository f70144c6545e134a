"""QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: between real values and codes, exactly as ONNX says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.model import Array, DType, Shape
from tilewright.ops.check import FLOATS, given, one_axis, typed
from tilewright.ops.codes import Converts
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import body
from tilewright.ops.index.build import axes, operand
from tilewright.ops.index.nest import Access, Nest, Space, Tensor
from tilewright.ops.index.scalars import dequantise, quantise
from tilewright.ops.operator import Call, Operator, TensorType

CODES = frozenset({DType.I4, DType.U4, DType.I8, DType.U8, DType.I16, DType.U16})
ONNX_TYPES = {
    1: DType.F32, 2: DType.U8, 3: DType.I8, 4: DType.U16, 5: DType.I16, 10: DType.F16, 11: DType.F64, 16: DType.BF16,
    21: DType.U4, 22: DType.I4,
}  # fmt: skip
"""Numbers of `TensorProto.DataType` that `output_dtype` and `precision` may hold."""


def _typed_by(call: Call, attribute: str) -> DType | None:
    number = call.integer(attribute, 0)
    if number and number not in ONNX_TYPES:
        raise call.unsupported(f"attribute '{attribute}' names the element type {number}, which we do not have")
    return ONNX_TYPES[number] if number else None


def _granularity(call: Call) -> tuple[int, int] | None:
    """None for one scale; else the axis and how many elements share a scale. ModelError where shapes clash."""
    x, scale, zero = call.shape(0), call.tensor(1), call.optional(2)
    if zero is not None and zero.shape != scale.shape and not zero.elements == scale.elements == 1:
        raise call.invalid(f"scale has shape {list(scale.shape)} and zero point {list(zero.shape)}, they must be equal")
    block = call.integer("block_size", 0)
    if scale.elements == 1 and len(scale.shape) <= 1 and not block:
        return None
    axis = one_axis(call, len(x), 1)
    if block == 0:
        if len(scale.shape) != 1 or scale.shape[0] != x[axis]:
            raise call.invalid(f"a scale of shape {list(scale.shape)} does not fit axis {axis} of {list(x)}")
        return axis, 1
    expected = tuple(-(-size // block) if a == axis else size for a, size in enumerate(x))
    if block < 0 or scale.shape != expected:
        raise call.invalid(f"a scale of shape {list(scale.shape)} does not fit blocks of {block}: {list(expected)}")
    return axis, block


def _spread(call: Call, values: Array) -> Array:
    """A scale or zero point so that it broadcasts to the tensor."""
    shape, granularity = call.shape(0), _granularity(call)
    if granularity is None:
        return values.reshape(())
    axis, block = granularity
    if values.ndim == 1 and not call.integer("block_size", 0):
        return values.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return np.repeat(values, block, axis=axis)[tuple(slice(size) for size in shape)]


def _infer_quantise(call: Call) -> tuple[TensorType, ...]:
    x, zero = typed(call, 0, FLOATS | {DType.I32}), call.optional(2)
    typed(call, 1, FLOATS | {DType.I32})
    declared = _typed_by(call, "output_dtype")
    _typed_by(call, "precision")
    if zero is not None and declared is not None and zero.dtype is not declared:
        raise call.invalid(f"the zero point has type {zero.dtype.value}, 'output_dtype' says {declared.value}")
    dtype = zero.dtype if zero is not None else declared or DType.U8
    whole = dtype is DType.I32 and x.quantisation is not None  # made by the lowering of converted files
    if dtype not in CODES and not whole:
        raise call.invalid(f"codes of type {dtype.value} are not possible")
    _granularity(call)
    return (TensorType(dtype, x.shape),)


def _evaluate_quantise(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, scale, zero = (*arrays, None)[:3]
    dtype = call.outputs[0].dtype
    precision = _typed_by(call, "precision") or call.tensor(1).dtype
    real = given(x, call, 0).astype(precision.numpy)
    step = _spread(call, given(scale, call, 1)).astype(precision.numpy)
    offset = np.zeros((), np.int64) if zero is None else _spread(call, zero)
    with np.errstate(all="ignore"):
        codes = quantise(real, step, offset, *dtype.range)
    return (codes.astype(dtype.numpy),)


def _infer_dequantise(call: Call) -> tuple[TensorType, ...]:
    x, scale, zero = typed(call, 0, CODES | {DType.I32}), typed(call, 1), call.optional(2)
    if zero is not None and zero.dtype is not x.dtype:
        raise call.invalid(f"codes have type {x.dtype.value} and the zero point {zero.dtype.value}, they must be equal")
    dtype = _typed_by(call, "output_dtype") or scale.dtype
    if not dtype.is_float:
        raise call.invalid(f"attribute 'output_dtype' is {dtype.value}, it must be a floating-point type")
    _granularity(call)
    return (TensorType(dtype, x.shape),)


def _evaluate_dequantise(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    x, scale, zero = (*arrays, None)[:3]
    dtype = call.outputs[0].dtype.numpy
    offset = np.zeros((), np.int64) if zero is None else _spread(call, zero)
    step = _spread(call, given(scale, call, 1)).astype(dtype)
    return (dequantise(given(x, call, 0), step, offset).astype(dtype),)


def _dynamic(call: Call) -> tuple[TensorType, ...]:
    x = call.tensor(0)
    if x.dtype is not DType.F32:
        raise call.invalid(f"operand '{x.name}' has type {x.dtype.value}, it must be f32")
    return TensorType(DType.U8, x.shape), TensorType(DType.F32, ()), TensorType(DType.U8, ())


def _evaluate_dynamic(call: Call, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
    """The standard says nothing of NaN: it has no part in the range, and its code is the lowest."""
    x = given(arrays[0], call, 0)
    low = np.fmin.reduce(x, axis=None, initial=np.float32(0))
    high = np.fmax.reduce(x, axis=None, initial=np.float32(0))
    with np.errstate(all="ignore"):
        step = np.asarray((high - low) / np.float32(255) if high > low else 1 / np.float32(255), np.float32)
        zero = np.rint(_within_a_byte(-low / step))
        codes = _within_a_byte(np.rint(x / step) + zero)
    return codes.astype(np.uint8), step, np.asarray(zero, np.uint8)


def _within_a_byte(values: Array) -> Array:
    return np.fmin(np.fmax(values, np.float32(0)), np.float32(255))


def _place(call: Call, tensor: Tensor, loops: Sequence[Affine]) -> Access:
    """A scale or zero point under the loops of the tensor; blocks divide."""
    granularity = _granularity(call)
    if granularity is None:
        return tensor[*(0,) * len(tensor.shape)]
    axis, block = granularity
    if len(tensor.shape) == 1 and not call.integer("block_size", 0):
        return tensor[loops[axis]]
    return tensor[*(loop // block if a == axis else loop for a, loop in enumerate(loops))]


def _zero_point(call: Call, like: DType, scale_shape: Shape) -> Tensor:
    zero = call.optional(2)
    if zero is not None:
        return operand(zero, "zero_point")
    return Tensor("zero_point", scale_shape, like, (0.0,) * max(1, int(np.prod(scale_shape))))


def _nest(call: Call, kind: TensorType, name: str, *parameters: int) -> tuple[Nest, ...]:
    space = Space.of(**axes("i", kind.shape))
    loops = list(space)
    x, scale = operand(call.tensor(0), "x"), operand(call.tensor(1), "scale")
    zero = _zero_point(call, kind.dtype if name == "quantise" else x.dtype, scale.shape)
    ins = (x[*loops], _place(call, scale, loops), _place(call, zero, loops))
    return (Nest(space, Tensor("y", kind.shape, kind.dtype)[*loops], ins, body(name, *parameters)),)


def _quantise_nests(call: Call) -> tuple[Nest, ...]:
    """One nest; an empty chain where `precision` divides in another type than the scale's."""
    (kind,) = _infer_quantise(call)
    precision = _typed_by(call, "precision") or call.tensor(1).dtype
    x = call.tensor(0).dtype
    plain = precision is call.tensor(1).dtype and (x is precision or (x is DType.F32 and precision.bits == 16))
    return _nest(call, kind, "quantise", *kind.dtype.range) if plain else ()


def _dequantise_nests(call: Call) -> tuple[Nest, ...]:
    """One nest; an empty chain where the result is not computed in the type of the scale."""
    (kind,) = _infer_dequantise(call)
    return _nest(call, kind, "dequantise") if kind.dtype is call.tensor(1).dtype else ()


def _gap(call: Call) -> tuple[str, str]:
    """Types between which nothing converts."""
    x, scale, result = call.tensor(0), call.tensor(1), _typed_by(call, "output_dtype")
    quantising = call.node.op == "QuantizeLinear"
    computed = _typed_by(call, "precision") if quantising else result
    if computed is not None and computed is not scale.dtype:
        word = "precision" if quantising else "output_dtype"
        return f"it computes in {computed.value} ('{word}') and its scale is {scale.dtype.value}", f"leave '{word}' out"
    return f"its operand is {x.dtype.value} and its scale {scale.dtype.value}", "give both one type, f32 for instance"


NAMES = ("x", "scale", "zero_point")

OPERATORS = (
    Operator(
        "QuantizeLinear",
        _infer_quantise,
        _evaluate_quantise,
        NAMES,
        nests=_quantise_nests,
        gap=_gap,
        codes=Converts(),
        sketch="quantising",
        batchable=True,
        channelwise=True,
    ),
    Operator(
        "DequantizeLinear",
        _infer_dequantise,
        _evaluate_dequantise,
        NAMES,
        nests=_dequantise_nests,
        folds=False,
        gap=_gap,
        codes=Converts(),
        sketch="quantising",
        batchable=True,
    ),
    Operator(
        "DynamicQuantizeLinear", _dynamic, _evaluate_dynamic, ("x",), ("y", "scale", "zero_point"), sketch="dynamic"
    ),
)
