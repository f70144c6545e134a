"""The shapes that a file declares for its tensors, held against those that our shape rules give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from tilewright.errors import ModelError
from tilewright.frontend.names import quoted
from tilewright.model import Model, Shape, Tensor

if TYPE_CHECKING:
    import onnx

Sizes = tuple[int | None, ...]
"""One entry per axis, None where the file leaves it open."""

Bare = Callable[[], "onnx.ModelProto"]


def declared_shapes(proto: onnx.ModelProto) -> dict[str, Sizes]:
    """The shapes of the top graph's inputs, outputs and inner tensors, where the file gives any."""
    graph = proto.graph
    return {
        value.name: _sizes(value)
        for value in (*graph.value_info, *graph.output, *graph.input)
        if value.type.HasField("tensor_type") and value.type.tensor_type.HasField("shape")
    }


def declared_names(proto: onnx.ModelProto) -> dict[str, tuple[str, ...]]:
    """The names that a file gives the dimensions of the same tensors, empty where it gives none."""
    graph = proto.graph
    return {
        value.name: tuple(dimension.dim_param for dimension in value.type.tensor_type.shape.dim)
        for value in (*graph.value_info, *graph.output, *graph.input)
        if value.type.HasField("tensor_type") and value.type.tensor_type.HasField("shape")
    }


def _sizes(value: onnx.ValueInfoProto) -> Sizes:
    """A dimension of 0 is how some exporters write one that they do not know."""
    return tuple(d.dim_value or None for d in value.type.tensor_type.shape.dim)


def held_against(
    declared: Mapping[str, Sizes], model: Model, inputs: Mapping[str, Tensor], bare: Bare, file: str
) -> tuple[str, ...]:
    """Sentences on outputs that the file declares otherwise; nothing where the user changed the shape of an input.

    ModelError where the standard's own shape inference contradicts our shape too: one of the two would be wrong.
    `bare` gives the message without its large values, with the inputs' settled types.
    """
    if any(_differ(declared.get(name, ()), tensor.shape) for name, tensor in inputs.items() if name in declared):
        return ()
    others = [name for name in declared if name in model.tensors and name not in inputs]
    wrong = [name for name in others if _differ(declared[name], model.tensors[name].shape)]
    if not wrong:
        return ()
    inferred = _inferred(bare())
    for name in wrong:
        if name in inferred and _differ(inferred[name], model.tensors[name].shape):
            shape = list(model.tensors[name].shape)
            raise ModelError(
                f"tensor {quoted(name)} has the shape {shape}",
                why=f"the file and the standard's shape inference give it {_text(inferred[name])}",
                fix="write the node that makes it with explicit pads or sizes, or correct the declaration",
                tensor=name,
                file=file,
            )
    return tuple(_notes(wrong, declared, model))


def _notes(wrong: list[str], declared: Mapping[str, Sizes], model: Model) -> Iterator[str]:
    for name in wrong:
        if name in model.outputs:
            shape = _text(model.tensors[name].shape)
            yield f"output {quoted(name)} has shape {shape}, the file declares {_text(declared[name])}"


def _differ(sizes: Sizes, shape: Shape) -> bool:
    return len(sizes) != len(shape) or any(s not in (None, n) for s, n in zip(sizes, shape, strict=True))


def _text(sizes: Sizes) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in sizes) + "]"


def _inferred(bare: onnx.ModelProto) -> dict[str, Sizes]:
    """What the standard's shape inference says of every tensor; nothing where it fails."""
    import onnx

    for value in bare.graph.output:
        value.type.Clear()
    try:
        inferred = onnx.shape_inference.infer_shapes(bare)
    except (RuntimeError, ValueError, TypeError):
        return {}
    return declared_shapes(inferred)
