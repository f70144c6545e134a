"""One network on one simulated board: compiled, built, counted, run inside both fences, compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilewright.compile import compile_model, run_model, write
from tilewright.errors import DoesNotFit
from tilewright.options import CompileOptions, RunOptions
from tilewright.report.allowance import estimate
from tilewright.report.blame import overflow
from tilewright.report.build import Report
from tilewright.target import Target, known_targets, load_target

BOARDS = tuple(
    name for name in known_targets() if name.startswith("qemu_") and load_target(name).platform in ("riscv", "cortex_m")
)
"""Simulated boards with one core; clusters with tiled code have tests of their own."""
ONE_PER_FAMILY = ("qemu_rv32imafc", "qemu_mps2_an386")


@dataclass(frozen=True)
class Cell:
    """What came of it: the report of the run, and what was estimated before, in bytes; or why it does not fit."""

    network: str
    board: str
    report: Report | None = None
    code_allowance: int = 0
    stack_allowance: int = 0
    refusal: DoesNotFit | None = None


def run_cell(model: Path, inputs: Path, outputs: Path, board: str, work: Path, codes: bool = True) -> Cell:
    """Compile for the board, run it, compare with `outputs` of ONNX Runtime; with `codes` quantised ones with NumPy."""
    target, name = load_target(board), model.parent.name
    codes = codes and is_quantised(name)
    done = compile_model(model, CompileOptions(), target)
    if (refusal := overflow(done.report, {}, sure=True)) is not None:
        return Cell(name, board, refusal=refusal)
    work.mkdir(parents=True)
    write(done, work)
    asked = RunOptions(inputs=inputs, expect=None if codes else outputs, rtol=1e-3, atol=1e-4, reference=False)
    try:
        report = run_model(done, target, asked, work)
    except DoesNotFit as error:
        return Cell(name, board, refusal=error)
    found = estimate(done.request.platform, done.artifacts, target)
    return Cell(name, board, report, found.code, found.stack)


def is_quantised(network: str) -> bool:
    """True for the networks of integers, by their names."""
    return network.endswith("_int8")


def has_fpu(target: Target) -> bool:
    """True for boards on which floats are no library."""
    return "fpu" in target.capabilities
