"""How compile time grows with the number of nodes.

Seconds of the processor are those of the whole process, with Python's start; a first run that is not counted compiles
our sources to bytecode, as an installer does it. The stages are measured on the clock.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from make_odd import Sketch

TITLE = "compile time by number of nodes (target host; seconds of the processor in all, and of each stage on the clock)"
SIZES = (30, 100, 300, 1000)


def ladder(nodes: int) -> onnx.ModelProto:
    """Residual blocks of Conv, Relu, Conv, Add, Relu until there are `nodes` nodes."""
    net = Sketch(f"ladder_{nodes}")
    x = net.convolution(net.input("image", 1, 4, 12, 12), 4, 8, (3, 3))
    while len(net.nodes) < nodes - 1:
        inner = net.node("Relu", net.convolution(x, 8, 8, (3, 3)))
        x = net.node("Relu", net.node("Add", x, net.convolution(inner, 8, 8, (1, 1))))
    net.output(x, "features")
    return net.finish()


def seconds_of(command: list[str], bytecode: Path) -> float:
    """Seconds of the processor that a command takes, in user code and in the system."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    before = used()
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    surroundings["PYTHONPYCACHEPREFIX"] = str(bytecode)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=surroundings)
    return used() - before


def table() -> list[tuple[str, ...]]:
    """A row per size: nodes, seconds in all, seconds of each stage."""
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for nodes in (SIZES[0], *SIZES):
            model = Path(folder) / f"ladder_{nodes}.onnx"
            onnx.save(ladder(nodes), str(model))
            output = Path(folder) / str(nodes)
            words = ["-m", "tilewright.cli", "compile", str(model), "-t", "host", "-o", str(output), "-q"]
            total = seconds_of([sys.executable, *words], Path(folder) / "bytecode")
            stages = json.loads((output / "report.json").read_text())["tool"]["seconds"]
            if not rows:
                rows.append(("nodes", "in all", *(name for name in stages if name != "total")))
                continue
            rows.append(
                (str(nodes), f"{total:.2f}", *(f"{seconds:.2f}" for name, seconds in stages.items() if name != "total"))
            )
    return rows
