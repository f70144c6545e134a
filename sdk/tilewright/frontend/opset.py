"""Brings nodes of any opset from 6 on into the form of the newest one, so that operators know a single form.

Attributes that became inputs are moved, operators that were renamed get their new name, and where a meaning changed
(Softmax before 13) nodes that compute the old meaning take the place of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from tilewright.errors import ModelError, UnsupportedNode
from tilewright.frontend.names import quoted
from tilewright.frontend.raw import RawNode, Value
from tilewright.model import Array, DType, Tensor

_NORMAL = 1000  # the version of a node that has its newest form


@dataclass(frozen=True)
class Surroundings:
    """What is known where the node stands: types and values of tensors, how to make a new name, the graph's outputs."""

    tensors: Mapping[str, Tensor]
    constants: Mapping[str, Array]
    fresh: Callable[[str], str]
    outputs: frozenset[str] = frozenset()

    def tensor(self, node: RawNode, index: int) -> Tensor:
        """The type of an input; ModelError where it is omitted."""
        if index >= len(node.inputs) or not node.inputs[index]:
            raise invalid(node, f"input {index} is missing")
        return self.tensors[node.inputs[index]]


Rewrite = Callable[[RawNode, Surroundings], tuple[RawNode, ...]]


def normalise(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    """The node in its newest form, preceded by Constants that it now reads; a node that is new already comes alone."""
    if node.domain:
        return (node,)
    below, rewrite = _RULES.get(node.op, (0, None))
    if rewrite is None or node.version >= below:
        return (node,)
    return tuple(replace(made, opsets={**node.opsets, "": _NORMAL}) for made in rewrite(node, around))


def invalid(node: RawNode, why: str) -> ModelError:
    """The error for a node that contradicts the standard."""
    return ModelError(f"{node.where()} is invalid", why=why, fix="check how the model was exported", node=node.label)


def _integers(node: RawNode, name: str) -> list[int] | None:
    value = node.attributes.get(name)
    if value is None:
        return None
    if isinstance(value, tuple) and all(isinstance(item, int) for item in value):
        return [int(item) for item in value]
    raise invalid(node, f"attribute {quoted(name)} must be a list of integers")


def _number(node: RawNode, name: str, default: float) -> float:
    value = node.attributes.get(name, default)
    if isinstance(value, int | float):
        return value
    raise invalid(node, f"attribute {quoted(name)} must be a number")


def _with_operands(
    node: RawNode, around: Surroundings, operands: Mapping[int, npt.ArrayLike | None], drop: tuple[str, ...]
) -> tuple[RawNode, ...]:
    """The node with constants as the inputs of these positions, and without the attributes `drop`."""
    inputs = list(node.inputs)
    made = []
    for position, value in sorted(operands.items()):
        inputs += [""] * (position + 1 - len(inputs))
        if value is not None:
            array = np.asarray(value)
            inputs[position] = around.fresh(f"{node.label}/{drop[0] if len(drop) == 1 else position}")
            made.append(
                RawNode("", "Constant", (), (inputs[position],), {"value": Value(DType.of(array.dtype), array)})
            )
    while inputs and not inputs[-1]:
        inputs.pop()
    return (*made, replace(node.with_attributes(**dict.fromkeys(drop)), inputs=tuple(inputs)))


def _list(node: RawNode, name: str) -> npt.NDArray[np.int64] | None:
    values = _integers(node, name)
    return None if values is None else np.array(values, np.int64)


def _axes(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    return _with_operands(node, around, {1: _list(node, "axes")}, ("axes",))


def _split(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    if node.version < 13:
        *made, node = _with_operands(node, around, {1: _list(node, "split")}, ("split",))
    else:
        made = []
    if len(node.inputs) < 2 and "num_outputs" not in node.attributes:
        node = node.with_attributes(num_outputs=len(node.outputs))
    return (*made, node)


def _clip(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    dtype = around.tensor(node, 0).dtype.numpy
    bounds = {
        position: np.array(_number(node, name, 0.0), dtype) if name in node.attributes else None
        for position, name in ((1, "min"), (2, "max"))
    }
    return _with_operands(node, around, bounds, ("min", "max"))


def _pad(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    value = np.array(_number(node, "value", 0.0), around.tensor(node, 0).dtype.numpy)
    return _with_operands(node, around, {1: _list(node, "pads"), 2: value}, ("pads", "value"))


def _slice(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    names = ("starts", "ends", "axes")
    return _with_operands(node, around, {i + 1: _list(node, name) for i, name in enumerate(names)}, names)


def _top_k(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    return _with_operands(node, around, {1: np.array([_number(node, "k", 1)], np.int64)}, ("k",))


def _resize(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    """Upsample, and Resize of opset 10: scales as second input, no shift of coordinates, rounding down."""
    made: tuple[RawNode, ...] = ()
    if node.op == "Upsample" and node.version < 9:
        *made_first, node = _with_operands(node, around, {1: _scales(node)}, ("scales", "height_scale", "width_scale"))
        made = tuple(made_first)
    mode = node.attributes.get("mode", "nearest")
    mode = "linear" if mode == "bilinear" else mode
    node = node.with_attributes(mode=mode, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return (*made, replace(node, op="Resize", inputs=(node.inputs[0], "", *node.inputs[1:])))


def _scales(node: RawNode) -> npt.NDArray[np.float32]:
    """The scales of an Upsample before opset 9, and before opset 7, when it knew images only."""
    values = node.attributes.get("scales")
    if values is None:
        values = (1.0, 1.0, _number(node, "height_scale", 1.0), _number(node, "width_scale", 1.0))
    if not isinstance(values, tuple) or not all(isinstance(value, int | float) for value in values):
        raise invalid(node, "attribute 'scales' must be a list of numbers")
    return np.array(values, np.float32)


def _stretched(node: RawNode, around: Surroundings, axis: int, names: tuple[str, ...]) -> tuple[RawNode, ...]:
    """The node with its second operand laid along the axes from `axis` on, and without these attributes."""
    node = node.with_attributes(**dict.fromkeys(names))
    rank, shape = len(around.tensor(node, 0).shape), around.tensor(node, 1).shape
    if axis < 0 or axis + len(shape) > rank:
        raise invalid(node, f"{len(shape)} axes do not fit behind axis {axis} of {rank}")
    if axis + len(shape) == rank:
        return (node,)
    target, laid = around.fresh(f"{node.label}/shape"), around.fresh(f"{node.label}/laid")
    sizes = Value(DType.I64, np.array([*shape, *[1] * (rank - axis - len(shape))], np.int64))
    return (
        RawNode("", "Constant", (), (target,), {"value": sizes}),
        RawNode(f"{node.label}/lay", "Reshape", (node.inputs[1], target), (laid,)),
        replace(node, inputs=(node.inputs[0], laid)),
    )


def _placed(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    """Before opset 7 the second operand was broadcast where an attribute said so, along the axes that it named."""
    rank, other = len(around.tensor(node, 0).shape), len(around.tensor(node, 1).shape)
    axis = int(_number(node, "axis", rank - other)) if _number(node, "broadcast", 0) else rank - other
    return _stretched(node, around, axis + rank if axis < 0 else axis, ("axis", "broadcast"))


def _slope(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    """Before opset 7 a slope was one number, or one per channel."""
    rank, shape = len(around.tensor(node, 0).shape), around.tensor(node, 1).shape
    channels = len(shape) == 1 and shape[0] > 1 and rank > 1
    return _stretched(node, around, 1, ()) if channels else (node,)


def _plain_gemm(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    return (node.with_attributes(broadcast=None),)


def _recurrent(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    return (node.with_attributes(output_sequence=None),)


def _dropout(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    if node.version < 7 and not _number(node, "is_test", 0):
        raise _training(node)
    if len(node.inputs) > 2 and node.inputs[2] and np.any(_decided(node, around, 2, "whether it trains")):
        drops = len(node.inputs) < 2 or not node.inputs[1] or np.any(_decided(node, around, 1, "its ratio"))
        if drops:
            raise _training(node)
    return (replace(node.with_attributes(ratio=None, seed=None, is_test=None), inputs=node.inputs[:1]),)


def _decided(node: RawNode, around: Surroundings, index: int, what: str) -> Array:
    """The value of an input that a node must know; UnsupportedNode where it is computed at run time."""
    name = node.inputs[index]
    if name in around.constants:
        return around.constants[name]
    raise UnsupportedNode(
        f"{node.where()}: {what} is not known at compile time",
        why=f"{quoted(name)} is computed at run time",
        fix="give it as an initialiser, or freeze it with --freeze",
        node=node.label,
        tensor=name,
    )


def _batch_normalization(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    if node.version >= 14 and _number(node, "training_mode", 0) and around.outputs.intersection(node.outputs[1:]):
        return (node,)  # who asks for the new statistics means to train
    estimating = node.version < 7 and not _number(node, "is_test", 0)
    if estimating or _number(node, "training_mode", 0) or any(node.outputs[1:]):
        raise _training(node)
    if not _number(node, "spatial", 1):
        why, fix = "its statistics differ from place to place", "export it with spatial = 1, one mean per channel"
        raise UnsupportedNode(node.where(), why=why, fix=fix, node=node.label)
    node = node.with_attributes(training_mode=None, momentum=None, spatial=None, is_test=None)
    return (replace(node, outputs=node.outputs[:1]),)


def _training(node: RawNode) -> UnsupportedNode:
    why, fix = "it is in training mode", "export the model for inference (model.eval())"
    return UnsupportedNode(node.where(), why=why, fix=fix, node=node.label)


def _softmax(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    """Before opset 13 all axes from `axis` on were one; that is a Softmax between two Reshapes."""
    tensor = around.tensor(node, 0)
    rank = len(tensor.shape)
    axis = int(_number(node, "axis", 1))
    if not -rank <= axis <= rank:
        raise invalid(node, f"axis {axis} of a tensor with {rank} dimensions")
    axis = axis + rank if axis < 0 else axis
    if axis == rank or (rank == 0):
        raise invalid(node, f"axis {axis} of a tensor with {rank} dimensions")
    if prod(tensor.shape[axis + 1 :]) == 1:
        return (node.with_attributes(axis=axis),)
    flat, soft = around.fresh(f"{node.label}/flat"), around.fresh(f"{node.label}/soft")
    shapes = [around.fresh(f"{node.label}/shape") for _ in range(2)]
    sizes = ([prod(tensor.shape[:axis]), prod(tensor.shape[axis:])], list(tensor.shape))
    constants = [
        RawNode("", "Constant", (), (name,), {"value": Value(DType.I64, np.array(size, np.int64))})
        for name, size in zip(shapes, sizes, strict=True)
    ]
    return (
        *constants,
        RawNode(f"{node.label}/flatten", "Reshape", (node.inputs[0], shapes[0]), (flat,)),
        replace(node.with_attributes(axis=1), inputs=(flat,), outputs=(soft,)),
        RawNode(f"{node.label}/unflatten", "Reshape", (soft, shapes[1]), node.outputs),
    )


def _grid_sample(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    names = {"bilinear": "linear", "bicubic": "cubic"}
    mode = str(node.attributes.get("mode", "bilinear"))
    return (node.with_attributes(mode=names.get(mode, mode)),)


def _scatter(node: RawNode, around: Surroundings) -> tuple[RawNode, ...]:
    return (replace(node, op="ScatterElements"),)


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")

# operator -> (the first version whose form needs nothing, what to do below it)
_RULES: dict[str, tuple[int, Rewrite]] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"), (7, _placed)),
    "PRelu": (7, _slope),
    "Gemm": (7, _plain_gemm),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (7, _recurrent)),
    "Squeeze": (13, _axes),
    "Unsqueeze": (13, _axes),
    "ReduceSum": (13, _axes),
    **{f"Reduce{name}": (18, _axes) for name in _REDUCTIONS},
    "Split": (18, _split),
    "Clip": (11, _clip),
    "Pad": (11, _pad),
    "Slice": (10, _slice),
    "TopK": (10, _top_k),
    "Upsample": (10, _resize),
    "Resize": (11, _resize),
    "Dropout": (_NORMAL, _dropout),
    "BatchNormalization": (_NORMAL, _batch_normalization),
    "Softmax": (13, _softmax),
    "LogSoftmax": (13, _softmax),
    "Hardmax": (13, _softmax),
    "GridSample": (20, _grid_sample),
    "Scatter": (11, _scatter),
}
