"""How long tiling takes: CPU seconds of the solver's stage and of the whole way from ONNX to C on a cluster."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import onnx
from benchmarks.compile_time import ladder
from tilewright.compile import clock, compile_model, compiler, write
from tilewright.options import CompileOptions
from tilewright.target import load_target

TITLE = "tiling for qemu_pulp: CPU seconds of the stage, and from ONNX to C files (the first row pays the imports)"
NETWORKS = ("digits_int8", "dscnn_int8", "resnet8_int8", "vww_int8")
SIZES = (30, 100, 300)
MODELS = Path(__file__).parents[2] / "tests" / "models"


def row(name: str, model: Path) -> tuple[str, ...]:
    """Instructions, CPU seconds of tiling and of everything."""
    pipeline = compiler.copy()
    pipeline.dependency_overrides[clock] = lambda: time.process_time
    start = time.process_time()
    done = compile_model(model, CompileOptions(), load_target("qemu_pulp"), pipeline=pipeline)
    with tempfile.TemporaryDirectory() as folder:
        write(done, Path(folder))
    seconds = time.process_time() - start
    tiled = sum(i.schedule is not None for i in done.plan.instructions)
    tiling = done.report.tool.seconds["tiling"]
    return name, str(len(done.plan.instructions)), str(tiled), f"{tiling:.2f}", f"{seconds:.2f}"


def table() -> list[tuple[str, ...]]:
    """A row per network: trained ones, then residual blocks of growing number."""
    rows: list[tuple[str, ...]] = [("network", "instructions", "schedules", "tiling", "ONNX to C")]
    rows += [row(name, MODELS / name / "model.onnx") for name in NETWORKS]
    with tempfile.TemporaryDirectory() as folder:
        for nodes in SIZES:
            model = Path(folder) / f"ladder_{nodes}.onnx"
            onnx.save(ladder(nodes), str(model))
            rows.append(row(f"{nodes} float nodes", model))
    return rows
