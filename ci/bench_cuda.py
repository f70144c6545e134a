"""Figures of the platform cuda, one row per network; a figure that this machine cannot measure is null."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from bench_cuda_peers import measure
from tilewright.binding.bind import bind
from tilewright.errors import ToolMissing
from tilewright.frontend.load import load
from tilewright.memory.buffer_layout import BufferLayout, compute_buffer_layout
from tilewright.model import Array
from tilewright.passes.driver import run as run_passes
from tilewright.passes.quantise.lower import lower
from tilewright.plan.build import build
from tilewright.plan.execute import run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.plan.schedule import schedule_batches, with_groups
from tilewright.plugins import kernels_of, platform
from tilewright.run.cuda_executor import CUDAGraphExecutor, build_plan
from tilewright.run.cuda_library import compile_command, find_compiler
from tilewright.run.inputs import random_values
from tilewright.target import load_target
from tilewright.tiling.tiled_graph import TiledGraph

NETWORKS = Path(__file__).parents[1] / "tests" / "models"
NAMES = ("resnet8_int8", "dscnn_int8", "vww_int8", "ad_int8", "dscnn")
REPEATS = 1000
HEADING = (
    "network", "instructions", "captured", "graph nodes", "arena B", "disjoint B", "registers", "spills B",
    "sanitizer", "replays equal", "eager us", "replay us", "megakernel us", "replay/eager", "megakernel/replay",
    "torch us", "replay/torch",
)  # fmt: skip


Result = TypeVar("Result")


@dataclass(frozen=True)
class Timed:
    """What a GPU told: equal replays of `REPEATS`, and median microseconds of one call with its copies."""

    equal: int
    eager: float
    replay: float
    megakernel: float


def main(folders: list[str]) -> int:
    """Print the table; `--once FOLDER` runs one network and its megakernel, for compute-sanitizer."""
    if folders[:1] == ["--once"]:
        return 0 if once(Path(folders[1])) else 6
    rows: list[tuple[str, ...]] = [HEADING]
    for folder in map(Path, folders or [str(NETWORKS / name) for name in NAMES]):
        rows.append(row(folder))
        print(f"{folder.name} done", file=sys.stderr, flush=True)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    return 0


def row(folder: Path) -> tuple[str, ...]:
    """The figures of one network."""
    plan = plan_of(folder / "model.onnx")
    packed, disjoint = compute_buffer_layout(plan), compute_buffer_layout(plan, "disjoint")
    with CUDAGraphExecutor(plan, layout=packed) as executor:
        inputs = inputs_of(plan, 0)
        for _ in range(2):
            executor.run(*inputs)
        nodes, captured = executor.stats.nodes, executor.regions.captured
    registers, spills = assembled(plan, packed)
    timed = on_gpu(plan, packed, lambda executor, library: time_it(plan, executor, library, packed))
    figures: list[object] = [
        plan.instruction_count, captured, sum(nodes), packed.total_bytes, disjoint.total_bytes, registers, spills,
        sanitized(folder),
    ]  # fmt: skip
    if timed is None:
        figures += [None] * 8
    else:
        peer = measure(folder / "model.onnx", inputs, median).best
        figures += [
            f"{timed.equal}/{REPEATS}", round(timed.eager, 1), round(timed.replay, 1), round(timed.megakernel, 1),
            round(timed.replay / timed.eager, 2), round(timed.megakernel / timed.replay, 2),
            None if peer is None else round(peer, 1), None if peer is None else round(timed.replay / peer, 2),
        ]  # fmt: skip
    return (folder.name, *("null" if figure is None else str(figure) for figure in figures))


def plan_of(file: Path) -> ExecutionPlan:
    """The plan on the platform cuda, with its sweeps."""
    chosen = platform("cuda")
    model, _ = run_passes(lower(load(file, name="net")))
    plan = build(TiledGraph(bind(model, chosen, kernels_of(chosen)), {}))
    return with_groups(plan, schedule_batches(plan))


def inputs_of(plan: ExecutionPlan, seed: int) -> list[Array]:
    """Seeded inputs."""
    generator = np.random.default_rng(seed)
    return [random_values(plan.slots[slot].tensor, generator) for slot in plan.input_slots]


def assembled(plan: ExecutionPlan, layout: BufferLayout) -> tuple[int | None, int | None]:
    """Most registers of a kernel and bytes spilled by all, as ptxas counts them for sm_90; None without nvcc."""
    target = load_target("cuda_sm90")
    try:
        driver = find_compiler(target)
    except ToolMissing:
        return None, None
    from tilewright.platforms.cuda.emit import emit_network

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "network.cu").write_text(emit_network(plan, layout))
        command = [*compile_command(driver, target), "-Xptxas", "-v", "-o", "network.so", "network.cu"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", done.stderr)]
    return max(registers, default=0), sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", done.stderr))


def on_gpu(
    plan: ExecutionPlan, layout: BufferLayout, work: Callable[[CUDAGraphExecutor, Path], Result]
) -> Result | None:
    """What `work` finds with an executor on the GPU of this machine; None where there is none."""
    for name in ("cuda_sm90", "cuda_sm80"):
        with tempfile.TemporaryDirectory() as folder:
            try:
                library = build_plan(plan, layout, load_target(name), Path(folder))
                executor = CUDAGraphExecutor(plan, layout=layout, library=library, poison=True)
            except ToolMissing:
                continue
            with executor:
                return work(executor, library)
    return None


def once(folder: Path) -> bool:
    """Warm-up, capture, replay and megakernel of one network; whether there was a GPU."""
    plan = plan_of(folder / "model.onnx")
    inputs = inputs_of(plan, 0)

    def work(executor: CUDAGraphExecutor, library: Path) -> bool:
        for _ in range(3):
            executor.run(*inputs)
        executor.run_megakernel(inputs)
        return True

    return bool(on_gpu(plan, compute_buffer_layout(plan), work))


def sanitized(folder: Path) -> str | None:
    """The word of compute-sanitizer's memcheck and racecheck on `once`; None without the tool or a GPU."""
    if (tool := shutil.which("compute-sanitizer")) is None:
        return None
    for check in ("memcheck", "racecheck"):
        command = [tool, "--tool", check, "--error-exitcode", "9", sys.executable, __file__, "--once", str(folder)]
        code = subprocess.run(command, capture_output=True, check=False).returncode
        if code == 6:
            return None
        if code != 0:
            return f"{check} {code}"
    return "clean"


def time_it(plan: ExecutionPlan, executor: CUDAGraphExecutor, library: Path, layout: BufferLayout) -> Timed:
    """Equal replays with a poisoned arena first, then the times without poison."""
    drawn = [inputs_of(plan, seed) for seed in range(8)]
    known = [[run_slots(plan, inputs)[slot] for slot in plan.output_slots] for inputs in drawn]
    equal = 0
    for number in range(REPEATS):
        outputs = executor.run(*drawn[number % len(drawn)])
        wanted = known[number % len(drawn)]
        equal += all(a.tobytes() == b.tobytes() for a, b in zip(outputs, wanted, strict=True))
    executor.poison = False
    inputs = inputs_of(plan, 0)
    replay = median(lambda: executor.run(*inputs))
    megakernel = median(lambda: executor.run_megakernel(inputs))
    with CUDAGraphExecutor(plan, 10 * REPEATS, layout=layout, library=library) as eager:
        return Timed(equal, median(lambda: eager.run(*inputs)), replay, megakernel)


def median(work: Callable[[], object]) -> float:
    """Median microseconds of `REPEATS` calls."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
