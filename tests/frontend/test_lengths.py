"""Axes of which data decides the length: what they go through, what refuses them, and how a bound is named."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from onnx import TensorProto
from tilewright.errors import UnsupportedNode, UsageError
from tilewright.frontend.load import load
from tilewright.model import Length, Model
from tilewright.options import StateWish

CONSTANTS = {
    "one": np.array([1]), "zero": np.array([0]), "flat": np.array([-1]), "rows": np.array([1, -1, 3]),
    "w": np.ones((3, 2), np.float32), "table": np.ones((5, 2), np.float32), "v": np.ones(15, np.float32),
    "three": np.ones(3, np.float32), "k": np.array([2]), "i": np.array([0]), "pads": np.array([0, 0, 0, 1]),
    "end": np.array([2]), "tuples": np.array([[-1, 1]]),
}  # fmt: skip


def chosen(*nodes: onnx.NodeProto, outputs: str = "y") -> onnx.ModelProto:
    """What lies behind rows `r` of `x` that a condition selects, and behind their places `p`."""
    first = [
        node("Compress", "x c", "r", "choose", axis=0),
        node("NonZero", "c", "found"),
        node("Squeeze", "found zero", "p"),
    ]
    return onnx_model(
        [*first, *nodes], {"x": [15, 3], "c": [15], "x2": [15, 3]}, outputs.split(), CONSTANTS,
        types={"c": TensorProto.BOOL},
    )  # fmt: skip


def lengths(model: Model, name: str = "y") -> tuple[int, ...]:
    return tuple(length.axis for length in model.tensors[name].lengths)


THROUGH = {
    "elements": ([node("Relu", "r", "y")], (0,)),
    "broadcast": ([node("Add", "r three", "y")], (0,)),
    "both": ([node("Mul", "r r", "y")], (0,)),
    "product": ([node("MatMul", "r w", "y")], (0,)),
    "sum of another axis": ([node("ReduceSum", "r one", "y", keepdims=0)], (0,)),
    "softmax of rows": ([node("Softmax", "r", "y", axis=1)], (0,)),
    "turned": ([node("Transpose", "r", "y", perm=[1, 0])], (1,)),
    "view": ([node("Reshape", "r rows", "y")], (1,)),
    "unsqueezed": ([node("Unsqueeze", "r zero", "y")], (1,)),
    "beside": ([node("Concat", "r r", "y", axis=1)], (0,)),
    "another axis cut": ([node("Slice", "r one end one", "y")], (0,)),
    "padded beside": ([node("Pad", "r pads", "y")], (0,)),
    "rows by index": ([node("Clip", "p", "q"), node("Gather", "x2 p", "y")], (0,)),
    "a column": ([node("Gather", "r k", "y", axis=1)], (0,)),
    "rows by tuples": ([node("Unsqueeze", "p one", "q"), node("GatherND", "x2 q", "y")], (0,)),
}


@pytest.mark.parametrize("name", THROUGH)
def test_an_axis_goes_through_where_no_element_depends_on_padding(name: str) -> None:
    nodes, axes = THROUGH[name]
    model = load(chosen(*nodes))
    assert lengths(model) == axes
    assert model.outputs == ("y", model.tensors["y"].lengths[0].count)


REFUSED = {
    "it combines them": [node("ReduceSum", "r zero", "y")],
    "it reads single ones of them": [node("Gather", "r i", "y")],
    "another operand has a fixed number of them": [node("Add", "r x2", "y")],
    "another operand has another number of them": [
        node("Cast", "p", "f", to=1), node("ReduceSum", "r one", "s", keepdims=0), node("Add", "f s", "y")
    ],
    "its result has no such axis": [node("Reshape", "r flat", "y")],
    "it moves along that axis": [node("Slice", "r zero end", "y")],
    "it reads the whole of its operands": [node("TopK", "r k", "y i2", axis=0)],
    "its padding would be read too: the node takes indices of axis 0, which has 15 elements": [
        node("Add", "p one", "q"), node("Gather", "x2 q", "y")
    ],
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_would_read_padding_is_refused(why: str) -> None:
    with pytest.raises(UnsupportedNode) as caught:
        load(chosen(*REFUSED[why]))
    assert caught.value.why.startswith("data decides how many elements ")
    assert caught.value.why.endswith(why), caught.value.why
    assert caught.value.fix == "end the model before this node and go on in the application, which is given the count"


def test_the_shape_of_such_a_tensor_is_computed_from_its_count() -> None:
    model = load(chosen(node("Shape", "r", "y"), node("Shape", "r", "z", start=1), outputs="y z r"))
    concat = next(each for each in model.nodes if "y" in each.outputs)
    assert concat.op == "Concat"
    assert concat.inputs[0] == "r_count"
    assert model.tensors["r"].lengths == (Length(0, "r_count"),)
    assert model.outputs == ("y", "z", "r", "r_count")


@pytest.mark.parametrize("name", ["choose", "r", "y", "n", "r_count"])
def test_a_bound_is_named_by_node_tensor_or_dimension(name: str) -> None:
    proto = chosen(node("Relu", "r", "y"))
    for size in ("n", 3):
        dimension = proto.graph.output[0].type.tensor_type.shape.dim.add()
        if isinstance(size, str):
            dimension.dim_param = size
        else:
            dimension.dim_value = size
    model = load(proto, bounds={name: 4})
    assert model.tensors["y"].shape == (4, 3)
    assert load(proto, bounds={name: 99}).tensors["y"].shape == (15, 3)


def test_a_name_that_no_length_has_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        load(chosen(node("Relu", "r", "y")), bounds={"boxes": 4})
    assert str(caught.value) == ("--bound boxes: data does not decide of its length; there are 'choose', 'r', 'y'")
    with pytest.raises(UsageError, match="--bound boxes: data decides of no length here; leave it out"):
        load(onnx_model([node("Relu", "x", "y")], {"x": [2]}, ["y"]), bounds={"boxes": 4})


def test_what_data_makes_as_long_as_it_likes_is_no_state() -> None:
    wish = StateWish((("x2", "y"),))
    with pytest.raises(UsageError, match="'y' cannot be the next 'x2': data decides how long it is"):
        load(chosen(node("Add", "r three", "more"), node("Identity", "more", "y"), outputs="y"), state=wish)
