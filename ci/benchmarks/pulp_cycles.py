"""Cycles of PULP kernels in GVSoC beside what their cost model says, tile by tile; skips where `gvsoc` is missing."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tilewright.compile import compile_model, write
from tilewright.options import CompileOptions
from tilewright.run.build import build
from tilewright.run.inputs import random_values
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools

TITLE = "PULP kernels in GVSoC, target pulp-open, eight cores (cycles of a tile against the cost model)"
ROOT = Path(__file__).parents[2]
BOARD = "gvsoc_pulp_open"
NETWORKS = ("resnet8_int8", "dscnn_int8", "vww_int8", "ad_int8")
L1_KIBIBYTES = (64, 25)
"""Stacks take 8 of them."""


@dataclass(frozen=True)
class Tile:
    """One kernel on one tile: cycles as modelled and as measured; products and results per cycle follow."""

    kernel: str
    layer: str
    modelled: float
    measured: int
    sizes: tuple[tuple[str, int], ...]


def models() -> list[Path]:
    """The trained MLPerf Tiny networks where they are at hand, else our own of the same shapes."""
    trained = Path(os.environ.get("TILEWRIGHT_MODELS", ROOT.parent / "shared" / "models"))
    own = ROOT / "tests" / "models"
    files = [(trained if (trained / name / "model.onnx").exists() else own) / name / "model.onnx" for name in NETWORKS]
    return [path for path in files if path.exists()]


def tiles(model: Path, kibibytes: int) -> list[Tile]:
    """Every tile of a network, run with so much L1. The first tile of a layer finds cold caches and is left out."""
    target = load_target(BOARD)
    done = compile_model(model, CompileOptions(level_sizes={"l1": kibibytes * 1024}), target)
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        write(done, project)
        image = build(project, done.artifacts.interface, target, project / "work", trace=True)
        rng = np.random.default_rng(1)
        tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
        inputs = [random_values(tensor, rng).tobytes() for tensor in tensors]
        answer = execute(image, inputs, count=True)
    instructions = {i.name: i for i in done.plan.instructions}
    measured_tiles = []
    for instruction in done.plan.instructions:
        spans = iter([s for s in answer.spans if s.instruction == instruction.index and s.kind == "kernel"])
        if instruction.schedule is None:
            continue
        for step in instruction.schedule.steps():
            for stage, loops, computed in zip(instruction.schedule.stages, step.tiles, step.computed, strict=True):
                if not computed:
                    continue
                span = next(spans)
                one = instructions[stage.node]
                sizes = {loop: high - low for loop, (low, high) in loops.items()}
                modelled = one.kernel.cycles(one.call, sizes)
                if modelled is not None and step.index > 0:
                    shown = tuple((loop, size) for loop, size in sizes.items() if size > 1 and "." not in loop)
                    measured_tiles.append(Tile(one.kernel.name, one.name, float(modelled), span.cycles, shown))
    return measured_tiles


def all_tiles() -> list[Tile]:
    """Every tile of every network."""
    return [tile for model in models() for size in L1_KIBIBYTES for tile in tiles(model, size)]


def table() -> list[tuple[str, ...]]:
    """A row per kernel: tiles, cycles in all, and by how much the model is off."""
    rows: list[tuple[str, ...]] = [
        ("kernel", "tiles", "measured", "modelled", "error of the sum", "mean error of a tile", "worst tile")
    ]
    if missing := [tool for tool, _ in missing_tools(load_target(BOARD))]:
        return [*rows, (f"skipped: {', '.join(missing)} is not installed", *[""] * 6)]
    everything = all_tiles()
    for kernel in sorted({tile.kernel for tile in everything}):
        some = [tile for tile in everything if tile.kernel == kernel]
        measured, modelled = sum(t.measured for t in some), sum(t.modelled for t in some)
        errors = [abs(t.modelled - t.measured) / t.measured for t in some]
        off = modelled / measured - 1, sum(errors) / len(errors), max(errors)
        percent = (f"{100 * off[0]:+.1f} %", f"{100 * off[1]:.1f} %", f"{100 * off[2]:.1f} %")
        rows.append((kernel, str(len(some)), f"{measured:,}", f"{modelled:,.0f}", *percent))
    return rows
