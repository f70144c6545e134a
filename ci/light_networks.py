"""The light networks of the onnx package (AlexNet to ZFNet) through `check`, `compile` and `run`.

Their weights are missing: a ConstantOfShape stands for each. Seeded random ones take their place, of a spread that
keeps activations near one. Networks of more than --most MB of weights are only checked and compiled.

python ci/light_networks.py                     all nine
python ci/light_networks.py squeezenet resnet50
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import sys
import tempfile
import time
from math import prod, sqrt
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from tilewright.cli import main as tilewright

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MEGABYTE = 1_000_000


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


def weight_bytes(model: onnx.ModelProto) -> int:
    return sum(len(tensor.raw_data) for tensor in model.graph.initializer)


def answer(*words: str) -> tuple[int, str]:
    """Exit code and what was said on standard error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = tilewright(list(words))
    return code, said.getvalue().strip()


def through(path: Path, most: int, folder: Path) -> tuple[str, bool]:
    """One line of the table, and whether all went well."""
    model = filled(path)
    size = weight_bytes(model)
    small = size <= most * MEGABYTE
    source = folder / f"{path.stem.removeprefix('light_')}.onnx"
    source.write_bytes(model.SerializeToString() if small else path.read_bytes())
    begun, parts = time.monotonic(), []
    verbs: list[tuple[str, tuple[str, ...]]] = [("check", ("-t", "host"))]
    verbs.append(
        ("run", ("-t", "host", "-o", str(folder / "out")))
        if small
        else ("compile", ("-t", "host", "-o", str(folder / "out")))
    )
    good = True
    for verb, words in verbs:
        result = folder / f"{verb}.json"
        code, said = answer(verb, str(source), *words, "-q", "--json", str(result))
        good &= code == 0
        parts.append(f"{verb} {code}" + (f" ({said[-200:]})" if code else ""))
        if verb == "run" and result.exists():
            run = json.loads(result.read_text()).get("run") or {}
            parts.append(f"match {run.get('match')}, largest difference {run.get('max_abs_error')}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    line = (
        f"{source.stem:14} {size / MEGABYTE:6.1f} MB  {'; '.join(parts)}; {time.monotonic() - begun:.0f} s, {peak} MB"
    )
    return line, good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="which of them, by a part of the name")
    parser.add_argument("--most", type=int, default=60, help="MB of weights of the largest network that is run")
    asked = parser.parse_args()
    failed = False
    for path in sorted(FOLDER.glob("*.onnx"), key=lambda found: found.stat().st_size):
        if asked.names and not any(name in path.stem for name in asked.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            line, good = through(path, asked.most, Path(folder))
        print(line, flush=True)
        failed |= not good
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
