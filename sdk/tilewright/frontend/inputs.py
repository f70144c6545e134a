"""Settles the shapes of the graph's inputs: what the user asked for, else the file, else a batch of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tilewright.errors import ModelError, UsageError
from tilewright.frontend.names import nearest, printable, quoted
from tilewright.frontend.values import check_size, element_type
from tilewright.model import Array, DType, Shape, Tensor

if TYPE_CHECKING:
    import onnx

Dimension = int | str | None

_NO_SYMBOL = frozenset({"none", "null", "unknown", "unk", "-1"})  # what exporters write where they know no size


@dataclass(frozen=True)
class Inputs:
    """The inputs in order, those that were frozen with their values, and sentences on what was chosen."""

    tensors: tuple[Tensor, ...]
    frozen: Mapping[str, Array]
    notes: tuple[str, ...]


@dataclass
class _Symbols:
    """The sizes that dimension names have been given, and by which input."""

    sizes: dict[str, tuple[int, str]] = field(default_factory=dict)

    def bind(self, symbol: Dimension, size: int, name: str) -> None:
        if not isinstance(symbol, str) or not symbol:
            return
        known, other = self.sizes.setdefault(symbol, (size, name))
        if known != size:
            raise UsageError(
                f"dimension {quoted(symbol)} cannot be {size} in input {quoted(name)}",
                why=f"it is {known} in input {quoted(other)}",
                fix="make both inputs the same size with --shape",
                tensor=name,
            )


def settle(
    values: list[onnx.ValueInfoProto], shapes: Mapping[str, Shape], frozen: Mapping[str, Array], file: str = ""
) -> Inputs:
    """Types and static shapes for the true inputs of the graph, which `values` are.

    ModelError where a dimension stays open, UsageError where the user's shapes or values contradict the model.
    """
    names = [value.name for value in values]
    for option, given in (("--shape", shapes), ("--freeze", frozen)):
        for name in given:
            if name not in names:
                fix = nearest(name, names)
                raise UsageError(
                    f"{option} {name}: the model has no input {quoted(name)}", fix=fix, tensor=name, file=file
                )
    symbols, notes = _Symbols(), list[str]()
    declared = {value.name: _declared(value, file) for value in values}
    given_shapes = {**shapes, **{name: array.shape for name, array in frozen.items()}}
    chosen = {name: _overridden(name, shape, declared[name], symbols, notes) for name, shape in given_shapes.items()}
    tensors, constants = [], {}
    for value in values:
        name, dtype = value.name, element_type(value.type.tensor_type.elem_type, value.name, file)
        shape = chosen[name] if name in chosen else _defaulted(name, declared[name], symbols, notes, file)
        check_size(shape, dtype, name, file)
        if name in frozen:
            constants[name] = _cast(frozen[name], Tensor(name, dtype, shape))
        elif 0 in shape:
            constants[name] = np.zeros(shape, dtype.numpy)
            notes.append(f"input {quoted(name)} of shape {_text(shape)} has no elements and is taken as a constant")
        tensors.append(Tensor(name, dtype, shape))
    return Inputs(tuple(tensors), constants, tuple(notes))


def _declared(value: onnx.ValueInfoProto, file: str) -> tuple[Dimension, ...] | None:
    """The dimensions in the file, None where it gives no shape; ModelError for what is no tensor."""
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        shown = (kind or "nothing").removesuffix("_type")
        why, fix = f"it is not a tensor ({shown})", "export the model with tensors only"
        raise ModelError(f"input {quoted(value.name)} cannot be used", why=why, fix=fix, tensor=value.name, file=file)
    if not value.type.tensor_type.HasField("shape"):
        return None
    dimensions: list[Dimension] = []
    for dimension in value.type.tensor_type.shape.dim:
        symbol = dimension.dim_param if _is_symbol(dimension.dim_param) else None
        dimensions.append(dimension.dim_value if dimension.HasField("dim_value") else symbol)
    return tuple(dimensions)


def _is_symbol(name: str) -> bool:
    """True for a name that is one size wherever it occurs; Paddle writes '?' for every size that it does not know."""
    return name.strip().lower() not in _NO_SYMBOL and any(c.isalnum() or c == "_" for c in name)


def _overridden(
    name: str,
    shape: Shape,
    declared: tuple[Dimension, ...] | None,
    symbols: _Symbols,
    notes: list[str],
) -> Shape:
    shape = tuple(int(extent) for extent in shape)
    if any(extent < 0 for extent in shape):
        fix = "every dimension is at least 1, or 0 for an input without elements, such as a past that is empty yet"
        raise UsageError(f"input {quoted(name)} cannot have shape {_text(shape)}", fix=fix, tensor=name)
    if declared is None:
        return shape
    if len(declared) != len(shape):
        why = f"the model gives it {len(declared)} dimensions: {_text(declared)}"
        raise UsageError(
            f"input {quoted(name)} cannot have shape {_text(shape)}",
            why=why,
            fix=f"write --shape {printable(name)}={_example(declared)}",
            tensor=name,
        )
    for symbol, extent in zip(declared, shape, strict=True):
        symbols.bind(symbol, extent, name)
    fixed = [extent for extent in declared if isinstance(extent, int)]
    if fixed and any(isinstance(was, int) and was != now for was, now in zip(declared, shape, strict=True)):
        notes.append(f"input {quoted(name)} has shape {_text(shape)} as asked for, the model says {_text(declared)}")
    return shape


def _defaulted(
    name: str, declared: tuple[Dimension, ...] | None, symbols: _Symbols, notes: list[str], file: str
) -> Shape:
    if declared is None:
        why, fix = "the file gives it no shape", f"write --shape {printable(name)}=1,..."
        raise ModelError(f"the shape of input {quoted(name)} is not known", why=why, fix=fix, tensor=name, file=file)
    shape: list[int] = []
    for axis, extent in enumerate(declared):
        if isinstance(extent, int):
            if extent < 1:
                why = f"dimension {axis} is {extent}"
                fix = f"write --shape {printable(name)}={_example(declared)} with sizes of your own"
                raise ModelError(f"input {quoted(name)} cannot be used", why=why, fix=fix, tensor=name, file=file)
            shape.append(extent)
        elif extent in symbols.sizes:
            shape.append(symbols.sizes[str(extent)][0])
        elif axis == 0 and len(declared) > 1:
            symbols.bind(extent, 1, name)
            shape.append(1)
            notes.append(f"input {quoted(name)}: the batch size is open in the model and is taken as 1")
        else:
            symbol = f" ({quoted(str(extent))})" if extent else ""
            raise ModelError(
                f"the shape of input {quoted(name)} is not fixed",
                why=f"dimension {axis}{symbol} of {_text(declared)} is open",
                fix=f"write --shape {printable(name)}={_example(declared)} with a number for each '?'",
                tensor=name,
                file=file,
            )
    return tuple(shape)


def _text(shape: tuple[Dimension, ...]) -> str:
    return "[" + ", ".join("?" if extent is None else printable(str(extent)) for extent in shape) + "]"


def _example(declared: tuple[Dimension, ...]) -> str:
    """The shape as it is written after --shape: known dimensions, 1 for an open batch, ? for what the user must say."""
    return ",".join(
        str(extent) if isinstance(extent, int) and extent > 0 else "1" if axis == 0 and len(declared) > 1 else "?"
        for axis, extent in enumerate(declared)
    )


def _cast(array: Array, tensor: Tensor) -> Array:
    """The frozen value in the input's own type; UsageError where that changes it."""
    if tensor.dtype.bits == 4 and array.dtype.kind == "V":
        array = _four_bits(array, tensor)
    if array.dtype.kind not in "biuf" and array.dtype != DType.BF16.numpy:
        what = f"input {quoted(tensor.name)} cannot be frozen to this value"
        why = f"its elements are of type {array.dtype.str.lstrip('|<>=')}, which is no number that NumPy knows"
        raise UsageError(what, why=why, fix=f"save it as {tensor.dtype.numpy}", tensor=tensor.name)
    with np.errstate(all="ignore"):
        cast = array.astype(tensor.dtype.numpy)
    exact = array.dtype.kind == "f" and tensor.dtype.is_float
    if not exact and not np.array_equal(cast, array):
        what = f"input {quoted(tensor.name)} cannot be frozen to this value"
        why = f"it holds {array.dtype} values that {tensor.dtype.value} does not"
        raise UsageError(what, why=why, fix="pass values of its own type", tensor=tensor.name)
    return cast


def _four_bits(array: Array, tensor: Tensor) -> Array:
    """Elements of ml_dtypes' int4 and uint4, one to a byte, which a .npy file calls V1; any other array as it is."""
    if array.dtype.itemsize != 1 or array.dtype.names is not None:
        return array
    held = np.ascontiguousarray(array).view(np.uint8).reshape(array.shape)
    if tensor.dtype is DType.U4:
        return held if (held < 16).all() else array
    signed: Array = ((held & 15) ^ 8).astype(np.int8) - np.int8(8)  # the upper half is empty or repeats the sign
    return signed if ((held < 16) | (signed.view(np.uint8) == held)).all() else array
