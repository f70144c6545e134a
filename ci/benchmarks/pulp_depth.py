"""Whole networks on a PULP cluster in GVSoC: the best schedules with single buffers beside those that are chosen.

`pulp_depth:ad_int8,resnet8_int8` asks for some networks only. Skips where `gvsoc` is missing.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.pulp_cycles import BOARD, models
from tilewright.compile import compile_model, write
from tilewright.errors import DoesNotFit
from tilewright.options import CompileOptions
from tilewright.run.build import build
from tilewright.run.inputs import random_values
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools, with_sizes

TITLE = "Single buffers beside the chosen ones in GVSoC, target pulp-open (cycles of one inference, codes in and out)"
L1_KIBIBYTES = (64, 55, 32, 16)


@dataclass(frozen=True)
class Run:
    """Cycles of one inference, those that the tiler's model adds up over the layers that are cut, and how many of them
    have second buffers."""

    measured: int
    modelled: int
    double: int


def run(model: Path, kibibytes: int, *, double: bool) -> Run | None:
    """One inference with so much L1; None where the network does not fit."""
    without = frozenset[str]() if double else frozenset({"double_buffering"})
    options = CompileOptions(level_sizes={"l1": kibibytes * 1024}, quantized_io=True, disabled_passes=without)
    target = load_target(BOARD)
    try:
        done = compile_model(model, options, target)
    except DoesNotFit:
        return None
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        write(done, project)
        image = build(project, done.artifacts.interface, with_sizes(target, done.request.levels), project / "work")
        rng = np.random.default_rng(1)
        tensors = [done.plan.slots[slot].tensor for slot in done.plan.input_slots]
        answer = execute(image, [random_values(tensor, rng).tobytes() for tensor in tensors], count=True)
    schedules = [i.schedule for i in done.plan.instructions if i.schedule is not None]
    assert answer.cycles is not None
    return Run(answer.cycles, sum(s.cycles for s in schedules), sum(s.double for s in schedules))


def table(*names: str) -> list[tuple[str, ...]]:
    """A row per network and size of L1."""
    rows: list[tuple[str, ...]] = [
        ("network", "L1 in KiB", "cycles, single", "cycles, chosen", "measured", "modelled", "double layers")
    ]
    if missing := [tool for tool, _ in missing_tools(load_target(BOARD))]:
        return [*rows, (f"skipped: {', '.join(missing)} is not installed", *[""] * 6)]
    for model in models():
        name = model.parent.name
        for kibibytes in L1_KIBIBYTES if not names or name in names else ():
            single, chosen = (run(model, kibibytes, double=double) for double in (False, True))
            if single is None or chosen is None:
                continue
            measured, modelled = chosen.measured / single.measured - 1, chosen.modelled / single.modelled - 1
            rows.append(
                (name, str(kibibytes), f"{single.measured:,}", f"{chosen.measured:,}", f"{100 * measured:+.1f} %",
                 f"{100 * modelled:+.1f} %", str(chosen.double))
            )  # fmt: skip
    return rows
