"""The light networks of the onnx package (AlexNet to ZFNet) through `check`, `compile` and `run`.

Their weights are missing: a ConstantOfShape stands for each. Seeded random ones take their place, of a spread that
keeps activations near one. Every verb is a process of its own; the table gives its seconds of the processor and the
most memory that it (or a compiler that it starts) held. Networks of more than --most MB are checked and
compiled but not built: gcc takes some 250 bytes for every number of an array.

python ci/light_networks.py                     all nine
python ci/light_networks.py squeezenet resnet50
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from math import prod, sqrt
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MEGABYTE = 1_000_000
MOST_MEMORY = 2 << 30


@dataclass(frozen=True)
class Verb:
    """What a verb answered: exit code, seconds of the processor, bytes, and what it said on standard error."""

    code: int
    seconds: float
    peak_bytes: int
    said: str

    def text(self) -> str:
        """One cell of the table."""
        failed = f", exit {self.code}: {self.said[-300:]}" if self.code else ""
        return f"{self.seconds:.1f} s, {self.peak_bytes / (1 << 20):.0f} MiB{failed}"


def filled(path: Path, seed: int = 0) -> onnx.ModelProto:
    """The network with a random weight in the place of every ConstantOfShape."""
    model = onnx.load(path)
    draw = np.random.default_rng(seed)
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in shapes:
            kept.append(node)
            continue
        shape = tuple(int(size) for size in shapes[node.input[0]])
        fans = prod(shape[1:]) if len(shape) > 1 else 1
        # a vector is a bias, a scale or a variance: near one keeps all three harmless
        spread = sqrt(2 / fans) / (10 if len(shape) == 2 else 1)  # classes stay apart from one another but comparable
        values = draw.normal(0, spread, shape) if len(shape) > 1 else draw.uniform(0.8, 1.2, shape)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


def answer(folder: Path, *words: str) -> Verb:
    """Start a verb and wait for it."""
    said = folder / "said"
    with said.open("w") as errors:
        command = [sys.executable, "-m", "tilewright.cli", *words, "-q"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Verb(
        process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, " ".join(said.read_text().split())
    )


def through(path: Path, most: int, folder: Path) -> tuple[tuple[str, ...], bool]:
    """The row of a network, and whether all went well and `check` stayed below 2 GiB."""
    source = folder / f"{path.stem.removeprefix('light_')}.onnx"
    # in a process of its own: the memory of this one would count as that of the verbs
    subprocess.run([sys.executable, __file__, path.stem, "--write", str(source)], check=True)
    size = source.stat().st_size
    check = answer(folder, "check", str(source), "-t", "host")
    compiled = answer(folder, "compile", str(source), "-t", "host", "-o", str(folder / "out"))
    good = check.code == compiled.code == 0 and check.peak_bytes < MOST_MEMORY
    cells = [source.stem, f"{size / MEGABYTE:.1f} MB", check.text(), compiled.text()]
    if size > most * MEGABYTE:
        return (*cells, "not built", ""), good
    result = folder / "run.json"
    run = answer(folder, "run", str(source), "-t", "host", "-o", str(folder / "out"), "--json", str(result))
    return (*cells, run.text(), compared(result)), good and run.code == 0


def compared(result: Path) -> str:
    """What `run` found: our C against NumPy, and NumPy against ONNX Runtime."""
    found = json.loads(result.read_text()) if result.exists() else {}
    run = found.get("run") or {}
    reference = run.get("reference") or {}
    return (
        f"match {run.get('match')}, largest difference {run.get('max_abs_error')}; "
        f"{reference.get('mismatches')} differences from {reference.get('name')}"
    )


def main() -> int:
    """Print a row per network; 1 where one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="which of them, by a part of the name")
    parser.add_argument("--most", type=int, default=110, help="MB of the largest network that is built")
    parser.add_argument("--write", type=Path, help="only write a network with its random weights into this file")
    asked = parser.parse_args()
    if asked.write:
        asked.write.write_bytes(filled(FOLDER / f"{asked.names[0]}.onnx").SerializeToString())
        return 0
    failed = False
    print("| network | size | check | compile | run | compared |\n|---|---|---|---|---|---|", flush=True)
    for path in sorted(FOLDER.glob("*.onnx"), key=lambda found: found.stat().st_size):
        if asked.names and not any(name in path.stem for name in asked.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            cells, good = through(path, asked.most, Path(folder))
        print("| " + " | ".join(cells) + " |", flush=True)
        failed |= not good
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
