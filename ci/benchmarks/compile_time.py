"""How compile time grows with the number of nodes, for networks of several shapes.

Seconds of the processor are those of the whole process, with Python's start; a first run that is not counted compiles
our sources to bytecode, as an installer does it. The stages are measured on the clock. The last column is the exponent
of growth since the row above: 1 is linear, 2 is quadratic.

bash ci/bench compile_time                                 every shape at every size: minutes
bash ci/bench compile_time:chain,fan_in,300,1000           some shapes, some sizes
bash ci/bench compile_time:1000,-row_chains,-views         without passes, to see the other stages
bash ci/bench compile_time:300,on=qemu_pulp                for another target than host
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import onnx
from make_odd import Sketch

TITLE = "compile time by number of nodes (seconds of the processor in all, and of each stage on the clock)"
SIZES = (300, 1000, 3000, 10_000)
LIMIT = 300
"""Seconds of the processor after which a compilation is ended; the larger networks of its shape are not tried."""
STAGES = ("frontend", "passes", "binding", "tiling", "plan", "memory", "codegen")


def ladder(nodes: int) -> onnx.ModelProto:
    """Residual blocks of Conv, Relu, Conv, Add, Relu until there are `nodes` nodes."""
    net = Sketch(f"ladder_{nodes}")
    x = net.convolution(net.input("image", 1, 4, 12, 12), 4, 8, (3, 3))
    while len(net.nodes) < nodes - 1:
        inner = net.node("Relu", net.convolution(x, 8, 8, (3, 3)))
        x = net.node("Relu", net.node("Add", x, net.convolution(inner, 8, 8, (1, 1))))
    net.output(x, "features")
    return net.finish()


def chain(nodes: int) -> onnx.ModelProto:
    """Conv and Sigmoid in turn."""
    net = Sketch(f"chain_{nodes}")
    x = net.input("image", 1, 4, 8, 8)
    while len(net.nodes) < nodes - 1:
        x = net.node("Sigmoid", net.convolution(x, 4, 4, (3, 3)))
    net.output(x, "features")
    return net.finish()


def fan_out(nodes: int) -> onnx.ModelProto:
    """One tensor that all other nodes read, each for an output of its own."""
    net = Sketch(f"fan_out_{nodes}")
    x = net.node("Relu", net.input("signal", 1, 8))
    for index in range(nodes - 1):
        net.result(f"out_{index}", "Sigmoid", x)
    return net.finish()


def fan_in(nodes: int) -> onnx.ModelProto:
    """One Concat of what all other nodes make of the same input."""
    net = Sketch(f"fan_in_{nodes}")
    x = net.input("image", 1, 4, 8, 8)
    branches = [net.convolution(x, 4, 4, (1, 1)) for _ in range(nodes - 2)]
    net.output(net.node("Concat", *branches, axis=1), "features")
    return net.finish()


def inputs(nodes: int) -> onnx.ModelProto:
    """As many inputs and outputs as nodes, each node between one of each."""
    net = Sketch(f"inputs_{nodes}")
    for index in range(nodes):
        net.result(f"out_{index}", "Sigmoid", net.input(f"in_{index}", 1, 8))
    return net.finish()


SHAPES: dict[str, Callable[[int], onnx.ModelProto]] = {
    "chain": chain, "ladder": ladder, "fan_out": fan_out, "fan_in": fan_in, "inputs": inputs,
}  # fmt: skip


def seconds_of(command: list[str], bytecode: Path) -> float | None:
    """Seconds of the processor that a command takes, in user code and in the system; None beyond the limit."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    before = used()
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    surroundings["PYTHONPYCACHEPREFIX"] = str(bytecode)
    limit = f'ulimit -t {LIMIT}; exec "$@"'
    done = subprocess.run(["bash", "-c", limit, "bash", *command], stdout=subprocess.DEVNULL, env=surroundings)
    seconds = used() - before
    if done.returncode and seconds < LIMIT:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    return None if done.returncode else seconds


def measured(shape: str, nodes: int, target: str, without: list[str], folder: Path) -> tuple[float, list[str]] | None:
    """Seconds in all and cells of one compilation; None beyond the limit."""
    model, output = folder / f"{shape}_{nodes}.onnx", folder / f"{shape}_{nodes}"
    onnx.save(SHAPES[shape](nodes), str(model))
    words = ["-m", "tilewright.cli", "compile", str(model), "-t", target, "-o", str(output), "--force", "-q"]
    words += [word for name in without for word in ("--without-pass", name)]
    total = seconds_of([sys.executable, *words], folder / "bytecode")
    if total is None:
        return None
    stages = json.loads((output / "report.json").read_text())["tool"]["seconds"]
    return total, [f"{stages.get(stage, 0.0):.2f}" for stage in STAGES]


def table(*parts: str) -> list[tuple[str, ...]]:
    """A row per shape and size: seconds in all, of each stage, the exponent of growth."""
    without = [part[1:] for part in parts if part.startswith("-")]
    target = next((part[3:] for part in parts if part.startswith("on=")), "host")
    sizes = [int(part) for part in parts if part.isdigit()] or list(SIZES)
    shapes = [part for part in parts if part in SHAPES] or list(SHAPES)
    rows: list[tuple[str, ...]] = [("shape", "nodes", "in all", *STAGES, "growth")]
    with tempfile.TemporaryDirectory() as scratch:
        measured(shapes[0], 10, target, without, Path(scratch))
        for shape in shapes:
            before: tuple[int, float] | None = None
            for nodes in sizes:
                times = measured(shape, nodes, target, without, Path(scratch))
                if times is None:
                    rows.append((shape, str(nodes), f"> {LIMIT}"))
                    break
                total, stages = times
                growth = "" if before is None else f"{math.log(total / before[1], nodes / before[0]):.2f}"
                rows.append((shape, str(nodes), f"{total:.2f}", *stages, growth))
                print(*rows[-1], file=sys.stderr, flush=True)
                before = nodes, total
    return [(*row, *[""] * (len(rows[0]) - len(row))) for row in rows]
