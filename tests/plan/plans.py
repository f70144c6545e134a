"""Plans for the tests of the plan stage: networks of our own, small graphs, random chains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from deployed import after, deployment
from graphs import node, onnx_model
from tilewright.frontend.load import load
from tilewright.model import Array, Model, Tensor
from tilewright.passes.driver import run as run_passes
from tilewright.passes.quantise.lower import lower
from tilewright.plan.build import build
from tilewright.plan.check import check
from tilewright.plan.plan import ExecutionPlan
from tilewright.plugins import platform
from tilewright.schedule.moves.kernels import ScratchAtPeak
from tilewright.tiling.tiled_graph import TiledGraph


def model_of(source: Path | onnx.ModelProto, *, passes: bool = True) -> Model:
    """The model as binding takes it."""
    model = lower(load(source, name="net"))
    return run_passes(model)[0] if passes else model


def plan_of(source: Path | onnx.ModelProto | Model, name: str = "generic", *, passes: bool = True) -> ExecutionPlan:
    """The plan of a model on a platform."""
    model = source if isinstance(source, Model) else model_of(source, passes=passes)
    graph = after(deployment(model, platform(name)), ScratchAtPeak()).deployment.bound
    plan = build(TiledGraph(graph, {}))
    check(plan)
    return plan


def random_inputs(plan: ExecutionPlan, seed: int = 0) -> list[Array]:
    """Values for every input of the plan; a float input that is quantised takes values over all its codes."""
    generator = np.random.default_rng(seed)
    found: list[Array] = []
    for slot in plan.input_slots:
        tensor = plan.slots[slot].tensor
        codes = [plan.slots[i.outputs[0]].tensor for i in plan.instructions if slot in i.inputs]
        meaning = next((t.quantisation for t in codes if of_one_scale(t)), None)
        if meaning is not None:
            drawn = generator.integers(-128, 128, tensor.shape) * float(meaning.scale[0])
            found.append(drawn.astype(tensor.dtype.numpy))
        elif tensor.dtype.is_float:
            found.append(generator.standard_normal(tensor.shape).astype(tensor.dtype.numpy))
        else:
            low, high = tensor.dtype.range
            found.append(generator.integers(low, high + 1, tensor.shape).astype(tensor.dtype.numpy))
    return found


def of_one_scale(tensor: Tensor) -> bool:
    """True for codes of one scale."""
    return tensor.quantisation is not None and tensor.quantisation.axis is None


def chain(ops: Sequence[str], shape: tuple[int, ...] = (2, 8)) -> onnx.ModelProto:
    """A chain of operators with one operand each; `Add` and `Mul` take the network's input a second time."""
    nodes = []
    at = "x"
    for index, op in enumerate(ops):
        read = f"{at} x" if op in ("Add", "Mul") else at
        nodes.append(node(op, read, f"t{index}", f"n{index}"))
        at = f"t{index}"
    return onnx_model(nodes, {"x": shape}, [at])
