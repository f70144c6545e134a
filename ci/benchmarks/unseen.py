"""Networks that no kernel was made for, drawn by seed: instructions per multiply-accumulate by kind of layer.

Beside each figure stands what CMSIS-NN needs for the very same shapes (`cmsis_nn.toml`) and for one friendly layer of
that kind (`ANCHORS`), both counted once in the same simulators; the bar is half of either.

bash ci/bench unseen         the seeds 1 and 2
bash ci/bench unseen:3,4     others
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from make_odd import Sketch, odd_inputs
from quantise import quantise
from tilewright.compile import compile_model, run_model, write
from tilewright.ops.operator import Call
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target

TITLE = "networks drawn by seed: instructions per multiply-accumulate beside CMSIS-NN's"
SEEDS = ("1", "2")
COUNTED = Path(__file__).with_name("cmsis_nn.toml")
ANCHORS = {
    "qemu_mps2_an386": {"window": 2.02, "pointwise": 2.09, "depthwise": 8.33, "first": 4.80, "dense": 2.19},
    "qemu_mps3_an547": {"window": 0.25, "pointwise": 0.40, "depthwise": 2.32, "first": 1.36, "dense": 0.56},
}
"""CMSIS-NN int8, counted in the same simulator on single layers: 3x3 16x16x32 to 32, 1x1 25x5x64 to 64, depthwise 3x3
25x5x64, 3x3 32x32x3 to 16, and the dense layers of the anomaly detector on average."""


def mobile(seed: int) -> onnx.ModelProto:
    """A stack of MobileNetV2 blocks with odd sizes and channels."""
    random = np.random.default_rng(seed)
    net = Sketch(f"mobile_{seed}")
    size = [2 * int(n) + 1 for n in random.integers(14, 26, 2)]
    channels = int(random.integers(5, 14))
    six = (net.constant(np.array(0, np.float32)), net.constant(np.array(6, np.float32)))
    x = net.node("Clip", net.convolution(net.input("image", 1, 3, *size), 3, channels, (3, 3), strides=[2, 2]), *six)
    for _ in range(4):
        outputs, stride = int(random.integers(7, 29)), int(random.integers(1, 3))
        outputs = channels if stride == 1 else outputs
        inner = channels * int(random.integers(2, 6))
        y = net.node("Clip", net.convolution(x, channels, inner, (1, 1)), *six)
        y = net.node("Clip", net.convolution(y, inner, inner, (3, 3), inner, strides=[stride, stride]), *six)
        y = net.convolution(y, inner, outputs, (1, 1))
        x, channels = (net.node("Add", x, y) if stride == 1 else y), outputs
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    net.output(net.dense(x, channels, int(random.integers(5, 40))), "scores")
    return net.finish()


def temporal(seed: int) -> onnx.ModelProto:
    """Causal dilated convolutions over time with residuals."""
    random = np.random.default_rng(seed)
    net = Sketch(f"temporal_{seed}")
    steps, signals, channels = (int(random.integers(*span)) for span in ((61, 150), (2, 9), (12, 49)))
    x = net.convolution(net.input("signal", 1, signals, steps), signals, channels, (1,))
    for dilation in (1, 2, 4, 8):
        y = net.convolution(x, channels, channels, (3,), pads=[2 * dilation, 0], dilations=[dilation])
        y = net.convolution(net.node("Relu", y), channels, channels, (1,))
        x = net.node("Relu", net.node("Add", x, y))
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    net.output(net.dense(x, channels, 4), "forecast")
    return net.finish()


def kind(call: Call) -> str:
    """What a layer is compared with; empty for one without multiply-accumulates."""
    if call.node.op in ("Gemm", "MatMul"):
        return "dense"
    if call.node.op != "Conv":
        return ""
    groups, channels = call.integer("group", 1), call.shape(0)[1]
    if groups == channels and groups > 1:
        return "depthwise"
    if int(np.prod(call.tensor(1).shape[2:])) == 1:
        return "pointwise"
    return "first" if channels <= 3 else "window"


def shape(call: Call) -> str:
    """The layer's name in `cmsis_nn.toml`: operator, input without batch, weights, and what differs from plain."""
    words = [call.node.op, "x".join(map(str, call.shape(0)[1:])), "by", "x".join(map(str, call.tensor(1).shape))]
    for name, plain in (("pads", 0), ("strides", 1), ("dilations", 1)):
        values = call.integers(name, ())
        if any(value != plain for value in values):
            words += [name, ",".join(map(str, values))]
    return " ".join(words)


@dataclass(frozen=True)
class Layer:
    """One layer: instructions counted of ours, and of CMSIS-NN where its shape was counted."""

    kind: str
    macs: int
    ours: int
    theirs: int | None


@dataclass(frozen=True)
class Sum:
    """All layers of a kind; `theirs` is None where one of their shapes was not counted."""

    macs: int
    ours: int
    theirs: int | None


def sums(layers: Iterable[Layer]) -> dict[str, Sum]:
    """Layers added up by kind."""
    sum_of: dict[str, Sum] = {}
    for layer in layers:
        old = sum_of.get(layer.kind, Sum(0, 0, 0))
        theirs = None if old.theirs is None or layer.theirs is None else old.theirs + layer.theirs
        sum_of[layer.kind] = Sum(old.macs + layer.macs, old.ours + layer.ours, theirs)
    return sum_of


def layers_of(model: Path, board: str, theirs: dict[str, int]) -> list[Layer]:
    """Every layer that multiplies, counted on the board."""
    target = load_target(board)
    compiled = compile_model(model, CompileOptions(optimize="speed"), target)
    with tempfile.TemporaryDirectory() as folder:
        write(compiled, Path(folder))
        report = run_model(compiled, target, RunOptions(profile=True, reference=False), Path(folder))
    calls = {bound.call.node.name: bound.call for bound in compiled.bound.nodes}
    layers = []
    for layer in report.layers:
        if layer.name in calls and (of := kind(calls[layer.name])) and layer.instructions is not None:
            layers.append(Layer(of, layer.macs, layer.instructions, theirs.get(shape(calls[layer.name]))))
    return layers


def cells(of: Sum, anchor: float) -> tuple[str, ...]:
    """A row's figures; those of the same shapes are empty where one was not counted."""
    ours = of.ours / of.macs
    same: tuple[str, ...] = ("", "", "")
    if of.theirs is not None:
        reached = "yes" if 2 * of.ours <= of.theirs else "no"
        same = (f"{of.theirs / of.macs:.2f}", f"{of.ours / of.theirs:.2f}", reached)
    return (f"{of.macs:,}", f"{ours:.2f}", *same, f"{anchor:.2f}", "yes" if 2 * ours <= anchor else "no")


def table(*seeds: str) -> list[tuple[str, ...]]:
    """A row for every network, board and kind of layer."""
    rows: list[tuple[str, ...]] = [
        ("network", "board", "layers", "multiply-accumulates", "per one", "CMSIS-NN", "ratio", "half", "anchor", "half")
    ]
    theirs = tomllib.loads(COUNTED.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds or SEEDS:
            for make in (mobile, temporal):
                model = make(int(seed))
                place = Path(folder) / f"{make.__name__}_{seed}.onnx"
                onnx.save(quantise(model, odd_inputs(model, 8)), place)
                for board, anchors in ANCHORS.items():
                    for of, added in sums(layers_of(place, board, theirs[board])).items():
                        rows.append((place.stem, board, of, *cells(added, anchors[of])))
    return rows
