"""Networks run tile by tile from copies of the boxes alone give the bits of the untiled reference."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import NetworkFiles
from graphs import onnx_model
from onnx import helper
from tilewright.compile import compile_model
from tilewright.graphs.tiled import run as run_tiled
from tilewright.options import CompileOptions
from tilewright.plan.build import build
from tilewright.plan.execute import run as run_whole
from tilewright.schedule.tile import tile
from tilewright.target import load_target
from tilewright.tiling.check import check
from tilewright.tiling.expand import expand
from tilewright.tiling.front import walked
from tilewright.tiling.options import works_of
from tilewright.tiling.schedule import Stage
from tilewright.tiling.subject import subject_of
from tilewright.tiling.switches import TileOptions
from tilewright.tiling.tiled_graph import TiledGraph
from tiling.cutting import conv_call, levels, matmul_call, unary_call
from tiling.networks import bound, graph_of, sized

KIB = 1024
Find = Callable[[str], NetworkFiles]


@pytest.mark.parametrize(("name", "kib"), [("digits_int8", 2), ("resnet8_int8", 32)])
def test_tiled_equals_untiled(network: Find, name: str, kib: int) -> None:
    files = network(name)
    graph = bound(files.model)
    plan = build(tile(graph, sized(kib * KIB)), constants=False)
    assert any(i.schedule is not None and i.schedule.tiles > 1 for i in plan.instructions)
    inputs = [files.arrays()[0][n].astype(graph.model.tensors[n].dtype.numpy) for n in graph.model.inputs]
    for tiled, whole in zip(run_tiled(plan, inputs), run_whole(plan, inputs), strict=True):
        np.testing.assert_array_equal(tiled, whole)


@pytest.mark.parametrize("kib", [5, 6, 8])
def test_fused_chains_with_halos_equal_the_layers(kib: int) -> None:
    first = conv_call(8, 8, 12, y="a", name="first")
    graph = graph_of([first, conv_call(8, 12, 12, x="a", y="b", name="second"),
                      unary_call("Relu", (1, 12, 12, 12), x="b", y="y")])  # fmt: skip
    tiled = tile(graph, sized(kib * KIB), options=TileOptions(objective="bytes", pin=False))
    assert tiled.fused
    plan = build(tiled, constants=False)
    data = np.random.default_rng(5).integers(-100, 100, (1, 8, 12, 12)).astype(np.int8)
    np.testing.assert_array_equal(run_tiled(plan, [data])[0], run_whole(plan, [data])[0])


def test_a_fused_dense_layer_equals_the_layers() -> None:
    graph = graph_of([matmul_call(23, 16, 40), unary_call("Relu", (23, 40))])
    tiled = tile(graph, sized(2 * KIB), options=TileOptions(objective="bytes", pin=False))
    assert tiled.fused
    plan = build(tiled, constants=False)
    data = np.random.default_rng(5).integers(-100, 100, (23, 16)).astype(np.int8)
    np.testing.assert_array_equal(run_tiled(plan, [data])[0], run_whole(plan, [data])[0])


def test_a_box_that_is_too_small_is_seen() -> None:
    """The halo is cut off by hand: the executor must differ."""
    graph = graph_of([conv_call(8, 8, 12)])
    tiled = tile(graph, sized(3 * KIB), options=TileOptions(pin=False))
    ((name, schedule),) = tiled.schedules.items()
    (stage,) = schedule.stages
    short = {loop: (1 if loop in ("kh", "kw") else extent) for loop, extent in stage.extents.items()}
    broken = replace(schedule, stages=(Stage(stage.node, short, stage.operands),))
    plan = build(TiledGraph(graph, {name: broken}), constants=False)
    data = np.random.default_rng(5).integers(-100, 100, (1, 8, 12, 12)).astype(np.int8)
    assert not np.array_equal(run_tiled(plan, [data])[0], run_whole(plan, [data])[0])


def test_a_dense_layer_and_its_table_are_fused() -> None:
    """What an activation on codes becomes when a quantised network is lowered."""
    table = np.random.default_rng(6).integers(-128, 128, 256).astype(np.int8)
    look = unary_call("Lookup", (23, 40))
    look = replace(look, node=replace(look.node, attributes={"table": table}))
    graph = graph_of([matmul_call(23, 16, 40), look])
    tiled = tile(graph, sized(2 * KIB), options=TileOptions(objective="bytes", pin=False))
    assert tiled.fused == {"matmul": "unary"}
    plan = build(tiled, constants=False)
    data = np.random.default_rng(5).integers(-100, 100, (23, 16)).astype(np.int8)
    np.testing.assert_array_equal(run_tiled(plan, [data])[0], run_whole(plan, [data])[0])


@pytest.mark.parametrize("seed", range(8))
def test_random_chains_equal_the_layers(seed: int) -> None:
    """Chains of convolutions with halos and strides, every tiling of the front forced in turn."""
    draw = random.Random(seed)
    calls, size, channels = [], draw.choice([7, 9, 12]), 4
    for index in range(draw.choice([2, 3])):
        outputs, taps, stride = draw.choice([4, 8]), draw.choice([1, 3]), draw.choice([1, 1, 2])
        group = channels if draw.random() < 0.3 else 1
        outputs = channels if group > 1 else outputs
        names = {"name": f"n{index}", "x": f"t{index}", "y": f"t{index + 1}"}
        calls.append(conv_call(channels, outputs, size, taps, stride, group, **names))
        size, channels = calls[-1].outputs[0].shape[2], outputs
    graph = graph_of(calls)
    works = works_of(graph)
    subject = subject_of(list(works.values()), levels(1 << 30))
    assert subject is not None
    data = np.random.default_rng(seed).integers(-100, 100, calls[0].shape(0)).astype(np.int8)
    cuts = [cut for cut in walked(subject, 1 << 30) if cut.tiles <= 40]
    for cut in draw.sample(cuts, min(4, len(cuts))):
        schedule = expand(subject, cut)
        check(schedule, None, 4)
        chain = [call.node.name for call in calls]
        local = {call.outputs[0].name: "" for call in calls[:-1]}
        tiled = TiledGraph(graph, {chain[-1]: schedule}, dict.fromkeys(chain[:-1], chain[-1]), local)
        plan = build(tiled, constants=False)
        np.testing.assert_array_equal(run_tiled(plan, [data])[0], run_whole(plan, [data])[0])


@pytest.mark.parametrize(("axis", "fused"), [(0, False), (1, True)])
def test_what_is_written_as_a_whole_is_not_fused_with_what_reads_a_part(axis: int, fused: bool, tmp_path: Path) -> None:
    """A Concat writes all of its axis in one call: a buffer for the second of two rows has no room for the first."""
    nodes = [
        helper.make_node("Concat", ["a", "b"], ["c"], axis=0),
        helper.make_node("Gather", ["c", "second"], ["g"], axis=axis),
        helper.make_node("Tile", ["g", "times"], ["y"]),
    ]
    constants = {"second": np.array([1]), "times": np.array([1, 3, 1])}
    onnx.save(onnx_model(nodes, {"a": [1, 4, 16], "b": [1, 4, 16]}, ["y"], constants), tmp_path / "m.onnx")
    plan = compile_model(tmp_path / "m.onnx", CompileOptions(), load_target("qemu_pulp"))
    assert (plan.bound.nodes[0].call.node.name in plan.tiled.fused) == fused
