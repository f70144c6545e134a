"""The light networks of the onnx package (AlexNet to ZFNet) through `check`, `compile` and `run`.

Their weights are missing: a ConstantOfShape stands for each. Seeded random ones take their place, of a spread that
keeps activations near one. Every verb is a process of its own; the table gives its seconds of the processor and the
most memory that it (or a compiler that it starts) held. Networks of more than --most MB are checked and
compiled but not built.

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
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

Array = npt.NDArray[Any]

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


def roles(model: onnx.ModelProto) -> dict[str, tuple[str, int]]:
    """How each tensor is used first: operator and place; a vector that an Unsqueeze shapes by what follows it."""
    role_of: dict[str, tuple[str, int]] = {}
    for node in reversed(model.graph.node):
        for place, name in enumerate(node.input):
            through = node.op_type == "Unsqueeze" and node.output[0] in role_of
            role_of[name] = role_of[node.output[0]] if through else (node.op_type, place)
    return role_of


def drawn(shape: tuple[int, ...], role: tuple[str, int], draw: np.random.Generator) -> Array:
    """Weights by their fan-in, factors and variances near one, biases and means near zero."""
    if len(shape) > 1:
        return draw.normal(0, sqrt(1 / prod(shape[1:])), shape).astype(np.float32)
    if role in (("BatchNormalization", 1), ("BatchNormalization", 4), ("Mul", 1)):
        return draw.uniform(0.8, 1.2, shape).astype(np.float32)
    return draw.normal(0, 0.1, shape).astype(np.float32)


def computed(node: onnx.NodeProto, values: dict[str, Array], opset: int) -> Array:
    """The first result of one node, by ONNX Runtime."""
    import onnxruntime

    given = [name for name in dict.fromkeys(node.input) if name]
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(values[name].dtype), None)
        for name in given
    ]
    output = onnx.helper.make_empty_tensor_value_info(node.output[0])
    one = onnx.helper.make_model(
        onnx.helper.make_graph([node], "one", inputs, [output]),
        opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8,
    )  # fmt: skip
    session = onnxruntime.InferenceSession(one.SerializeToString(), providers=["CPUExecutionProvider"])
    result: Array = session.run([node.output[0]], {name: values[name] for name in given})[0]
    return result


def filled(path: Path, seed: int = 0) -> onnx.ModelProto:
    """The network with a random weight in the place of every ConstantOfShape.

    Weights and bias of every convolution and matrix product are divided by the spread of its results for one random
    input, so that no activation grows with the depth of the network and no softmax has a single class.
    """
    model = onnx.load(path)
    draw = np.random.default_rng(seed)
    used = roles(model)
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for given in model.graph.input:
        if given.name not in values:
            shape = [size.dim_value or 1 for size in given.type.tensor_type.shape.dim]
            values[given.name] = draw.standard_normal(shape).astype(np.float32)
    weights, remaining = [], []
    for node in model.graph.node:
        name = node.output[0]
        if node.op_type == "ConstantOfShape" and node.input[0] in values:
            values[name] = drawn(tuple(int(size) for size in values[node.input[0]]), used[name], draw)
            weights.append(name)
            continue
        remaining.append(node)
        values[name] = computed(node, values, model.opset_import[0].version)
        if node.op_type in ("Conv", "Gemm"):
            spread = values[name].std()
            for changed in (name, *node.input[1:]):
                values[changed] = values[changed] / spread
    model.graph.initializer.extend(numpy_helper.from_array(values[name], name) for name in weights)
    del model.graph.node[:]
    model.graph.node.extend(remaining)
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
    report = json.loads(result.read_text()) if result.exists() else {}
    run = report.get("run") or {}
    reference = run.get("reference") or {}
    return (
        f"match {run.get('match')}, largest difference {run.get('max_abs_error')}; "
        f"{reference.get('mismatches')} differences from {reference.get('name')}"
    )


def main() -> int:
    """Print a row per network; 1 where one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="which of them, by a part of the name")
    parser.add_argument("--most", type=int, default=1000, help="MB of the largest network that is built")
    parser.add_argument("--write", type=Path, help="only write a network with its random weights into this file")
    arguments = parser.parse_args()
    if arguments.write:
        arguments.write.write_bytes(filled(FOLDER / f"{arguments.names[0]}.onnx").SerializeToString())
        return 0
    failed = False
    print("| network | size | check | compile | run | compared |\n|---|---|---|---|---|---|", flush=True)
    for path in sorted(FOLDER.glob("*.onnx"), key=lambda file: file.stat().st_size):
        if arguments.names and not any(name in path.stem for name in arguments.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            cells, good = through(path, arguments.most, Path(folder))
        print("| " + " | ".join(cells) + " |", flush=True)
        failed |= not good
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
