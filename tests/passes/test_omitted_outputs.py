"""Recurrent nodes that leave out any of their outputs, before everything that a pass may want to fold into them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from in_c import Trial, hold
from tilewright.errors import UnsupportedError
from tilewright.frontend.load import load
from tilewright.passes.edit import Edit
from tilewright.passes.quantise.report import require_integers

STEPS, BATCH, INPUTS, HIDDEN = 3, 2, 4, 5
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
OUTPUTS = {"LSTM": 3, "GRU": 2, "RNN": 2}


def followed(op: str, present: tuple[bool, ...]) -> onnx.ModelProto:
    """One cell; each output that it has is an output of the network, and is read by one node of every kind."""
    random = np.random.default_rng(len(present) + sum(present))
    rows = GATES[op] * HIDDEN
    names = [f"{op}_{place}" if there else "" for place, there in enumerate(present)]
    nodes = [onnx.helper.make_node(op, ["x", "w", "r"], names, op, hidden_size=HIDDEN)]
    outputs = []
    for name in filter(None, names):
        readers = {
            "Add": "a", "Mul": "a", "Sub": "a", "Div": "a", "Relu": "", "Clip": "low high", "Transpose": "",
        }  # fmt: skip
        for reader, operands in readers.items():
            nodes.append(node(reader, f"{name} {operands}", f"{name}_{reader}"))
            outputs.append(f"{name}_{reader}")
        nodes.append(node("Sub", f"a {name}", f"{name}_from"))
        nodes.append(node("Cast", name, f"{name}_cast", to=onnx.TensorProto.DOUBLE))
        nodes.append(node("Mul", f"{name} channel", f"{name}_channel"))
        outputs += [f"{name}_from", f"{name}_cast", f"{name}_channel", name]
    constants = {
        "w": random.standard_normal((1, rows, INPUTS)).astype(np.float32),
        "r": random.standard_normal((1, rows, HIDDEN)).astype(np.float32),
        "a": np.float32(1.5), "low": np.float32(-0.25), "high": np.float32(0.5),
        "channel": random.standard_normal(HIDDEN).astype(np.float32),
    }  # fmt: skip
    types = {name: onnx.TensorProto.DOUBLE for name in outputs if name.endswith("_cast")}
    return onnx_model(nodes, {"x": [STEPS, BATCH, INPUTS]}, outputs, constants, types=types)


def sole(op: str, present: tuple[bool, ...], reader: str) -> onnx.ModelProto:
    """One cell of which one reader alone takes the last output, and nothing else is an output of the network."""
    whole = followed(op, present)
    name = [output for output in whole.graph.node[0].output if output][-1]
    reads = [each for each in whole.graph.node if each.op_type == reader and name in each.input][:1]
    del whole.graph.node[1:]
    whole.graph.node.extend(reads)
    outputs = [value for value in whole.graph.output if value.name == reads[0].output[0]]
    del whole.graph.output[:]
    whole.graph.output.extend(outputs)
    return whole


@pytest.mark.parametrize("op", GATES)
def test_every_subset_of_outputs_before_every_kind_of_reader(op: str, tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((STEPS, BATCH, INPUTS)).astype(np.float32)
    subsets = [present for present in product((True, False), repeat=OUTPUTS[op]) if any(present)]
    networks = [followed(op, present) for present in subsets]
    networks += [
        sole(op, present, reader) for present in subsets for reader in ("Add", "Mul", "Sub", "Div", "Relu", "Clip")
    ]
    hold([Trial(proto, {"x": x}) for proto in networks], tmp_path)


def test_an_omitted_tensor_has_neither_writer_nor_readers() -> None:
    edit = Edit(load(followed("LSTM", (False, True, False))))
    assert edit.writer("") is None
    assert edit.readers("") == []
    cell = next(each for each in edit.nodes() if each.op == "LSTM")
    edit.replace(cell, cell)
    assert edit.writer("") is None


def test_integer_only_names_the_first_output_that_is_there() -> None:
    with pytest.raises(UnsupportedError) as caught:
        require_integers(load(followed("GRU", (False, True))))
    assert caught.value.where.tensor == "GRU_1"
    assert caught.value.where.node == "GRU"
