"""Recurrent layers of floats where there is no float unit: odd sizes, both directions, lengths and peepholes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.model import Array
from tilewright.plugins import kernels_of, platform

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
SIZES = [(1, 1), (1, 5), (3, 1), (7, 4), (13, 9), (33, 17)]
STEPS, BATCH = 5, 3


def _network(op: str, inputs: int, hidden: int, draw: np.random.Generator) -> onnx.ModelProto:
    """Both directions, biases, lengths and first states; half of them with peepholes or a reset behind the product."""
    rows, odd = GATES[op] * hidden, bool(hidden % 2)
    shapes = {"w": (2, rows, inputs), "r": (2, rows, hidden), "b": (2, 2 * rows)}
    names, attributes = ["x", "w", "r", "b", "lengths", "h"], dict[str, Any]()
    states = ["h", "c"] if op == "LSTM" else ["h"]
    if op == "LSTM":
        names.append("c")
        if odd:
            names, shapes = [*names, "p"], {**shapes, "p": (2, 3 * hidden)}
    if op == "GRU":
        attributes["linear_before_reset"] = int(odd)
    made = [
        numpy_helper.from_array(draw.normal(0, 0.6, shape).astype(np.float32), name) for name, shape in shapes.items()
    ]
    made.append(numpy_helper.from_array(np.array([5, 1, 3], np.int32), "lengths"))
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (STEPS, BATCH, inputs))]
    ports += [helper.make_tensor_value_info(name, TensorProto.FLOAT, (2, BATCH, hidden)) for name in states]
    results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, (STEPS, 2, BATCH, hidden))]
    results += [helper.make_tensor_value_info(f"y_{name}", TensorProto.FLOAT, (2, BATCH, hidden)) for name in states]
    node = helper.make_node(
        op, names, [one.name for one in results], op, hidden_size=hidden, direction="bidirectional", **attributes
    )
    graph = helper.make_graph([node], "g", ports, results, made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("op", list(GATES))
def test_drawn_layers_equal_their_meaning(op: str, tmp_path: Path) -> None:
    generic, draw = platform("generic"), np.random.default_rng(7)
    wanted = {("WholeRecurrent", op), ("Relayout", "Relayout")}
    named = [one for one in kernels_of(generic) if (one.name, one.op) in wanted]
    subjects, expected = [], list[list[Array]]()
    for inputs, hidden in SIZES:
        model = _network(op, inputs, hidden, draw)
        given = {
            port.name: draw.normal(0, 1, [d.dim_value for d in port.type.tensor_type.shape.dim]).astype(np.float32)
            for port in model.graph.input
        }
        placed = place(load_and_pass(model, f"{op}_{inputs}_{hidden}".lower()), generic, named)
        assert "WholeRecurrent" in [instruction.kernel.name for instruction in placed.plan.instructions]
        subjects.append(subject(placed, generic, [list(given.values())]))
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        expected.append(list(session.run(None, given)))
    outcomes = run_batch(subjects, tmp_path, flags=("-O2", *STRICT))
    for outcome, results, size in zip(outcomes, expected, SIZES, strict=True):
        assert outcome.failure == ""
        for found, right in zip(outcome.runs[0], results, strict=True):
            assert np.allclose(found.reshape(right.shape), right, rtol=1e-5, atol=2e-6), size


@pytest.mark.parametrize("name", ["Sigmoid", "Tanh"])
def test_functions_of_gates(name: str, tmp_path: Path) -> None:
    generic, draw = platform("generic"), np.random.default_rng(2)
    sizes = 2.0 ** np.linspace(-60, 8, 4000) * draw.uniform(0.7, 1.4, 4000)
    special = [0.0, 2**-3, 2**-13, 10.4, 16, np.inf, np.nan]
    x = np.concatenate([sizes, -sizes, special]).astype(np.float32)
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, len(x), 1))]
    made = [numpy_helper.from_array(np.full((1, 1, 1), v, np.float32), key) for key, v in (("w", 1), ("r", 0))]
    node = helper.make_node("RNN", ["x", "w", "r"], ["", "y"], "RNN", hidden_size=1, activations=[name])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, len(x), 1))
    graph = helper.make_graph([node], "g", ports, [result], made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    named = [one for one in kernels_of(generic) if (one.name, one.op) == ("WholeRecurrent", "RNN")]
    made_of = subject(place(load_and_pass(model, "g"), generic, named), generic, [[x.reshape(1, -1, 1)]])
    (outcome,) = run_batch([made_of], tmp_path, flags=("-O2", *STRICT))
    assert outcome.failure == ""
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        expected = np.tanh(wide) if name == "Tanh" else 1 / (1 + np.exp(-wide))
    found = outcome.runs[0][0].reshape(-1).astype(np.float64)
    assert np.isnan(found[-1])
    assert np.allclose(found[:-1], expected[:-1], rtol=3e-7, atol=1e-37)
