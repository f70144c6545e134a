"""Unsigned codes become signed ones inside of a network, and nothing that it computes changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from onnx import TensorProto
from tilewright.compile import Compiled, compile_model
from tilewright.model import DType
from tilewright.options import CompileOptions
from tilewright.plan.execute import run, run_slots
from tilewright.plan.plan import ExecutionPlan
from tilewright.run.exact import ExactCodes
from tilewright.run.inputs import input_arrays
from tilewright.run.reference import Reference, compare_with_reference
from tilewright.target import load_target

SCALE = np.float32(0.0625)


def quantised(name: str, source: str, scale: str = "s", zero: str = "z") -> list[onnx.NodeProto]:
    """`name_q` holds the codes of `source`, `name` their real numbers."""
    operands = f"{scale} {zero}"
    return [
        node("QuantizeLinear", f"{source} {operands}", f"{name}_q", f"{name}_quantise"),
        node("DequantizeLinear", f"{name}_q {operands}", name, f"{name}_dequantise"),
    ]


def network(folder: Path, border: bool) -> Path:
    """Two pools, a Conv with unsigned weights, a Pad with a value, a table, a sum; codes at the `border` or floats."""
    random = np.random.default_rng(5)
    constants = {
        "s": SCALE, "z": np.uint8(99), "ws": np.float32(0.01), "wz": np.uint8(131), "one": np.float32(1),
        "w": random.integers(0, 256, (4, 3, 3, 3)).astype(np.uint8), "widths": np.array([0, 0, 1, 0, 0, 0, 0, 1]),
        "k": random.integers(0, 256, (1, 4, 1, 1)).astype(np.uint8),
    }  # fmt: skip
    nodes = [
        *([node("DequantizeLinear", "x s z", "a", "given")] if border else quantised("a", "x")),
        node("MaxPool", "a", "b", kernel_shape=[2, 2], pads=[1, 1, 0, 0]), *quantised("c", "b"),
        node("DequantizeLinear", "w ws wz", "weights"), node("DequantizeLinear", "k s z", "constant"),
        node("MaxPool", "c", "m", kernel_shape=[2, 2], pads=[0, 0, 1, 1]), *quantised("n", "m"),
        node("Conv", "n weights", "d", "conv", pads=[1, 1, 1, 1]), *quantised("e", "d"),
        node("Pad", "e widths one", "f"), *quantised("g", "f"),
        node("Sigmoid", "g", "h"), *quantised("i", "h"),
        node("Add", "i constant", "j", "add"), *quantised("l", "j"),
        node("ArgMax", "l", "best", axis=1),
    ]  # fmt: skip
    name, types = ("l_q" if border else "l"), {"best": TensorProto.INT64}
    if border:
        types |= {"x": TensorProto.UINT8, "l_q": TensorProto.UINT8}
    path = folder / "network.onnx"
    onnx.save(onnx_model(nodes, {"x": [1, 3, 6, 5]}, [name, "best"], constants, types=types), path)
    return path


def compiled(path: Path, *disabled: str) -> Compiled:
    """For the host."""
    return compile_model(path, CompileOptions(disabled_passes=frozenset(disabled)), load_target("host"))


def unsigned(plan: ExecutionPlan) -> list[str]:
    """Names of the tensors that hold unsigned codes."""
    tensors = [t for each in plan.instructions for call in (each.call, *each.call.chain) for t in call.outputs]
    inputs = [plan.slots[slot].tensor for slot in plan.input_slots]
    return sorted({tensor.name for tensor in (*inputs, *tensors) if tensor.dtype is DType.U8})


@pytest.mark.parametrize(
    ("border", "kept"),
    [(False, []), (True, ["b", "b_relayout", "l_q", "l_q_out", "m", "x", "x_relayout"])],
)
def test_codes_inside_are_signed_and_results_the_same(border: bool, kept: list[str], tmp_path: Path) -> None:
    path = network(tmp_path, border)
    plan, plain = compiled(path).plan, compiled(path, "signed_codes").plan
    assert len(unsigned(plain)) > len(unsigned(plan))
    assert set(unsigned(plan)) <= set(kept)
    inputs = input_arrays(plan, None, 3)
    ours, before = run(plan, inputs), run(plain, inputs)
    for left, right in zip(ours, before, strict=True):
        np.testing.assert_array_equal(left, right)
    found, missing = compare_with_reference(path, plan, inputs)
    assert found is not None, missing
    assert (found.mismatches, found.unlike) == (found.explained, ())


def test_exact_codes_of_an_unsigned_file_are_those_that_are_held(tmp_path: Path) -> None:
    path = network(tmp_path, False)
    plan = compiled(path).plan
    inputs = input_arrays(plan, None, 3)
    values = run_slots(plan, inputs)
    (slot,) = (slot for slot in plan.slots if slot.tensor.name == "e_q")
    right = ExactCodes(path, Reference(path, plan, inputs).values).of(slot.tensor, range(slot.tensor.elements))
    assert right == [(code, code) for code in values[slot.index].reshape(-1).tolist()]
