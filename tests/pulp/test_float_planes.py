"""Float convolutions in blocks of planes: every shape on the emulating board, inside its fences, and in GVSoC where it
is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from graphs import node, onnx_model
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target


@dataclass(frozen=True)
class Layer:
    """A Conv of floats: shapes, attributes, whether it has a bias and a Relu, whether its weights are an input."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    bias: bool = True
    relu: bool = False
    given: bool = False


SAME = {"pads": [1, 1, 1, 1]}
LAYERS = {
    "same": Layer((1, 8, 9, 12), (8, 8, 3, 3), SAME, relu=True),
    "odd": Layer((1, 5, 7, 9), (7, 5, 3, 3), SAME, bias=False),
    "narrow": Layer((1, 4, 6, 3), (4, 4, 3, 3), SAME),
    "column": Layer((1, 4, 8, 1), (4, 4, 3, 3), SAME),
    "strided": Layer((1, 6, 11, 14), (8, 6, 3, 3), {"strides": [2, 2], "pads": [0, 0, 1, 1]}),
    "tall": Layer((1, 1, 15, 10), (12, 1, 10, 4), {"strides": [2, 2], "pads": [4, 1, 5, 1]}),
    "high": Layer((1, 4, 9, 5), (8, 4, 5, 1), {"pads": [2, 0, 2, 0]}),
    "holes": Layer((1, 4, 9, 9), (4, 4, 3, 3), {"dilations": [2, 3], "pads": [2, 3, 2, 3]}),
    "far": Layer((1, 4, 3, 4), (4, 4, 2, 2), {"dilations": [2, 2], "pads": [4, 4, 4, 4]}),
    "point": Layer((1, 16, 5, 5), (11, 16, 1, 1)),
    "points": Layer((2, 6, 4, 7), (8, 6, 1, 1), relu=True),
    "apart": Layer((1, 16, 9, 9), (8, 16, 1, 1), {"strides": [2, 2]}),
    "one": Layer((1, 8, 1, 1), (1, 8, 1, 1)),
    "signal": Layer((1, 8, 29), (10, 8, 3), {"pads": [4, 0], "dilations": [2]}),
    "groups": Layer((2, 12, 6, 7), (8, 6, 3, 2), {"group": 2, "pads": [1, 0, 1, 1]}),
    "multiplied": Layer((1, 3, 6, 7), (12, 1, 3, 3), {"group": 3, **SAME}),
    "depthwise": Layer((1, 9, 7, 6), (9, 1, 3, 3), {"group": 9, **SAME}, relu=True),
    "depthwise_apart": Layer((1, 6, 9, 12), (6, 1, 3, 5), {"group": 6, "strides": [2, 2], "pads": [0, 2, 1, 2]}),
    "depthwise_signal": Layer((2, 4, 23), (4, 1, 5), {"group": 4, "pads": [2, 2]}, bias=False),
    "batch": Layer((3, 4, 6, 6), (4, 4, 3, 3), SAME),
    "learnt": Layer((1, 8, 8, 10), (16, 8, 3, 3), SAME, given=True, relu=True),
}


def network(names: list[str], layers: Mapping[str, Layer] = LAYERS) -> onnx.ModelProto:
    """The layers side by side."""
    draw, nodes, weights = np.random.default_rng(3), [], {}
    inputs: dict[str, tuple[int, ...]] = {}
    for name in names:
        layer = layers[name]
        inputs[f"{name}_x"] = layer.x
        if layer.given:
            inputs[f"{name}_w"] = layer.w
        else:
            weights[f"{name}_w"] = draw.standard_normal(layer.w).astype(np.float32)
        if layer.bias:
            weights[f"{name}_b"] = draw.standard_normal(layer.w[0]).astype(np.float32)
        read = f"{name}_x {name}_w" + f" {name}_b" * layer.bias
        made = f"{name}_c" if layer.relu else name
        nodes.append(node("Conv", read, made, **layer.attributes))
        if layer.relu:
            nodes.append(node("Relu", made, name))
    return onnx_model(nodes, inputs, names, weights)


@pytest.mark.parametrize(
    ("board", "size"), [("qemu_pulp", "5K"), ("gvsoc_pulp_open_fpu", "40K"), ("gvsoc_pulp_open", "40K")]
)
def test_every_shape_is_equal(board: str, size: str, tmp_path: Path) -> None:
    board_or_skip(board)
    onnx.save(network(list(LAYERS)), tmp_path / "net.onnx")
    assert main(["run", str(tmp_path / "net.onnx"), "-t", board, "--set", f"l1={size}", "-q"]) == 0


@pytest.mark.parametrize(
    ("target", "size", "kernel"),
    [("gvsoc_pulp_open_fpu", 5, "TiledConvF32"), ("qemu_pulp", 4, "TiledWholeConv TiledHalvesConv")],
)
def test_they_run_on_their_kernel_and_in_tiles(target: str, size: int, kernel: str, tmp_path: Path) -> None:
    onnx.save(network(list(LAYERS)), tmp_path / "net.onnx")
    options = CompileOptions(level_sizes={"l1": size * 1024})
    done = compile_model(tmp_path / "net.onnx", options, load_target(target))
    layers = [one for one in done.plan.instructions if one.call.node.op == "Conv"]
    assert {one.kernel.name for one in layers} == set(kernel.split())
    assert sum(one.schedule.tiles > 1 for one in layers if one.schedule is not None) > len(LAYERS) // 3


def test_windows_that_no_core_holds_are_multiplied_as_they_come(tmp_path: Path) -> None:
    board_or_skip("gvsoc_pulp_open")
    onnx.save(network(["long"], {"long": Layer((1, 130, 4, 3), (3, 130, 3, 3), SAME)}), tmp_path / "net.onnx")
    done = compile_model(tmp_path / "net.onnx", CompileOptions(), load_target("gvsoc_pulp_open"))
    assert "TiledWholeConv" in {one.kernel.name for one in done.plan.instructions}
    assert main(["run", str(tmp_path / "net.onnx"), "-t", "gvsoc_pulp_open", "-q"]) == 0


@pytest.mark.parametrize("case", ["apart", "zeros", "infinite"])
def test_sums_that_whole_numbers_do_not_know(case: str, tmp_path: Path) -> None:
    board_or_skip("qemu_pulp")
    layers, draw = ("same", "depthwise", "point", "signal"), np.random.default_rng(7)
    model = network(list(layers))
    inputs: dict[str, Any] = {f"{name}_x": draw.standard_normal(LAYERS[name].x).astype(np.float32) for name in layers}
    for values in inputs.values():
        flat = values.reshape(-1)
        if case == "zeros":
            flat[:] = 0
            flat[::50] = 1
        else:
            flat[::7] = np.inf if case == "infinite" else 1e8
    if case == "apart":  # the large elements meet weights of 0, every sum is one of small numbers
        for one in model.graph.initializer:
            if one.name == "point_w":
                inputs["point_x"][:] = 1.3
                inputs["point_x"][:, 5] = 3e8
                weights = np.ones(LAYERS["point"].w, np.float32)
                weights[:, 5] = 0
                one.CopyFrom(onnx.numpy_helper.from_array(weights, one.name))
    onnx.save(model, tmp_path / "net.onnx")
    np.savez(tmp_path / "inputs.npz", **inputs)
    arguments = ["run", str(tmp_path / "net.onnx"), "-t", "qemu_pulp", "--inputs", str(tmp_path / "inputs.npz"), "-q"]
    assert main(arguments) == 0
