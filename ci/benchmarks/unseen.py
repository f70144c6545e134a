"""Two networks that no kernel was made for, drawn by seed: instructions per multiply-accumulate by kind of layer.

Beside each figure stands half of what CMSIS-NN needs for a layer of that kind on that core; see `ANCHORS`.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import onnx
from make_odd import Sketch, odd_inputs
from quantise import quantise
from tilewright.compile import compile_model, run_model, write
from tilewright.ops.operator import Call
from tilewright.options import CompileOptions, RunOptions
from tilewright.target import load_target

TITLE = "networks drawn by seed: instructions per multiply-accumulate, and half of CMSIS-NN's"
SEEDS = (1, 2)
ANCHORS = {
    "qemu_mps2_an386": {"window": 2.02, "pointwise": 2.09, "depthwise": 8.33, "first": 4.80, "dense": 2.19},
    "qemu_mps3_an547": {"window": 0.32, "pointwise": 0.51, "depthwise": 2.97, "first": 1.73, "dense": 0.71},
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


def counted(model: Path, board: str) -> dict[str, tuple[int, int]]:
    """Multiply-accumulates and instructions by kind of layer."""
    target = load_target(board)
    compiled = compile_model(model, CompileOptions(optimize="speed"), target)
    with tempfile.TemporaryDirectory() as folder:
        write(compiled, Path(folder))
        report = run_model(compiled, target, RunOptions(profile=True, reference=False), Path(folder))
    calls = {bound.call.node.name: bound.call for bound in compiled.bound.nodes}
    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for layer in report.layers:
        if layer.name in calls and (of := kind(calls[layer.name])) and layer.instructions is not None:
            macs, instructions = found[of]
            found[of] = macs + layer.macs, instructions + layer.instructions
    return found


def table() -> list[tuple[str, ...]]:
    """A row for every network, board and kind of layer."""
    rows: list[tuple[str, ...]] = [
        ("network", "board", "layers", "multiply-accumulates", "per one", "half of CMSIS-NN", "below")
    ]
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            for make in (mobile, temporal):
                model = make(seed)
                place = Path(folder) / f"{make.__name__}_{seed}.onnx"
                onnx.save(quantise(model, odd_inputs(model, 8)), place)
                for board, anchors in ANCHORS.items():
                    for of, (macs, instructions) in counted(place, board).items():
                        per, half = instructions / macs, anchors[of] / 2
                        figures = (f"{macs:,}", f"{per:.2f}", f"{half:.2f}", "yes" if per <= half else "no")
                        rows.append((place.stem, board, of, *figures))
    return rows
