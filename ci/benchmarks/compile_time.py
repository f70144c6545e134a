"""How compile time grows with the number of nodes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import onnx
from make_odd import Sketch

TITLE = "compile time by number of nodes (target host; seconds from process start to files written)"
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


def table() -> list[tuple[str, ...]]:
    """A row per size: nodes, seconds in all, seconds of each stage."""
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for nodes in SIZES:
            model = Path(folder) / f"ladder_{nodes}.onnx"
            onnx.save(ladder(nodes), str(model))
            output = Path(folder) / str(nodes)
            start = time.perf_counter()
            command = [sys.executable, "-m", "tilewright.cli", "compile", model, "-t", "host", "-o", output, "-q"]
            subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
            total = time.perf_counter() - start
            stages = json.loads((output / "report.json").read_text())["tool"]["seconds"]
            if not rows:
                rows.append(("nodes", "in all", *(name for name in stages if name != "total")))
            rows.append(
                (str(nodes), f"{total:.2f}", *(f"{seconds:.2f}" for name, seconds in stages.items() if name != "total"))
            )
    return rows
