"""Networks of unconnected quantised layers, so that one image checks many shapes of a kernel on a simulated board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.binding.graph import Candidate
from tilewright.binding.order import by_cost
from tilewright.compile import Compiled, compile_model, compiler, kernel_order, run_model, write
from tilewright.model import Numerics
from tilewright.ops.operator import Call
from tilewright.options import CompileOptions, RunOptions
from tilewright.pipeline import Compiler
from tilewright.run.build import build
from tilewright.run.ranges import fence_map
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Layer:
    """A QLinearConv (weights of rank three or more) or QLinearMatMul: shapes, zero points, ONNX attributes."""

    name: str
    x: tuple[int, ...]
    w: tuple[int, ...]
    x_zero: int = -128
    y_zero: int = -128
    unsigned: bool = False
    weights: str = "random"
    spread: float = 60.0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    w_zero: int = 0


@dataclass
class Network:
    """Collects the nodes of a model of quantised layers."""

    generator: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: dict[str, tuple[tuple[int, ...], type]] = field(default_factory=dict)
    outputs: dict[str, type] = field(default_factory=dict)
    opset: int = 17

    def constant(self, name: str, value: npt.ArrayLike) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def values(self, layer: Layer) -> Array:
        if layer.weights not in ("random", "dead"):
            return np.full(layer.w, int(layer.weights), np.int8)
        found = self.generator.integers(-127, 128, layer.w).astype(np.int8)
        if layer.weights == "dead":
            found[self.generator.random(layer.w[0]) < 0.6] = 0
        return found

    def add(self, layer: Layer) -> None:
        kind: type = np.uint8 if layer.unsigned else np.int8
        offset = 128 if layer.unsigned else 0
        n = layer.name
        weights = self.values(layer)
        conv = len(layer.w) > 2
        channels = layer.w[0] if conv else layer.w[1]
        depth = int(np.prod(layer.w[1:])) if conv else layer.w[0]
        scales = self.generator.uniform(0.5, 1.5, channels).astype(np.float32) if conv else np.float32(1.0)
        if layer.weights == "dead":
            scales = np.where(weights.reshape(channels, -1).any(axis=1), scales, np.float32(1e-6)).astype(np.float32)
        y_scale = np.float32(73.0 * 73.0 * np.sqrt(depth) / layer.spread)
        names = [
            f"{n}_x",
            self.constant(f"{n}_xs", np.float32(1.0)), self.constant(f"{n}_xz", kind(layer.x_zero + offset)),
            self.constant(f"{n}_w", weights),
            self.constant(f"{n}_ws", np.asarray(scales, np.float32)),
            self.constant(f"{n}_wz", np.full(np.shape(scales), layer.w_zero, np.int8)),
            self.constant(f"{n}_ys", y_scale), self.constant(f"{n}_yz", kind(layer.y_zero + offset)),
        ]  # fmt: skip
        if conv:
            wide = np.where(scales < 1e-3, 1e9, 4000.0) if np.ndim(scales) else 4000.0
            bias = (self.generator.uniform(-1, 1, channels) * wide).astype(np.int32)
            names.append(self.constant(f"{n}_b", bias))
        op = "QLinearConv" if conv else "QLinearMatMul"
        self.nodes.append(helper.make_node(op, names, [f"{n}_y"], n, **layer.attributes))
        self.inputs[f"{n}_x"] = (layer.x, kind)
        self.outputs[f"{n}_y"] = kind

    def add_sixteen(self, layer: Layer) -> None:
        """The layer with operand and result of sixteen bits, between conversions."""
        n, channels = layer.name, layer.w[0] if len(layer.w) > 2 else layer.w[1]
        depth = int(np.prod(layer.w[1:])) if len(layer.w) > 2 else layer.w[0]
        scales = self.generator.uniform(0.5, 1.5, channels).astype(np.float32)
        ends = {"x": (1.0, layer.x_zero), "y": (73.0 * 9500.0 * np.sqrt(depth) / 9000, layer.y_zero)}
        for end, (scale, zero) in ends.items():
            self.constant(f"{n}_{end}s", np.float32(scale))
            self.constant(f"{n}_{end}z", np.int16(zero))
        self.constant(f"{n}_w", self.values(layer))
        self.constant(f"{n}_ws", scales)
        self.constant(f"{n}_wz", np.zeros(channels, np.int8))
        axis = 0 if len(layer.w) > 2 else 1
        self.nodes += [
            helper.make_node("DequantizeLinear", [f"{n}_x", f"{n}_xs", f"{n}_xz"], [f"{n}_fx"]),
            helper.make_node("DequantizeLinear", [f"{n}_w", f"{n}_ws", f"{n}_wz"], [f"{n}_fw"], axis=axis),
            helper.make_node("MatMul" if axis else "Conv", [f"{n}_fx", f"{n}_fw"], [f"{n}_fy"], n, **layer.attributes),
            helper.make_node("QuantizeLinear", [f"{n}_fy", f"{n}_ys", f"{n}_yz"], [f"{n}_y"]),
        ]
        self.inputs[f"{n}_x"] = (layer.x, np.int16)
        self.outputs[f"{n}_y"] = np.int16

    def save(self, path: Path) -> Path:
        types: dict[type, int] = {
            np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8, np.float32: TensorProto.FLOAT,
            np.int16: TensorProto.INT16, np.uint16: TensorProto.UINT16, np.int32: TensorProto.INT32,
        }  # fmt: skip
        graph = helper.make_graph(
            self.nodes, "layers",
            [helper.make_tensor_value_info(n, types[kind], shape) for n, (shape, kind) in self.inputs.items()],
            [helper.make_tensor_value_info(n, types[kind], None) for n, kind in self.outputs.items()],
            self.constants,
        )  # fmt: skip
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10), path)
        return path

    def feeds(self, how: str) -> dict[str, Array]:
        found = {}
        for name, (shape, kind) in self.inputs.items():
            if kind is np.float32:
                found[name] = self.generator.standard_normal(shape).astype(np.float32)
                continue
            low, high = np.iinfo(kind).min, np.iinfo(kind).max
            choices = {"random": self.generator.integers(low, high + 1, shape), "low": np.full(shape, low)}
            found[name] = choices.get(how, np.full(shape, high)).astype(kind)
        return found


def board_or_skip(board: str) -> None:
    for tool, _ in missing_tools(load_target(board)):
        pytest.skip(f"{tool} is not installed")


def check(
    layers: Sequence[Layer],
    board: str,
    work: Path,
    how: Sequence[str] = ("random",),
    seed: int = 7,
    optimize: Literal["speed", "size", "balanced"] = "balanced",
    first: Sequence[str] = (),
    numerics: Numerics = "exact",
) -> Compiled:
    """Compile the layers, run them and compare every bit; kernels in `first` are taken whatever they cost."""
    network = Network(np.random.default_rng(seed))
    for layer in layers:
        network.add(layer)
    return check_network(network, board, work, how, optimize, first, numerics)


def check_network(
    network: Network,
    board: str,
    work: Path,
    how: Sequence[str] = ("random",),
    optimize: Literal["speed", "size", "balanced"] = "balanced",
    first: Sequence[str] = (),
    numerics: Numerics = "exact",
) -> Compiled:
    """The same for any nodes, each carried out by itself; a proof of their smallest arena would take too long."""
    board_or_skip(board)
    target = load_target(board)
    without = frozenset({"row_chains"})
    options = CompileOptions(optimize=optimize, allocator="greedy", disabled_passes=without, numerics=numerics)
    model = network.save(work / "layers.onnx")
    done = compile_model(model, options, target, pipeline=preferring(first))
    project = work / "project"
    project.mkdir()
    write(done, project)
    calls, frames = [network.feeds(which) for which in how], work / "calls.npz"
    np.savez(frames, allow_pickle=False, **{name: np.stack([call[name] for call in calls]) for name in network.inputs})
    report = run_model(done, target, RunOptions(frames=frames), project)
    assert report.run is not None
    assert report.run.match, (board, how, report.run.frames)
    return done


def preferring(first: Sequence[str]) -> Compiler[Compiled]:
    """A pipeline that takes the named kernels before cheaper ones."""

    def order(call: Call, accepted: Sequence[Candidate]) -> Sequence[Candidate]:
        return sorted(by_cost(call, accepted), key=lambda c: c.kernel.name not in first)

    run = compiler.copy()
    run.dependency_overrides[kernel_order] = lambda: lambda model: order
    return run


def kernels(done: Compiled) -> dict[str, str]:
    """The kernel that every node was bound to."""
    return {node.call.node.name: node.kernel.name for node in done.bound.nodes if node.kernel is not None}


def sums() -> Network:
    """Sums of codes of two scales; whole blocks of elements and not."""
    network = Network(np.random.default_rng(3))
    for n, shape in (("small", (1, 3)), ("large", (1, 5, 4, 8)), ("odd", (1, 7, 3, 5))):
        scales = [network.constant(f"{n}_{i}s", np.float32(v)) for i, v in enumerate((0.03598, 0.06811, 0.09547))]
        zeros = [network.constant(f"{n}_{i}z", np.int8(v)) for i, v in enumerate((-76, 34, -128))]
        reals = []
        for i in range(2):
            network.inputs[f"{n}_{i}"] = (shape, np.int8)
            network.nodes.append(helper.make_node("DequantizeLinear", [f"{n}_{i}", scales[i], zeros[i]], [f"{n}_{i}r"]))
            reals.append(f"{n}_{i}r")
        network.nodes.append(helper.make_node("Add", reals, [f"{n}_sum"], n))
        network.nodes.append(helper.make_node("QuantizeLinear", [f"{n}_sum", scales[2], zeros[2]], [f"{n}_y"]))
        network.outputs[f"{n}_y"] = np.int8
    return network


CONVS = (
    Layer("point", (1, 8, 7, 5), (6, 8, 1, 1)),
    Layer("point_odd", (1, 12, 3, 3), (5, 12, 1, 1), x_zero=3, y_zero=-7),
    Layer("point_one", (1, 20, 1, 1), (4, 20, 1, 1), x_zero=0),
    Layer("point_two", (1, 16, 1, 2), (2, 16, 1, 1)),
    Layer("point_long", (1, 136, 2, 3), (3, 136, 1, 1)),
    Layer("same", (1, 4, 9, 7), (4, 4, 3, 3), attributes={"pads": [1, 1, 1, 1]}),
    Layer("same_wide", (1, 16, 8, 8), (8, 16, 3, 3), x_zero=5, attributes={"pads": [1, 1, 1, 1]}),
    Layer("stride", (1, 8, 8, 8), (3, 8, 3, 3), attributes={"pads": [0, 0, 1, 1], "strides": [2, 2]}),
    Layer("point_stride", (1, 8, 8, 6), (4, 8, 1, 1), attributes={"strides": [2, 2]}),
    Layer("dilated", (1, 12, 11, 9), (6, 12, 2, 3), attributes={"dilations": [2, 3], "pads": [1, 2, 0, 3]}),
    Layer("line", (1, 20, 17), (6, 20, 3), attributes={"pads": [2, 1], "strides": [2]}),
    Layer("rgb", (1, 3, 9, 8), (7, 3, 3, 3), x_zero=-1, attributes={"pads": [1, 1, 1, 1]}),
    Layer("speech", (1, 1, 20, 10), (8, 1, 10, 4), attributes={"pads": [4, 1, 5, 1], "strides": [2, 2]}),
    Layer("five", (1, 5, 6, 6), (4, 5, 2, 2), attributes={"dilations": [2, 2], "pads": [2, 0, 0, 2]}),
    Layer("two", (1, 2, 5, 5), (2, 2, 1, 1)),
    Layer("unsigned", (1, 8, 6, 5), (6, 8, 3, 3), unsigned=True, attributes={"pads": [1, 1, 1, 1]}),
    Layer("unsigned_rgb", (1, 3, 6, 5), (5, 3, 3, 3), unsigned=True, x_zero=-9, attributes={"pads": [1, 1, 1, 1]}),
    Layer("heavy", (1, 640, 2, 2), (4, 640, 1, 1), weights="-127"),
    Layer("lowest", (1, 16, 4, 4), (4, 16, 3, 3), weights="-128", attributes={"pads": [1, 1, 1, 1]}),
    Layer("dead", (1, 16, 5, 3), (23, 16, 1, 1), weights="dead", x_zero=4),
    Layer("dead_window", (1, 4, 5, 3), (16, 4, 3, 3), weights="dead", attributes={"pads": [1, 1, 1, 1]}),
)
ODD_CONVS = (
    Layer("odd_few", (1, 5, 5, 9), (7, 5, 1, 1), x_zero=-3),
    Layer("odd_three", (1, 27, 1, 3), (4, 27, 1, 1)),
    Layer("odd_many", (1, 101, 3, 3), (9, 101, 1, 1), x_zero=7),
    Layer("odd_far", (1, 203, 2, 5), (3, 203, 1, 1)),
    Layer("odd_apart", (1, 261, 3, 2), (3, 261, 1, 1)),
    Layer("words_far", (1, 324, 3, 3), (4, 324, 1, 1)),
    Layer("words_walked", (1, 1028, 1, 5), (3, 1028, 1, 1)),
    Layer("odd_line", (1, 7, 19), (5, 7, 3), x_zero=1, attributes={"pads": [2, 0]}),
    Layer("odd_dilated", (1, 9, 23), (5, 9, 3), attributes={"pads": [8, 0], "dilations": [4]}),
)
DEPTHWISE = (
    Layer("same", (1, 8, 9, 7), (8, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 8}),
    Layer("even", (1, 4, 8, 8), (4, 1, 3, 3), x_zero=6, attributes={"pads": [1, 1, 1, 1], "group": 4}),
    Layer("valid", (1, 12, 6, 9), (12, 1, 3, 3), attributes={"group": 12}),
    Layer("stride", (1, 8, 8, 8), (8, 1, 3, 3), attributes={"pads": [0, 0, 1, 1], "strides": [2, 2], "group": 8}),
    Layer("stride_odd", (1, 4, 7, 9), (4, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "strides": [2, 2], "group": 4}),
    Layer("stride_mixed", (1, 4, 9, 9), (4, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "strides": [3, 1], "group": 4}),
    Layer("five", (1, 4, 9, 6), (4, 1, 5, 5), x_zero=2, attributes={"pads": [2, 2, 2, 2], "group": 4}),
    Layer("four", (1, 4, 7, 6), (4, 1, 4, 4), attributes={"pads": [1, 2, 2, 1], "group": 4}),
    Layer("two", (1, 4, 5, 6), (4, 1, 2, 2), attributes={"pads": [0, 0, 1, 1], "group": 4}),
    Layer("five_stride", (1, 4, 9, 8), (4, 1, 5, 5), attributes={"pads": [2, 2, 2, 2], "strides": [2, 2], "group": 4}),
    Layer("six", (1, 6, 5, 5), (6, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 6}),
    Layer("line", (1, 8, 21), (8, 1, 9), attributes={"pads": [4, 4], "group": 8}),
    Layer("global", (1, 8, 3, 3), (8, 1, 3, 3), attributes={"group": 8}),
    Layer("tall", (1, 8, 70, 40), (8, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 8}),
    Layer("tall_odd", (1, 4, 71, 61), (4, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 4}),
    Layer("tall_stride", (1, 4, 70, 70), (4, 1, 3, 3),
          attributes={"pads": [0, 0, 1, 1], "strides": [2, 2], "group": 4}),
    Layer("unsigned", (1, 8, 6, 5), (8, 1, 3, 3), unsigned=True, attributes={"pads": [1, 1, 1, 1], "group": 8}),
    Layer("lowest", (1, 4, 6, 5), (4, 1, 3, 3), weights="-128", attributes={"pads": [1, 1, 1, 1], "group": 4}),
    Layer("sixteen", (1, 16, 9, 7), (16, 1, 3, 3), x_zero=5, attributes={"pads": [1, 1, 1, 1], "group": 16}),
    Layer("sixteen_heavy", (1, 16, 4, 6), (16, 1, 3, 3), weights="-127", attributes={"group": 16}),
    Layer("sixteen_valid", (1, 32, 6, 5), (32, 1, 3, 3), attributes={"group": 32}),
    Layer("sixteen_stride", (1, 32, 9, 8), (32, 1, 3, 3), y_zero=4,
          attributes={"pads": [0, 1, 1, 1], "strides": [2, 2], "group": 32}),
)  # fmt: skip
DENSE = (
    Layer("row", (1, 64), (64, 10), x_zero=3, y_zero=4),
    Layer("row_wide", (1, 32), (32, 17)),
    Layer("row_nine", (1, 20), (20, 9)),
    Layer("row_three", (1, 7), (7, 3)),
    Layer("rows", (6, 24), (24, 5), x_zero=-3, y_zero=1),
    Layer("rows_three", (3, 10), (10, 8)),
    Layer("row_unsigned", (1, 16), (16, 16), unsigned=True, x_zero=2, y_zero=3),
    Layer("row_heavy", (1, 640), (640, 16), weights="-127"),
    Layer("row_eight", (1, 8), (8, 128)),
)
ODD_DEPTHWISE = (
    Layer("many", (1, 37, 7, 10), (37, 1, 3, 3), x_zero=-5, attributes={"pads": [1, 1, 1, 1], "group": 37}),
    Layer("many_two", (1, 23, 9, 12), (23, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "strides": [2, 2], "group": 23}),
    Layer("narrow", (1, 17, 6, 3), (17, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "group": 17}),
    Layer("pair", (1, 19, 5, 2), (19, 1, 3, 3), x_zero=4, attributes={"pads": [1, 1, 1, 1], "group": 19}),
    Layer("tight", (1, 18, 5, 5), (18, 1, 3, 3), attributes={"pads": [1, 1, 1, 1], "strides": [2, 2], "group": 18}),
    Layer("padded", (1, 5, 5, 6), (5, 1, 2, 3), x_zero=11, attributes={"pads": [2, 0, 1, 2], "group": 5}),
    Layer("line_odd", (1, 21, 13), (21, 1, 3), attributes={"pads": [2, 0], "group": 21}),
)
DILATED = Layer("line_dilated", (1, 8, 21), (8, 1, 3), attributes={"pads": [4, 0], "dilations": [2], "group": 8})
EXTREMES = ("random", "low", "high")


def means() -> Network:
    """Means of whole maps of codes."""
    network = Network(np.random.default_rng(5))
    for n, shape, op in (
        ("global", (1, 8, 5, 5), "GlobalAveragePool"),
        ("window", (1, 12, 4, 3), "AveragePool"),
        ("large", (1, 16, 16, 16), "GlobalAveragePool"),
        ("odd", (1, 5, 3, 3), "GlobalAveragePool"),
    ):
        scale, zero = network.constant(f"{n}_s", np.float32(0.07)), network.constant(f"{n}_z", np.int8(-9))
        y_scale, y_zero = network.constant(f"{n}_ys", np.float32(0.03)), network.constant(f"{n}_yz", np.int8(11))
        attributes: dict[str, Any] = {"kernel_shape": shape[2:]} if op == "AveragePool" else {}
        network.inputs[f"{n}_x"] = (shape, np.int8)
        network.outputs[f"{n}_y"] = np.int8
        network.nodes += [
            helper.make_node("DequantizeLinear", [f"{n}_x", scale, zero], [f"{n}_r"]),
            helper.make_node(op, [f"{n}_r"], [f"{n}_m"], n, **attributes),
            helper.make_node("QuantizeLinear", [f"{n}_m", y_scale, y_zero], [f"{n}_y"]),
        ]
    return network


SAME = {"pads": [1, 1, 1, 1]}
WINOGRAD = (
    Layer("even", (1, 16, 8, 8), (8, 16, 3, 3), x_zero=5, attributes=SAME),
    Layer("odd", (1, 4, 9, 7), (4, 4, 3, 3), attributes=SAME),
    Layer("wide", (1, 8, 5, 19), (6, 8, 3, 3), x_zero=-7, y_zero=3, attributes=SAME),
    Layer("valid", (1, 12, 6, 11), (2, 12, 3, 3)),
    Layer("padded", (1, 8, 4, 10), (4, 8, 3, 3), x_zero=9, attributes={"pads": [2, 0, 1, 2]}),
    Layer("small", (1, 64, 2, 2), (2, 64, 3, 3), attributes=SAME),
    Layer("unsigned", (1, 8, 6, 9), (4, 8, 3, 3), unsigned=True, attributes=SAME),
    Layer("lowest", (1, 64, 5, 8), (4, 64, 3, 3), weights="-128", attributes=SAME),
    Layer("highest", (1, 32, 4, 8), (4, 32, 3, 3), weights="127", x_zero=127, attributes=SAME),
)

UNROLLED = (
    Layer("six", (1, 6, 5, 5), (5, 6, 1, 1)),
    Layer("seven", (1, 7, 9, 8), (3, 7, 1, 1), x_zero=4, y_zero=-3),
    Layer("three", (1, 3, 9, 8), (4, 3, 1, 1)),
    Layer("unsigned_seven", (1, 7, 9, 8), (7, 7, 1, 1), unsigned=True, x_zero=-20),
    Layer("deep", (1, 72, 5, 5), (64, 72, 1, 1), x_zero=7),
    Layer("deep_odd", (1, 73, 3, 3), (65, 73, 1, 1)),
    Layer("deep_highest", (1, 72, 4, 4), (64, 72, 1, 1), weights="127", x_zero=127),
    Layer("window", (1, 5, 9, 7), (3, 5, 3, 3), x_zero=6, attributes={"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    Layer("window_six", (1, 6, 8, 9), (4, 6, 3, 2), attributes={"pads": [2, 0, 0, 1]}),
    Layer("window_valid", (1, 7, 8, 9), (5, 7, 2, 3), attributes={"strides": [1, 2]}),
    Layer("tall", (1, 11, 8, 5), (5, 11, 3, 1), attributes={"pads": [1, 0, 1, 0]}),
    Layer("causal", (1, 11, 37), (6, 11, 3), x_zero=2, attributes={"pads": [8, 0], "dilations": [4]}),
    Layer("causal_unsigned", (1, 10, 23), (5, 10, 3), unsigned=True, attributes={"pads": [4, 0], "dilations": [2]}),
    Layer("wide_rows", (1, 24, 9, 9), (6, 24, 3, 3), x_zero=-5, attributes=SAME),
)
"""Lengths of runs with every remainder, weights that share words and not, windows that leave the input."""
UNROLLED_DENSE = (
    Layer("one_over", (1, 13), (13, 19), x_zero=5, y_zero=-9),
    Layer("two_over", (1, 10), (10, 5)),
    Layer("three_over", (1, 39), (39, 4), x_zero=127),
    Layer("three_inputs", (1, 3), (3, 6)),
    Layer("two_inputs", (1, 2), (2, 3), y_zero=7),
    Layer("looped", (1, 103), (103, 7)),
    Layer("unsigned_one_over", (1, 21), (21, 6), unsigned=True, x_zero=-60, y_zero=8),
    Layer("unsigned_two_over", (1, 6), (6, 9), unsigned=True),
    Layer("unsigned_three_over", (1, 7), (7, 4), unsigned=True),
    Layer("lowest_row", (1, 128), (128, 16), weights="-128"),
)
"""One row of every remainder of inputs and of columns."""
UNROLLED_BEHIND = Layer("behind", (1, 128), (128, 8))
"""The result starts at the address where the inputs end."""


def fenced(
    layers: Sequence[Layer] | Network, board: str, work: Path, optimize: Literal["speed", "size", "balanced"] =
    "balanced", first: Sequence[str] = (), sanitize: bool = False,
) -> Compiled:  # fmt: skip
    """Run the layers, each access checked against the bytes that its layer declares; by sanitizers on the host."""
    board_or_skip(board)
    network = layers if isinstance(layers, Network) else Network(np.random.default_rng(2))
    for layer in () if isinstance(layers, Network) else layers:
        network.add(layer)
    target = load_target(board)
    options = CompileOptions(optimize=optimize, allocator="greedy", disabled_passes=frozenset({"row_chains"}))
    done = compile_model(network.save(work / "layers.onnx"), options, target, pipeline=preferring(first))
    (project := work / "project").mkdir()
    write(done, project)
    image = build(project, done.artifacts.interface, target, work / "work", trace=True, fence=True, sanitize=sanitize)
    feeds = network.feeds("random")
    ended = execute(image, [array.tobytes() for array in feeds.values()], fence=fence_map(done.placed))
    assert ended.exit_code == 0
    assert ended.outputs
    return done
