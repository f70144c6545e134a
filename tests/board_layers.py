"""Networks of unconnected quantised layers, so that one image checks many shapes of a kernel on a simulated board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
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


@dataclass
class Network:
    """Collects the nodes of a model of quantised layers."""

    generator: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: dict[str, tuple[tuple[int, ...], type]] = field(default_factory=dict)
    outputs: dict[str, type] = field(default_factory=dict)

    def constant(self, name: str, value: Array) -> str:
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def values(self, layer: Layer) -> Array:
        if layer.weights == "random":
            return self.generator.integers(-127, 128, layer.w).astype(np.int8)
        if layer.weights == "dead":
            found = self.generator.integers(-127, 128, layer.w).astype(np.int8)
            found[self.generator.random(layer.w[0]) < 0.6] = 0
            return found
        return np.full(layer.w, int(layer.weights), np.int8)

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
            self.constant(f"{n}_wz", np.zeros(np.shape(scales), np.int8)),
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

    def save(self, path: Path) -> Path:
        types = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8, np.float32: TensorProto.FLOAT}
        graph = helper.make_graph(
            self.nodes, "layers",
            [helper.make_tensor_value_info(n, types[kind], shape) for n, (shape, kind) in self.inputs.items()],
            [helper.make_tensor_value_info(n, types[kind], None) for n, kind in self.outputs.items()],
            self.constants,
        )  # fmt: skip
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
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


def check(layers: Sequence[Layer], board: str, work: Path, how: Sequence[str] = ("random",), seed: int = 7) -> Compiled:
    """Compile the layers, run them on the board and compare every output bit for bit; the compiled network."""
    network = Network(np.random.default_rng(seed))
    for layer in layers:
        network.add(layer)
    return check_network(network, board, work, how)


def check_network(network: Network, board: str, work: Path, how: Sequence[str] = ("random",)) -> Compiled:
    """The same for a network of any nodes."""
    board_or_skip(board)
    target = load_target(board)
    done = compile_model(network.save(work / "layers.onnx"), CompileOptions(), target)
    project = work / "project"
    project.mkdir()
    write(done, project)
    for which in how:
        feeds = work / f"{which}.npz"
        np.savez(feeds, **network.feeds(which))
        report = run_model(done, target, RunOptions(inputs=feeds), project)
        assert report.run is not None
        assert report.run.match, (board, which)
    return done


def kernels(done: Compiled) -> dict[str, str]:
    """The kernel that every node was bound to."""
    return {node.call.node.name: node.kernel.name for node in done.bound.nodes if node.kernel is not None}
