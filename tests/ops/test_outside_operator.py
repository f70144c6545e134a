"""An operator of another distribution, one file: on codes, in C, over tiles, in PyTorch and drawn by conformance."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

OPERATOR = """
from tilewright.ops.codes import Moves
from tilewright.ops.moves import moved
from tilewright.ops.operator import Operator, TensorType
from tilewright.ops.torch import Torch


def infer(call):
    return (TensorType(call.tensor(0).dtype, call.shape()),)


def evaluate(call, arrays):
    return (arrays[0][..., ::-1].copy(),)


def nests(call):
    last = call.shape()[-1] - 1
    return moved(call, call.shape(), lambda loops: [*loops[:-1], loops[-1] * -1 + last])


OPERATORS = (
    Operator("TurnAbout", infer, evaluate, ("x",), nests=nests, domain="com.acme", codes=Moves(whole=True),
             torch=Torch("torch.flip({0}, (-1,))"), sketch="unary"),
)
"""
MIRRORLESS = OPERATOR.replace('torch=Torch("torch.flip({0}, (-1,))"), ', "")
QUESTIONS = """
import json, sys
from pathlib import Path

from tilewright import CompileOptions, compile_model, load, load_target
from tilewright.conformance.kernels import attempts, compare
from tilewright.passes.quantise.lower import lower
from tilewright.plugins import kernels_of, platform

folder = Path(sys.argv[1])
lowered = lower(load(folder / "model.onnx"))
tiled = compile_model(folder / "model.onnx", CompileOptions(), load_target("qemu_pulp")).report
generic = platform("generic")
kernels = [kernel for kernel in kernels_of(generic) if kernel.op == "TurnAbout"]
relayouts = [kernel for kernel in kernels_of(generic) if kernel.op == "Relayout"]
drawn = compare(attempts(kernels, generic, relayouts, 0, 3), folder / "drawn")
answers = {
    "nodes": [node.op for node in lowered.nodes],
    "kernels": {layer.op: layer.kernel for layer in tiled.layers},
    "tiles": {layer.op: layer.tiles for layer in tiled.layers},
    "copied": {layer.op: dict(layer.copied_bytes) for layer in tiled.layers},
    "compared": sorted({name for name, op in drawn.compared if op == "TurnAbout"}),
    "differences": drawn.differences,
}
print(json.dumps(answers))
"""


def installed(folder: Path, code: str) -> dict[str, str]:
    """An environment in which a distribution publishes the operators of a module."""
    (folder / "acme_operators.py").write_text(code)
    info = folder / "acme_operators-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-operators\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tilewright.operators]\nacme = acme_operators:OPERATORS\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}


def quantised(path: Path) -> None:
    """A convolution, the operator behind it and one that reads it, of which only input and result are quantised."""
    weights = np.random.default_rng(0).integers(-100, 100, (8, 8, 3, 3)).astype(np.int8)
    values = {"s": np.float32(0.02), "z": np.int8(3), "ws": np.float32(0.01), "wz": np.int8(0), "r": np.float32(0.2)}
    initialisers = [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xr"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wr"]),
        helper.make_node("Conv", ["xr", "wr"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("TurnAbout", ["c"], ["t"], domain="com.acme"),
        helper.make_node("DepthToSpace", ["t"], ["u"], blocksize=2),
        helper.make_node("QuantizeLinear", ["u", "r", "z"], ["yq"]),
        helper.make_node("DequantizeLinear", ["yq", "r", "z"], ["y"]),
    ]
    sizes = {"x": (1, 8, 96, 96), "y": (1, 2, 192, 192)}
    shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in sizes.items()]
    initialisers.append(numpy_helper.from_array(weights, "w"))
    graph = helper.make_graph(nodes, "acme", shapes[:1], shapes[1:], initialisers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def asked(*command: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("outside")
    environment = installed(folder, OPERATOR)
    quantised(folder / "model.onnx")
    (folder / "questions.py").write_text(QUESTIONS)
    ended = asked(str(folder / "questions.py"), str(folder), environment=environment)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_it_moves_codes_and_nothing_float_is_left_around_it(answers: dict[str, Any]) -> None:
    assert answers["nodes"] == ["QuantizeLinear", "Conv", "TurnAbout", "DepthToSpace", "DequantizeLinear"]


def test_it_is_cut_into_tiles_by_its_index_map_and_fused_with_what_reads_it(answers: dict[str, Any]) -> None:
    assert answers["kernels"]["TurnAbout"] == "TiledMoveCodes"
    assert answers["tiles"]["DepthToSpace"] > 1
    assert not answers["copied"]["TurnAbout"], "its result stays in L1, the last layer of the chain copies"


def test_conformance_draws_it(answers: dict[str, Any]) -> None:
    assert answers["compared"] == ["CopyRuns", "MoveCodes", "NestLoops", "StridedLoops"]
    assert not answers["differences"]


def test_it_runs_on_the_host_and_stands_in_the_mirror(tmp_path: Path) -> None:
    environment = installed(tmp_path, OPERATOR)
    quantised(tmp_path / "model.onnx")
    model, folder = str(tmp_path / "model.onnx"), str(tmp_path / "out")
    ended = asked("-m", "tilewright", "run", model, "-t", "host", "-o", folder, environment=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    mirror = tmp_path / "mirror.py"
    ended = asked("-m", "tilewright", "export-torch", model, "-o", str(mirror), environment=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "torch.flip(" in mirror.read_text()


def test_without_a_word_on_pytorch_the_mirror_refuses_it(tmp_path: Path) -> None:
    environment = installed(tmp_path, MIRRORLESS)
    quantised(tmp_path / "model.onnx")
    mirror = str(tmp_path / "mirror.py")
    ended = asked("-m", "tilewright", "export-torch", str(tmp_path / "model.onnx"), "-o", mirror,
                  environment=environment)  # fmt: skip
    assert ended.returncode == 3
    assert "this operator has no line in PyTorch" in ended.stderr


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("OPERATORS = [1]", "'acme_operators:OPERATORS' is no tuple of operators"),
        ("raise OSError('no disk')", "OSError: no disk"),
        (
            "from tilewright.ops.conv import OPERATORS",
            "operator 'Conv' is declared twice: in ops/conv.py and in acme-operators 1.0",
        ),
    ],
)
def test_what_is_no_operator_is_told(tmp_path: Path, code: str, why: str) -> None:
    environment = installed(tmp_path, code)
    quantised(tmp_path / "model.onnx")
    ended = asked("-m", "tilewright", "check", str(tmp_path / "model.onnx"), "-t", "host", environment=environment)
    assert ended.returncode == 3, ended.stderr
    assert why in " ".join(ended.stderr.split())
    assert ended.stderr.count("mend the plug-in") <= 1, "one advice, once"
