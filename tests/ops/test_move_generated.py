"""Moving operators as generated C: many random calls side by side in one network, run on this machine."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from ops.building import Build, evaluated, nests, operands
from ops.moving import REAL, WHOLE
from ops.runtime import ELEMENT
from tilewright.cli import main
from tilewright.model import Array, Tensor
from tilewright.ops.operator import Call


def renamed(made: Call, prefix: str) -> Call:
    """The call under tensor names of its own."""

    def one(tensor: Tensor | None) -> Tensor | None:
        return None if tensor is None else replace(tensor, name=f"{prefix}_{tensor.name}")

    inputs = tuple(map(one, made.inputs))
    outputs = tuple(replace(tensor, name=f"{prefix}_{tensor.name}") for tensor in made.outputs)
    names = tuple(tensor.name if tensor else "" for tensor in inputs)
    node = replace(made.node, name=prefix, inputs=names, outputs=tuple(tensor.name for tensor in outputs))
    return replace(made, node=node, inputs=inputs, outputs=outputs)


def draw(families: Mapping[str, Build], seed: int) -> list[Call]:
    """One call of each family that has index maps, an operand of the run time and a result."""
    found = []
    for family, build in families.items():
        made = build(random.Random(f"{family} {seed}"))
        fed = any(tensor and index not in made.constants for index, tensor in enumerate(made.inputs))
        if fed and made.opset <= 24 and nests(made):
            found.append(renamed(made, family))
    return found


def network(calls: list[Call]) -> onnx.ModelProto:
    inputs, constants = [], []
    for made in calls:
        for index, tensor in enumerate(made.inputs):
            if tensor is not None and index in made.constants:
                constants.append(numpy_helper.from_array(made.constants[index], tensor.name))
            elif tensor is not None:
                inputs.append(helper.make_tensor_value_info(tensor.name, ELEMENT[tensor.dtype], tensor.shape))
    outputs = [helper.make_tensor_value_info(t.name, ELEMENT[t.dtype], t.shape) for made in calls for t in made.outputs]
    nodes = []
    for made in calls:
        attributes: dict[str, Any] = dict(made.node.attributes)
        nodes.append(helper.make_node(made.node.op, made.node.inputs, made.node.outputs, **attributes))
    graph = helper.make_graph(nodes, "moves", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)


@pytest.mark.parametrize("seed", range(3))
def test_generated_c_computes_what_the_operators_mean(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    calls = draw({**WHOLE, **REAL}, seed)
    assert len(calls) > 25
    feeds: dict[str, Array] = {}
    expected: dict[str, Array] = {}
    for made in calls:
        arrays = operands(made, seed, 0 if made.node.op == "Cast" else -8)
        fed = (tensor for index, tensor in enumerate(made.inputs) if tensor and index not in made.constants)
        values = {t.name: a for t, a in zip(made.inputs, arrays, strict=True) if t is not None and a is not None}
        feeds |= {tensor.name: values[tensor.name] for tensor in fed}
        results = evaluated(made, arrays).values()
        expected |= {tensor.name: value for tensor, value in zip(made.outputs, results, strict=True)}
    onnx.save(network(calls), tmp_path / "moves.onnx")
    np.savez(tmp_path / "in.npz", **feeds)  # type: ignore[arg-type]
    np.savez(tmp_path / "out.npz", **expected)  # type: ignore[arg-type]
    files = ["--inputs", str(tmp_path / "in.npz"), "--expect", str(tmp_path / "out.npz")]
    code = main(["run", str(tmp_path / "moves.onnx"), "-t", "host", *files])
    assert code == 0, capsys.readouterr()
