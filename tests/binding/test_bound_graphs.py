"""The checker of bound graphs sees every wrong graph that is planted; graphs that binding makes pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from binding.drawn_bindings import PLATFORM, kernel
from deployed import after, deployment
from tilewright.binding.bind import bind
from tilewright.binding.check import check
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.binding.order import as_offered
from tilewright.binding.types import mismatch
from tilewright.errors import TilewrightError
from tilewright.kernel import LayoutRule
from tilewright.layout import Layout
from tilewright.model import DType, Model, Node, Quantisation, Tensor
from tilewright.ops.registry import call_of
from tilewright.platform import Kernel, KernelMethods, Operands
from tilewright.schedule.moves.kernels import ScratchAtPeak

SHAPE = (1, 2, 3, 4)
LAST = Layout.channels_last(SHAPE)
RELU = kernel("Relu", "Relu", ("default", "channels_last"), "f32 -> f32")
ADD = kernel("Add", "Add", ("same", "same"), "f32, f32 -> f32")
EXP = kernel("Exp", "Exp", ("axes", "like"), "f32, f32? -> f32")
MOVE = kernel("Move", "Relayout", ("any", "any"))
KERNELS = (RELU, ADD, EXP, MOVE)


def graph() -> BoundGraph:
    """r = Relu(x), s = r + r, e = Exp(s), v = Reshape(e), w = Transpose(e), z = copy of w; outputs v, x, c and w."""
    shapes = {"x": SHAPE, "r": SHAPE, "s": SHAPE, "e": SHAPE, "v": (2, 12), "w": (1, 3, 4, 2), "c": (2,)}
    nodes = (
        Node("relu", "Relu", ("x",), ("r",)),
        Node("add", "Add", ("r", "r"), ("s",)),
        Node("exp", "Exp", ("s",), ("e",)),
        Node("flat", "Reshape", ("e",), ("v",)),
        Node("turned", "Transpose", ("e",), ("w",), {"perm": (0, 2, 3, 1)}),
    )
    tensors = {name: Tensor(name, DType.F32, shape) for name, shape in shapes.items()}
    constants = {"c": np.zeros(2, np.float32)}
    return bind(Model("wrong", nodes, tensors, constants, ("x",), ("v", "x", "c", "w"), 21), PLATFORM, KERNELS)


def wrong(changed: BoundGraph) -> str:
    """What the checker says."""
    with pytest.raises(TilewrightError) as error:
        check(changed)
    assert error.value.code == 1
    return str(error.value)


def with_node(made: BoundGraph, name: str, **changes: object) -> BoundGraph:
    """The graph with parts of one node's call replaced, or its kernel."""
    nodes = []
    for bound in made.nodes:
        if bound.call.node.name == name:
            taken = changes.pop("kernel", bound.kernel)
            assert taken is None or isinstance(taken, Kernel)
            bound = BoundNode(replace(bound.call, **changes), taken)  # type: ignore[arg-type]
        nodes.append(bound)
    return replace(made, nodes=tuple(nodes))


def with_layouts(made: BoundGraph, layouts: Mapping[str, Layout]) -> BoundGraph:
    """The graph with other layouts."""
    return replace(made, layouts={**made.layouts, **layouts})


def with_outputs(made: BoundGraph, *outputs: str) -> BoundGraph:
    """The graph with other outputs."""
    return replace(made, model=replace(made.model, outputs=outputs))


def tensor(made: BoundGraph, name: str) -> Tensor:
    """One of its tensors."""
    return made.model.tensors[name]


def test_what_binding_makes_is_right() -> None:
    made = graph()
    check(made)
    assert made.model.outputs == ("v_out", "x_out", "c_out", "w")
    assert {name: made.layouts[name] for name in ("r", "s", "e")} == dict.fromkeys(("r", "s", "e"), LAST)
    assert made.layouts["w"].is_default


def test_reading_before_writing_is_seen() -> None:
    made = graph()
    turned = replace(made, nodes=(made.nodes[1], made.nodes[0], *made.nodes[2:]))
    assert wrong(turned) == (
        "binding is inconsistent: node 'add' reads 'r' before it is written: this is a bug in tilewright; "
        "please report it with the model"
    )
    assert "reads 'r' before it is written" in wrong(replace(made, nodes=made.nodes[1:]))
    assert "node 'relu' writes 'r' a second time" in wrong(replace(made, nodes=(made.nodes[0], *made.nodes)))


def test_a_missing_layout_is_seen() -> None:
    made = graph()
    without = replace(made, layouts={name: layout for name, layout in made.layouts.items() if name != "e"})
    assert "node 'exp' has no fitting layout for 'e'" in wrong(without)
    assert "node 'relu' has no fitting layout for 'x'" in wrong(with_layouts(made, {"x": Layout.default((5,))}))


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (("channels_last", "channels_last"), "gets 'x' as row-major, its kernel wants channels_last"),
        (("default", "default"), "gives 'r' as 2x12 stored 1,0, its kernel promises default"),
        (("default", "same"), "gives 'r' as 2x12 stored 1,0, its kernel promises same"),
        (("default", "any"), "gives 'r' as 2x12 stored 1,0, its kernel promises any"),
        (("default", "like"), "gives 'r' as 2x12 stored 1,0, its kernel promises like"),
    ],
)
def test_a_layout_that_the_kernel_does_not_declare_is_seen(layout: tuple[LayoutRule, LayoutRule], text: str) -> None:
    made = with_node(graph(), "relu", kernel=replace(RELU, layout=layout))
    assert f"node 'relu' {text}" in wrong(made)


@pytest.mark.parametrize("rule", ["default", "rows"])
def test_row_major_operands_are_row_major(rule: LayoutRule) -> None:
    made = with_node(graph(), "exp", kernel=replace(EXP, layout=(rule, "like")))
    assert f"node 'exp' gets 's' as 2x12 stored 1,0, its kernel wants {rule}" in wrong(made)


@pytest.mark.parametrize("rule", ["axes", "same", "like"])
def test_operands_have_a_stride_along_each_axis(rule: LayoutRule) -> None:
    shapes = {"x": (1, 2, 12), "r": (1, 2, 12), "v": (1, 4, 6), "y": (1, 4, 6)}
    nodes = (Node("relu", "Relu", ("x",), ("r",)), Node("cut", "Reshape", ("r",), ("v",)),
             Node("exp", "Exp", ("v",), ("y",)))  # fmt: skip
    tensors = {name: Tensor(name, DType.F32, shape) for name, shape in shapes.items()}
    made = bind(
        Model("cut", nodes, tensors, {}, ("x",), ("y",), 21), PLATFORM, (RELU, replace(EXP, layout=("any", "any")))
    )
    strict = with_node(made, "exp", kernel=replace(EXP, layout=(rule, "any")))
    assert f"node 'exp' gets 'v' as 2x12 stored 1,0, its kernel wants {rule}" in wrong(strict)


def test_operands_of_one_shape_lie_alike() -> None:
    made = graph()
    r, x = tensor(made, "r"), tensor(made, "x")
    mixed = with_node(made, "add", inputs=(r, x))
    assert "node 'add' gets operands of its result's shape in several orders, its kernel wants same" in wrong(mixed)


def test_types_that_the_kernel_does_not_declare_are_seen() -> None:
    made = graph()
    codes = replace(RELU, types=(("qi8",), ("f32",)))
    assert "node 'relu' has 'x' as f32, its kernel wants qi8" in wrong(with_node(made, "relu", kernel=codes))
    results = replace(RELU, types=(("f32",), ("i8|i16",)))
    assert "node 'relu' has 'r' as f32, its kernel wants i8|i16" in wrong(with_node(made, "relu", kernel=results))
    one = replace(ADD, types=(("f32",), ("f32",)))
    assert "node 'add' has 'r' as f32, its kernel wants nothing there" in wrong(with_node(made, "add", kernel=one))
    two = replace(RELU, types=(("f32", "i64"), ("f32",)))
    assert "node 'relu' lacks an operand that its kernel wants as i64" in wrong(with_node(made, "relu", kernel=two))
    for fitting in (("f32", "i64?"), ("f32", "i64..."), ("i8|f32",), ("*",), ("f32...",)):
        check(with_node(made, "relu", kernel=replace(RELU, types=(fitting, ("f32",)))))


def test_views_show_what_lies_there() -> None:
    made = graph()
    assert "node 'turned' shows 'e' as 2x12 stored 1,0, its bytes lie otherwise" in wrong(
        with_layouts(made, {"w": LAST})
    )
    assert "node 'flat' shows 'e' as row-major, its bytes lie otherwise" in wrong(
        with_layouts(made, {"v": Layout.default(SHAPE)})
    )
    codes = replace(tensor(made, "v"), quantisation=Quantisation((0.5,), (0,)))
    assert "node 'flat' shows 'e' as another type or size" in wrong(with_node(made, "flat", outputs=(codes,)))
    assert "node 'exp' has no kernel and is no view" in wrong(with_node(made, "exp", kernel=None))


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        (("x",), "output 'x' lies in the bytes of an input after binding"),
        (("c",), "output 'c' lies in the bytes of a constant after binding"),
        (("v_out", "v"), "output 'v' is not row-major after binding"),
        (("w", "w"), "output 'w' lies in the bytes of output 'w' after binding"),
        (("lost",), "the bound graph never writes output 'lost'"),
    ],
)
def test_outputs_that_are_no_results_of_their_own_are_seen(outputs: tuple[str, ...], text: str) -> None:
    made = graph()
    layouts = {"c": Layout.default((2,))}
    assert wrong(with_outputs(with_layouts(made, layouts), *outputs)) == text


def test_an_output_that_shows_another_is_seen() -> None:
    tensors = {name: Tensor(name, DType.F32, SHAPE) for name in ("x", "a", "b", "y")}
    nodes = (Node("exp", "Exp", ("x",), ("a",)), Node("one", "Identity", ("a",), ("b",)),
             Node("two", "Identity", ("x",), ("y",)))  # fmt: skip
    model = Model("shown", nodes, tensors, {}, ("x",), ("a", "b", "y"), 21)
    made = bind(model, PLATFORM, KERNELS)
    assert made.model.outputs == ("a", "b_out", "y_out")
    assert wrong(with_outputs(made, "b", "a")) == "output 'a' lies in the bytes of output 'b' after binding"
    assert wrong(with_outputs(made, "y")) == "output 'y' lies in the bytes of an input after binding"


class Scratch(KernelMethods):
    """A kernel that wants working memory."""

    def scratch(self, operands: Operands) -> int:
        """Bytes."""
        return 64


def test_a_kernel_with_scratch_stays_where_no_other_can_be_bound() -> None:
    tensors = {name: Tensor(name, DType.F32, SHAPE) for name in "xy"}
    model = Model("peak", (Node("relu", "Relu", ("x",), ("y",)),), tensors, {}, ("x",), ("y",), 21)
    fast = replace(RELU, name="Fast", layout=("default", "default"), methods=Scratch())
    kernels = (fast, RELU)
    kept = after(deployment(model, PLATFORM, kernels, order=as_offered), ScratchAtPeak()).deployment.bound
    assert [node.kernel for node in kept.nodes] == [fast]


def test_a_kernel_that_needs_an_operand_is_refused_where_it_is_omitted() -> None:
    wants = replace(EXP, types=(("f32", "f32", "*..."), ("f32",)))
    tensors = {name: Tensor(name, DType.F32, SHAPE) for name in "xy"}
    call = call_of(Node("exp", "Exp", ("x", ""), ("y",)), (tensors["x"], None), (tensors["y"],))
    assert mismatch(wants, call) == "operand 1 is missing, the kernel needs it"
