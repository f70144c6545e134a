"""How long placement takes: graphs like networks, a model of 1,000 nodes, and MiniMalloc's instances."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import onnx
from benchmarks.compile_time import ladder
from tilewright.compile import clock, compile_model, compiler
from tilewright.memory.csv_format import read_problem
from tilewright.memory.place import place
from tilewright.memory.problem import PlacementProblem
from tilewright.options import CompileOptions
from tilewright.target import load_target

TITLE = "placement (CPU seconds of this process; a peak equal to its bound is proved to be the smallest)"
ROOT = Path(__file__).parents[2]
COUNTS = (100, 500, 1000, 2000)
NODES = 1000

Row = tuple[str, ...]


def table() -> list[Row]:
    """A row for every problem: buffers, peak, proved bound, status, CPU seconds."""
    sys.path.append(str(ROOT / "tests"))
    heads = ("problem", "buffers", "peak", "bound", "status", "CPU seconds")
    place(PlacementProblem(()))
    return [heads, *_graphs(), *_planned(), *_instances()]


def _row(name: str, problem: PlacementProblem, enough: int | None = None) -> Row:
    start = time.process_time()
    solution = place(problem, enough=enough)
    seconds = time.process_time() - start
    status = solution.status if enough is None or solution.peak > enough else f"{solution.status}, fits {enough:,}"
    return name, str(len(problem.buffers)), f"{solution.peak:,}", f"{solution.lower_bound:,}", status, f"{seconds:.2f}"


def _graphs() -> Iterator[Row]:
    from memory.networks import KINDS, network_graph

    for kind in KINDS:
        for count in COUNTS:
            yield _row(f"{kind} {count}", network_graph(kind, count, count))


def _planned() -> Iterator[Row]:
    """Plan and memory of a whole model: from the bound graph to an offset for every byte."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "ladder.onnx"
        onnx.save(ladder(NODES), str(model))
        timed = compiler.copy()
        timed.dependency_overrides[clock] = lambda: time.process_time
        done = compile_model(model, CompileOptions(), load_target("host"), pipeline=timed)
    seconds = done.report.tool.seconds
    solution, buffers = done.placed.solution, len(done.placed.problem.buffers)
    for name, spent in (("plan and memory", seconds["plan"] + seconds["memory"]), ("all stages", seconds["total"])):
        yield (
            f"model of {NODES} nodes: {name}", str(buffers), f"{solution.peak:,}", f"{solution.lower_bound:,}",
            solution.status, f"{spent:.2f}",
        )  # fmt: skip


def _instances() -> Iterator[Row]:
    """MiniMalloc's CSV files, where they are at hand, at the capacity in their names; C at its bound too."""
    folder = Path(os.environ.get("TILEWRIGHT_MINIMALLOC", ROOT.parent / "shared" / "data" / "minimalloc"))
    for path in sorted(folder.glob("*.csv")):
        problem = read_problem(path.read_text(encoding="utf-8"), file=str(path))
        yield _row(path.stem, problem, int(path.stem.rpartition(".")[2]))
        if path.stem.startswith("C."):
            yield _row("C at its bound", problem)
