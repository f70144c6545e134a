"""Plans from models: per node, per primitive; constant transposes; order, builder and metadata; parallel runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graphs import node, onnx_model
from plan.plans import chain, model_of, plan_of, random_inputs
from tilewright.errors import ModelError, UnsupportedNode, UsageError
from tilewright.graphs.graph import GraphBuilder, dependencies, node_metadata, topological_order
from tilewright.graphs.lower import compile_plan, compile_traced
from tilewright.graphs.parallel import parallel_forward
from tilewright.graphs.primitives import PRIMITIVES
from tilewright.graphs.runner import PlanRunner
from tilewright.graphs.transposes import fold_constant_transposes
from tilewright.model import Quantisation, Tensor
from tilewright.plan.execute import run, run_slots
from tilewright.plan.recompute import live_bytes, recompute_or_store

RNG = np.random.default_rng(3)


def test_one_instruction_per_node() -> None:
    found = compile_plan(model_of(chain(["Relu", "Exp", "Softmax"]), passes=False))
    assert [i.op_name for i in found.plan.instructions] == ["Relu", "Exp", "Softmax"]
    assert found.removed == ()


def classifier() -> Any:
    nodes = [
        node("Conv", "x w", "c", "conv", pads=[1, 1, 1, 1]), node("Relu", "c", "r", "relu"),
        node("GlobalAveragePool", "r", "g", "pool"), node("Flatten", "g", "f", "flat"),
        node("Gemm", "f m b", "d", "dense", transB=1, alpha=0.5, beta=2.0), node("LeakyRelu", "d", "l", "leaky"),
        node("Softmax", "l", "s", "soft"), node("LogSoftmax", "l", "t", "log"), node("Add", "s t", "y", "add"),
    ]  # fmt: skip
    constants = {
        "w": RNG.standard_normal((4, 3, 3, 3)).astype(np.float32),
        "m": RNG.standard_normal((5, 4)).astype(np.float32),
        "b": RNG.standard_normal(5).astype(np.float32),
    }
    return onnx_model(nodes, {"x": (1, 3, 6, 6)}, ["y"], constants)


@pytest.mark.parametrize("passes", [False, True])
def test_composite_operators_are_traced_to_primitives(passes: bool) -> None:
    model = model_of(classifier(), passes=passes)
    plain, traced = compile_plan(model).plan, compile_traced(model).plan
    assert {i.op_name for i in traced.instructions} <= PRIMITIVES
    assert len(traced.instructions) > len(plain.instructions)
    assert not any(i.call.node.clamp for i in traced.instructions)
    inputs = random_inputs(plain)
    assert np.allclose(run(traced, inputs)[0], run(plain, inputs)[0], rtol=1e-5, atol=1e-5)


def test_what_is_no_primitive_is_refused_when_compiling() -> None:
    model = model_of(onnx_model([node("LRN", "x", "y", "lrn", size=3)], {"x": (1, 4, 2, 2)}, ["y"]))
    with pytest.raises(UnsupportedNode, match=r"node 'lrn' \(LRN\) cannot be traced to primitives: .*use compile_plan"):
        compile_traced(model)


def test_constant_transposes_are_folded() -> None:
    weights = RNG.standard_normal((5, 8)).astype(np.float32)
    nodes = [node("Transpose", "w", "v", "turn", perm=[1, 0]), node("MatMul", "x v", "y", "product")]
    model = model_of(onnx_model(nodes, {"x": (2, 8)}, ["y"], {"w": weights}), passes=False)
    folded = fold_constant_transposes(model)
    assert [n.op for n in folded.nodes] == ["MatMul"]
    assert fold_constant_transposes(folded) is folded
    inputs = random_inputs(plan_of(model))
    assert np.array_equal(run(plan_of(folded), inputs)[0], run(plan_of(model), inputs)[0])


@pytest.mark.parametrize(("perm", "axis"), [((1, 0), 1), ((0, 1), 0), (None, 1)])
def test_the_axis_of_scales_moves_with_a_folded_transpose(perm: tuple[int, ...] | None, axis: int) -> None:
    """Weights of five outputs and eight inputs with a scale per output."""
    meaning = Quantisation((0.5, 1.0, 2.0, 4.0, 8.0), (0,) * 5, 0)
    folded = folded_codes((5, 8), meaning, perm)
    assert folded.quantisation == replace(meaning, axis=axis)
    assert folded.shape[axis] == len(meaning.scale)
    assert folded_codes((5, 8), Quantisation((0.5,), (0,)), perm).quantisation == Quantisation((0.5,), (0,))


def test_the_axis_of_scales_moves_through_three_axes() -> None:
    """Where an axis goes is not where that place comes from: the two permutations are each other's inverse."""
    meaning = Quantisation((0.5, 1.0), (0, 0), 0)
    folded = folded_codes((2, 3, 4), meaning, (2, 0, 1))
    assert (folded.shape, folded.quantisation) == ((4, 2, 3), replace(meaning, axis=1))


def folded_codes(shape: tuple[int, ...], meaning: Quantisation, perm: tuple[int, ...] | None) -> Tensor:
    """What becomes of constant codes that are transposed and read."""
    builder = GraphBuilder()
    codes = builder.parameter("w", RNG.integers(-100, 100, shape).astype(np.int8))
    turned = builder.add_node("Transpose", codes, output="v", **({} if perm is None else {"perm": perm}))
    model = builder.build(builder.add_node("Abs", turned, output="y"))
    tensors = {**model.tensors, "w": replace(model.tensors["w"], quantisation=meaning)}
    folded = fold_constant_transposes(model.replace(tensors=tensors))
    assert [n.op for n in folded.nodes] == ["Abs"]
    assert np.array_equal(folded.constants["v"], model.constants["w"].transpose(perm))
    assert folded.constants["v"].shape == folded.tensors["v"].shape
    return folded.tensors["v"]


def test_a_transpose_that_is_an_output_stays() -> None:
    builder = GraphBuilder()
    turned = builder.add_node("Transpose", builder.parameter("w", np.ones((3, 2), np.float32)), output="v")
    model = builder.build(turned, builder.add_node("Exp", builder.input("x", (2,)), output="y"))
    assert fold_constant_transposes(model) is model


def test_a_graph_is_built_ordered_and_described() -> None:
    builder = GraphBuilder()
    x = builder.input("x", (2, 4))
    last = builder.add_node("Relu", "product", output="y")
    product = builder.add_node("MatMul", x, builder.parameter("w", np.ones((4, 3), np.float32)), output="product")
    assert builder.parameters() == ("w",)
    model = builder.build(last)
    assert [n.op for n in model.nodes] == ["MatMul", "Relu"]
    assert model.tensors["y"].shape == (2, 3)
    assert topological_order(model) == model.nodes
    assert dependencies(model) == {"node_product": (), "node_y": ("node_product",)}
    found = node_metadata(model, f"node_{product}")
    assert (found.op_type, found.output_shape, found.attributes, found.parameter_count) == ("MatMul", (2, 3), {}, 12)
    assert np.array_equal(run(plan_of(model), [np.ones((2, 4), np.float32)])[0], np.full((2, 3), 4, np.float32))
    with pytest.raises(UsageError, match="the network has no node 'nothing'"):
        node_metadata(model, "nothing")


def test_circles_and_unknown_names_are_found() -> None:
    builder = GraphBuilder()
    x = builder.input("x", (2,))
    builder.add_node("Add", x, "b", output="a")
    builder.add_node("Neg", "a", output="b")
    builder.add_node("Neg", "x", output="c")
    with pytest.raises(ModelError, match="cycle detected in graph: these nodes wait for one another: node_a, node_b"):
        builder.build("b")
    with pytest.raises(ModelError, match="nothing makes 'nowhere'"):
        builder.build("nowhere")
    with pytest.raises(UsageError, match="'x' cannot name a tensor: the name is taken"):
        builder.input("x", (1,))


@pytest.mark.parametrize("name", ["digits_int8", "odd_several", "odd_unet_int8"])
def test_parallel_forward_equals_sequential(network: Callable[[str], Any], name: str) -> None:
    plan = plan_of(network(name).model)
    inputs = random_inputs(plan)
    for one, other in zip(parallel_forward(plan, inputs), run_slots(plan, inputs), strict=True):
        assert np.array_equal(one, other)
    with pytest.raises(UsageError, match="the plan takes"):
        parallel_forward(plan, [])


def test_parallel_forward_starts_what_has_no_operands() -> None:
    """An instruction of constants alone waits for nothing."""
    nodes = [node("Add", "a b", "c", "sum"), node("Mul", "c x", "y", "product")]
    constants = {"a": np.array([1, 2], np.float32), "b": np.array([3, 4], np.float32)}
    model = model_of(onnx_model(nodes, {"x": (2,)}, ["y"], constants), passes=False)
    plan = plan_of(model)
    assert np.array_equal(parallel_forward(plan, [np.array([1, 1], np.float32)])[plan.output_slot], [4, 6])


def test_a_result_is_computed_again_where_that_saves_bytes() -> None:
    """A wide result that is read at once and at the very end would lie beside the widest moment in between."""
    nodes = [
        node("Expand", "x wide", "a", "early"), node("ReduceSum", "a axes", "b", "sum", keepdims=1),
        node("Expand", "b wider", "c", "widen"), node("Softmax", "c", "d", "soft"),
        node("ReduceSum", "d axes", "e", "total", keepdims=1), node("Add", "a e", "y", "late"),
    ]  # fmt: skip
    constants = {"wide": np.array([1, 4096]), "wider": np.array([1, 16384]), "axes": np.array([1])}
    plan = plan_of(onnx_model(nodes, {"x": (1, 1)}, ["y"], constants), passes=False)
    found = recompute_or_store(plan)
    assert found.names == ("early",)
    assert found.live_after < found.live_before == live_bytes(plan)
    assert found.live_after == live_bytes(found.plan)
    assert found.added_cost > 0
    inputs = random_inputs(plan)
    runner = PlanRunner(found.plan)
    runner.preallocate_buffers()
    assert np.array_equal(runner.run(*inputs)[0], run(plan, inputs)[0])
    assert recompute_or_store(plan, most_cost=0.0).plan is plan
    assert recompute_or_store(plan, most_cost=found.added_cost).names == ("early",)
    assert recompute_or_store(plan, most_cost=found.added_cost - 1).plan is plan
    wanted = plan_of(onnx_model(nodes, {"x": (1, 1)}, ["y", "a"], constants), passes=False)
    assert "early" not in recompute_or_store(wanted).names
    assert recompute_or_store(plan_of(chain(["Relu", "Exp"]))).names == ()
