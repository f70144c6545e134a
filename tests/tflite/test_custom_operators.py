"""A custom operator of another distribution: one published operator, found under its name in a domain of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tflite_files import G, Op, T, written

PLUGIN = """
import numpy as np
from tilewright.ops.codes import Moves
from tilewright.ops.moves import moved
from tilewright.ops.operator import Operator, TensorType


def infer(call):
    return (TensorType(call.tensor(0).dtype, call.shape()),)


def evaluate(call, arrays):
    assert call.node.attributes["custom_options"].tobytes() == b"flex"
    return (arrays[0][..., ::-1].copy(),)


def nests(call):
    last = call.shape()[-1] - 1
    return moved(call, call.shape(), lambda loops: [*loops[:-1], loops[-1] * -1 + last])


OPERATORS = (
    Operator("TurnAbout", infer, evaluate, ("x",), nests=nests, domain="tflite.custom", codes=Moves(whole=True)),
)
"""


def test_a_published_operator_computes_a_custom_one(tmp_path: Path) -> None:
    (tmp_path / "acme_custom.py").write_text(PLUGIN)
    info = tmp_path / "acme_custom-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-custom\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tilewright.operators]\nacme = acme_custom:OPERATORS\n")
    code = T((1, 2, 6), "int8", 0.5, 3)
    ops = [Op("CUSTOM", [0], [1], custom="TurnAbout", custom_options=b"flex"), Op("TANH", [1], [2])]
    file = tmp_path / "net.tflite"
    file.write_bytes(written(G([code, code, T((1, 2, 6), "int8", 1 / 128)], ops, [0], [2])))
    command = [sys.executable, "-m", "tilewright", "run", str(file), "-t", "host", "--integer-only"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "outputs match (12 elements)" in ended.stdout
