"""N-EUREKA beside the cores: whole networks on siracusa, and 200 drawn layers on the engine that is played in C.

Every network with all layers on the cores and with the engine that takes fewer modelled cycles for each layer: cycles
by the model, and in GVSoC where `gvsoc` is there, codes in and out. `pulp_engine:resnet8_int8` asks for some networks,
`pulp_engine:drawn` for the layers alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from benchmarks.pulp_cycles import models
from drawn_layers import draw, network
from tilewright.compile import compile_model, write
from tilewright.errors import ToolMissing
from tilewright.options import CompileOptions
from tilewright.plan.execute import run_slots
from tilewright.run.build import build
from tilewright.run.simulate import execute
from tilewright.target import Target, load_target, missing_tools, with_sizes

TITLE = "N-EUREKA and eight cores, target siracusa, 256 KiB of L1: cycles of one inference"
BOARD = "gvsoc_siracusa"
PLAYED = Path(__file__).parents[2] / "tests" / "pulp" / "siracusa_here"
DRAWN, TOGETHER = 200, 20


def run(model: Path, board: Target, options: CompileOptions, *, count: bool) -> tuple[int, int | None, int]:
    """Modelled cycles, measured ones where there are any, and outputs that are not those of the semantics in NumPy."""
    done = compile_model(model, options, board)
    modelled = sum(layer.modelled_cycles or 0 for layer in done.report.layers)
    if missing_tools(board):
        return modelled, None, -1
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        write(done, project)
        image = build(project, done.artifacts.interface, with_sizes(board, done.request.levels), project / "work")
        rng = np.random.default_rng(1)
        tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
        inputs = [rng.integers(*t.dtype.range, t.shape, endpoint=True).astype(t.dtype.numpy) for t in tensors]
        try:
            answer = execute(image, [array.tobytes() for array in inputs], count=count)
        except ToolMissing:
            return modelled, None, -1
    slots = run_slots(done.plan, inputs)
    pairs = zip(answer.outputs, done.plan.output_slots, strict=True)
    return modelled, answer.cycles, sum(ours != slots[slot].tobytes() for ours, slot in pairs)


def drawn() -> tuple[int, int]:
    """How many drawn layers were computed, and how many of them wrongly, with 32 to 128 KiB of L1."""
    board, wrong = load_target(str(PLAYED)), 0
    for first in range(0, DRAWN, TOGETHER):
        rng = np.random.default_rng(1000 + first)
        layers = [draw(rng, seed) for seed in range(first, first + TOGETHER)]
        options = CompileOptions(level_sizes={"l1": (32, 64, 128)[first // TOGETHER % 3] * 1024}, engine="neureka")
        with tempfile.TemporaryDirectory() as name:
            wrong += run(network(layers, Path(name) / "drawn.onnx"), board, options, count=False)[2]
    return DRAWN, wrong


def table(*names: str) -> list[tuple[str, ...]]:
    """A row per network and choice of engines, and one of the drawn layers."""
    rows: list[tuple[str, ...]] = [("network", "engine", "modelled", "in GVSoC", "wrong outputs")]
    board = load_target(BOARD)
    for model in models():
        name = model.parent.name
        for engine in ("cores", "auto") if not names or name in names else ():
            modelled, measured, wrong = run(model, board, CompileOptions(quantized_io=True, engine=engine), count=True)
            cells = (f"{measured:,}", str(wrong)) if measured is not None else ("not there", "")
            rows.append((name, engine, f"{modelled:,}", *cells))
    if not names or "drawn" in names:
        many, wrong = drawn()
        rows.append((f"{many} drawn layers", "neureka", "", "played in C", str(wrong)))
    return rows
