"""Two branches of different width: the order in which they run decides what is alive at once."""

from __future__ import annotations

import numpy as np
from tilewright.memory.planner import place_plan
from tilewright.model import DType, Model, Node, Tensor
from tilewright.schedule import node_order


def branches() -> Model:
    """x -> wide_i -> narrow_i for four branches, all wide ones written first, then summed pairwise."""
    tensors = {"x": Tensor("x", DType.F32, (1, 4, 8, 8))}
    nodes = []
    constants = {}
    for i in range(4):
        constants[f"w{i}"] = np.ones((64, 4, 1, 1), np.float32)
        tensors[f"w{i}"] = Tensor(f"w{i}", DType.F32, (64, 4, 1, 1))
        tensors[f"wide{i}"] = Tensor(f"wide{i}", DType.F32, (1, 64, 8, 8))
        nodes.append(Node(f"conv{i}", "Conv", ("x", f"w{i}"), (f"wide{i}",)))
    for i in range(4):
        tensors[f"narrow{i}"] = Tensor(f"narrow{i}", DType.F32, (1, 64, 1, 1))
        nodes.append(Node(f"pool{i}", "GlobalAveragePool", (f"wide{i}",), (f"narrow{i}",)))
    before = "narrow0"
    for i in range(1, 4):
        tensors[f"sum{i}"] = Tensor(f"sum{i}", DType.F32, (1, 64, 1, 1))
        nodes.append(Node(f"add{i}", "Add", (before, f"narrow{i}"), (f"sum{i}",)))
        before = f"sum{i}"
    return Model("branches", tuple(nodes), tensors, constants, ("x",), (before,), 21)


def test_each_branch_is_finished_before_the_next_begins() -> None:
    model = branches()
    better = node_order.reordered(model)
    wide = 64 * 64 * 4
    assert better.saved_bytes >= 2 * wide
    names = [node.name for node in better.model.nodes]
    assert sorted(names) == sorted(node.name for node in model.nodes)
    assert [n[:4] for n in names[:2]] == ["conv", "pool"]


def test_the_placed_peak_falls_too() -> None:
    from tilewright.binding.bind import bind
    from tilewright.plan.build import build
    from tilewright.plugins import kernels_of, platform
    from tilewright.schedule.tile import tile

    generic = platform("generic")
    peaks = []
    for model in (branches(), node_order.reordered(branches()).model):
        graph = bind(model, generic, kernels_of(generic))
        peaks.append(place_plan(build(tile(graph)), generic).solution.peak)
    assert peaks[1] < peaks[0] / 2


def test_a_chain_stays_as_it_is() -> None:
    tensors = {name: Tensor(name, DType.F32, (4,)) for name in "abc"}
    nodes = (Node("one", "Relu", ("a",), ("b",)), Node("two", "Relu", ("b",), ("c",)))
    model = Model("chain", nodes, tensors, {}, ("a",), ("c",), 21)
    assert node_order.reordered(model) == node_order.Reordered(model, 0, cut_off=False)
