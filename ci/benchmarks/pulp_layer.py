"""One int8 convolution, 3x3, 16x16x32 to 32 channels, in GVSoC: products per cycle; skips where `gvsoc` is missing.

`in L1` sums the cycles from giving a tile to the eight cores until all are done, `streamed` is the whole inference on
an image without trace: tables, copies of input, weights and results, waits. Caches are cold in both.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import compile_model, write
from tilewright.options import CompileOptions
from tilewright.plan.execute import run_slots
from tilewright.run.build import build
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools, with_sizes

TITLE = "PULP, one int8 convolution 3x3 of 16x16x32 to 32 channels in GVSoC, target pulp-open, eight cores"
BOARD = "gvsoc_pulp_open"
SIDE, CHANNELS, TAPS = 16, 32, 9
PRODUCTS = SIDE * SIDE * CHANNELS * CHANNELS * TAPS
L1_KIBIBYTES = (64, 60, 40, 24)
"""Stacks take 8,240 bytes of them."""


@dataclass(frozen=True)
class Measured:
    """Cycles of the layer with so much L1, and whether its results are those of the semantics in NumPy."""

    tiles: int
    kernel_cycles: int
    streamed_cycles: int
    equal: bool


def model(path: Path) -> Path:
    """The layer alone, pixels with their channels side by side at both ends; weights, scales and biases at random."""
    rng = np.random.default_rng(7)
    values = {
        "xs": np.float32(1), "xz": np.int8(-128),
        "w": rng.integers(-127, 128, (CHANNELS, CHANNELS, 3, 3)).astype(np.int8),
        "ws": rng.uniform(0.5, 1.5, CHANNELS).astype(np.float32), "wz": np.zeros(CHANNELS, np.int8),
        "ys": np.float32(73 * 73 * np.sqrt(CHANNELS * TAPS) / 60), "yz": np.int8(-128),
        "b": rng.integers(-4000, 4000, CHANNELS).astype(np.int32),
    }  # fmt: skip
    shape = (1, SIDE, SIDE, CHANNELS)
    graph = helper.make_graph(
        [
            helper.make_node("Transpose", ["x"], ["first"], perm=[0, 3, 1, 2]),
            helper.make_node("QLinearConv", ["first", *values], ["last"], "conv", pads=[1, 1, 1, 1]),
            helper.make_node("Transpose", ["last"], ["y"], perm=[0, 2, 3, 1]),
        ],
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.INT8, shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT8, shape)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def measure(kibibytes: int) -> Measured:
    """One inference counted without trace, and one with it."""
    target = load_target(BOARD)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = compile_model(model(folder / "layer.onnx"), CompileOptions(level_sizes={"l1": kibibytes * 1024}), target)
        write(done, folder / "project")
        codes = np.random.default_rng(1).integers(-128, 128, (1, SIDE, SIDE, CHANNELS)).astype(np.int8)
        sized = with_sizes(target, done.request.levels)
        project, called = folder / "project", done.artifacts.interface
        images = [build(project, called, sized, folder / str(t), trace=t) for t in (False, True)]
        plain, traced = (execute(image, [codes.tobytes()], count=True) for image in images)
        slots = run_slots(done.plan, [codes])
    wanted = [slots[slot].tobytes() for slot in done.plan.output_slots]
    spans = [span.cycles for span in traced.spans if span.kind == "kernel"]
    return Measured(len(spans), sum(spans), plain.cycles or 0, list(plain.outputs) == wanted)


def table() -> list[tuple[str, ...]]:
    """A row per size of L1."""
    rows: list[tuple[str, ...]] = [
        ("KiB of L1", "tiles", "cycles in L1", "products per cycle", "cycles streamed", "products per cycle", "equal")
    ]
    if missing := [tool for tool, _ in missing_tools(load_target(BOARD))]:
        return [*rows, (f"skipped: {', '.join(missing)} is not installed", *[""] * 6)]
    for kibibytes in L1_KIBIBYTES:
        layer = measure(kibibytes)
        each = [f"{cycles:,}" for cycles in (layer.kernel_cycles, layer.streamed_cycles)]
        rate = [f"{PRODUCTS / cycles:.2f}" for cycles in (layer.kernel_cycles, layer.streamed_cycles)]
        rows.append((
            str(kibibytes), str(layer.tiles), each[0], rate[0], each[1], rate[1], "yes" if layer.equal else "NO",
        ))  # fmt: skip
    return rows
