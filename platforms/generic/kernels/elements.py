"""What the kernels that address single elements share: types of whole bytes, constants by name, loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tilewright.numerics import C_TYPES, is_half, loaded, same_meaning, stored
from tilewright.platform import Call, Constant, DType, Operands, Shape, Tensor
from tilewright.platforms.generic.kernels.nest import operand_names

FLOATS = "f16|bf16|f32|f64"
PLAIN = FLOATS + "|i8|u8|i16|u16|i32|u32|i64|u64|bool"
MOVED = PLAIN + "|qi8|qu8|qi16|qu16|qi32"
"""Types whose elements lie in bytes of their own and can be moved as they are."""

INDEX = "i64|i32|i16|i8|u8|u16|u32|u64"


@dataclass(frozen=True)
class Loop:
    """One loop of a printed nest."""

    name: str
    extent: int


def constants_by_name(operands: Operands, *read: int) -> tuple[Constant, ...]:
    """The constant operands among `read`, row-major, under the names of the operator's operands."""
    call, names = operands.call, operand_names(operands.call)
    return tuple(
        Constant(names[i], call.tensor(i).dtype, call.constants[i].reshape(-1)) for i in read if i in call.constants
    )


def unread(call: Call, *read: int) -> tuple[str, ...]:
    """Names of the run-time operands that a kernel does not read and that still are parameters."""
    names = operand_names(call)
    return tuple(
        names[i] for i, t in enumerate(call.inputs) if t is not None and i not in call.constants and i not in read
    )


def c_type(tensor: Tensor) -> str:
    """The C type of a tensor's elements."""
    return C_TYPES[tensor.dtype]


def as_real(dtype: DType, element: str, real: str) -> str:
    """The value of an element, cast to the C type `real`; halves are floats and need no cast where `real` is float."""
    if is_half(dtype) and real == "float":
        return loaded(dtype, element)
    return f"({real}){loaded(dtype, element)}"


def as_element(dtype: DType, value: str) -> str:
    """One C name or indexed name as an element."""
    return stored(dtype, value) if is_half(dtype) else f"({C_TYPES[dtype]}){value}"


def strides(shape: Shape) -> tuple[int, ...]:
    """Elements between neighbours along each axis, row-major."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def loops(shape: Shape) -> tuple[Loop, ...]:
    """A loop for each axis: i0, i1, ..."""
    return tuple(Loop(f"i{axis}", size) for axis, size in enumerate(shape))


def address(shape: Shape, places: Sequence[str] | None = None) -> str:
    """The element at `places`, by default at the loops i0, i1, ..., of a row-major tensor."""
    names = [f"i{axis}" for axis in range(len(shape))] if places is None else places
    terms = [
        name if step == 1 else f"{name} * {step}"
        for name, step, size in zip(names, strides(shape), shape, strict=True)
        if size != 1
    ]
    return " + ".join(terms) or "0"


def empty(call: Call) -> str | None:
    """The sentence for a call with a tensor without elements."""
    tensors = [t for t in (*call.inputs, *call.outputs) if t is not None]
    return next((f"'{t.name}' has no elements" for t in tensors if not t.elements), None)


def recoded(call: Call, *moved: int) -> str | None:
    """The sentence for an operand among `moved` whose codes mean other numbers than the first result's."""
    y = call.outputs[0]
    for index in moved:
        x = call.tensor(index)
        quantised = (x.quantisation is not None, y.quantisation is not None)
        if quantised[0] != quantised[1] or (all(quantised) and not same_meaning(x, y)):
            return f"'{x.name}' has another scale than the result, the kernel moves codes as they are"
    return "the result is limited, the kernel moves elements as they are" if call.node.clamp else None
