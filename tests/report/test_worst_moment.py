"""The moment of a level that the report shows: the first of those at which most bytes are in use."""

from __future__ import annotations

import random
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from tilewright.compile import compile_model
from tilewright.memory.allocators import greedy
from tilewright.memory.levels import _parts, _worst_parts
from tilewright.memory.placed import Region
from tilewright.options import CompileOptions
from tilewright.target import load_target


def test_the_worst_moment_is_the_first_of_the_fullest() -> None:
    dice = random.Random(11)
    shared = 0
    for _ in range(400):
        regions = []
        for number in range(dice.randrange(0, 12)):
            first = dice.randrange(8)
            last, kind = first + dice.randrange(4), dice.choice(["io", "activations", "scratch"])
            regions.append(Region(f"r{number}", "ram", dice.randrange(6), dice.randrange(4), first, last, kind))
        moments = [[r for r in regions if r.first <= t <= r.last] for t in sorted({r.first for r in regions})]
        by_hand = max((_parts(alive) for alive in moments), key=lambda parts: sum(parts.values()), default=_parts([]))
        assert _worst_parts(regions) == by_hand
        shared += any(sum(r.size for r in alive) > sum(_parts(alive).values()) for alive in moments)
    assert shared > 100


def test_a_placement_that_was_cut_off_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of three sizes that live in turns: with every crowd too large, only the sweeps place them."""
    shapes = [16, 80, 48, 112, 16, 64]
    nodes, dims = [], dict[str, int]()
    for index in range(24):
        dims[f"t{index}"] = shapes[index % 6] + 16 * (index % 5)
        nodes.append(helper.make_node("MatMul", ["x", f"w{index}"], [f"t{index}"]))
        if index >= 3:
            nodes.append(helper.make_node("ReduceMax", [f"t{index - 3}"], [f"y{index}"], axes=[1], keepdims=1))
    weights = [
        helper.make_tensor(f"w{i}", TensorProto.FLOAT, [4, dims[f"t{i}"]], [0.5] * (4 * dims[f"t{i}"]))
        for i in range(24)
    ]
    outputs = [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, [1, 1]) for i in range(3, 24)]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])]
    graph = helper.make_graph(nodes, "turns", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    options = CompileOptions(disabled_passes=frozenset({"reorder"}))
    usual = compile_model(tmp_path / "m.onnx", options, load_target("host")).report.memory["ram"]
    monkeypatch.setattr(greedy, "CROWDED", 0)
    monkeypatch.setattr(greedy, "TOO_CROWDED", 0)
    swept = compile_model(tmp_path / "m.onnx", options, load_target("host")).report.memory["ram"]
    assert not usual.cut_off
    assert swept.cut_off == (swept.status == "gap")
    assert swept.cut_off
