"""What eight cores take for an element where no products are in the way: Add, average pools, codes of an engine's sums.

Each layer runs alone in L1 of siracusa in GVSoC, instruction caches cold; cycles are those from giving the cores their
work until all are done. Skips where `gvsoc` is missing.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tilewright.compile import compile_model, write
from tilewright.errors import ToolMissing
from tilewright.options import CompileOptions
from tilewright.plan.execute import run_slots
from tilewright.run.build import build
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools, with_sizes

TITLE = "int8 elements on eight cores in GVSoC, target siracusa, 256 KiB of L1, kernels alone"
BOARD = "gvsoc_siracusa"
SHAPES: dict[str, tuple[int, ...]] = {
    "Add": (1, 16, 32, 32),
    "AveragePool": (1, 64, 24, 24),
    "QLinearConv": (1, 32, 24, 24),
}
"""Operators by what they read: a pool of 2x2 windows, and a 1x1 layer whose sums N-EUREKA makes."""


def model(op: str, path: Path) -> Path:
    """One operator on codes."""
    shape, pixels = SHAPES[op], (24, 24)
    numbers: dict[str, Any] = {"s": np.float32(0.05), "z": np.int8(3), "r": np.float32(0.07), "t": np.int8(-4)}
    names = ["x", "v"] if op == "Add" else ["x"]
    out = list(shape)
    if op == "QLinearConv":
        rng = np.random.default_rng(5)
        numbers["w"] = rng.integers(-127, 128, (32, 32, 1, 1)).astype(np.int8)
        numbers["ws"], numbers["wz"] = rng.uniform(0.01, 0.02, 32).astype(np.float32), np.zeros(32, np.int8)
        nodes = [helper.make_node(op, ["x", "s", "z", "w", "ws", "wz", "r", "t"], ["y"], "layer")]
    else:
        options: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]} if op == "AveragePool" else {}
        out[2:] = [size // 2 for size in pixels] if options else out[2:]
        nodes = [helper.make_node("DequantizeLinear", [name, "s", "z"], [f"{name}f"]) for name in names]
        nodes.append(helper.make_node(op, [f"{name}f" for name in names], ["yf"], "layer", **options))
        nodes.append(helper.make_node("QuantizeLinear", ["yf", "r", "t"], ["y"]))
    given = [helper.make_tensor_value_info(name, TensorProto.INT8, shape) for name in names]
    made = [helper.make_tensor_value_info("y", TensorProto.INT8, out)]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in numbers.items()]
    graph = helper.make_graph(nodes, "elements", given, made, held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(path))
    return path


def measure(op: str) -> tuple[str, int, int, bool]:
    """The kernel, elements that it makes, cycles of the cores, and whether all codes are those of NumPy."""
    board = load_target(BOARD)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = "neureka" if op == "QLinearConv" else "cores"
        done = compile_model(model(op, folder / "one.onnx"), CompileOptions(quantized_io=True, engine=engine), board)
        write(done, folder / "project")
        sized = with_sizes(board, done.request.levels)
        image = build(folder / "project", done.artifacts.interface, sized, folder / "work", trace=True)
        rng = np.random.default_rng(1)
        tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
        inputs = [rng.integers(*t.dtype.range, t.shape, endpoint=True).astype(t.dtype.numpy) for t in tensors]
        answer = execute(image, [array.tobytes() for array in inputs], count=True)
        slots = run_slots(done.plan, inputs)
    index = next(i.index for i in done.plan.instructions if i.call.node.op in (op, "Conv"))
    layer = done.plan.instructions[index]
    cycles = sum(span.cycles for span in answer.spans if span.kind == "kernel" and span.instruction == index)
    equal = [slots[slot].tobytes() for slot in done.plan.output_slots] == list(answer.outputs)
    return layer.kernel.name, layer.call.outputs[0].elements, cycles, equal


def table() -> list[tuple[str, ...]]:
    """A row per operator."""
    rows: list[tuple[str, ...]] = [("operator", "kernel", "elements", "cycles", "cycles an element", "equal")]
    if missing := [tool for tool, _ in missing_tools(load_target(BOARD))]:
        return [*rows, (f"skipped: {', '.join(missing)} is not installed", *[""] * 5)]
    for op in SHAPES:
        try:
            kernel, elements, cycles, equal = measure(op)
        except ToolMissing as error:
            return [*rows, (f"skipped: {error}", *[""] * 5)]
        each = f"{cycles / elements:.2f}"
        rows.append((op, kernel, f"{elements:,}", f"{cycles:,}", each, "yes" if equal else "NO"))
    return rows
