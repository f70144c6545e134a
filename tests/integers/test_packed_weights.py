"""Weights of four bits in every order of their operands, and nothing written beside their scratch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from integers.codes import feeds_for
from integers.qdq_writer import Writer
from integers.test_quantised_in_c import four_bits
from onnx import TensorProto, helper
from tilewright.conformance.fences import FLAGS, fenced
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.plan.execute import run
from tilewright.plugins import kernels_of, platform

PRODUCTS = ("Conv", "Gemm", "MatMul")
DRAW = np.random.default_rng(6)


def turned() -> onnx.ModelProto:
    """Rows times a matrix whose results lie one below the other."""
    write = Writer(21)
    real = write.pair("x", 0.02, -4)
    write.constants["w_s"] = np.asarray(0.04, np.float32)
    weights = write.add("DequantizeLinear", "w w_s w_z", "w_d")
    write.add("Identity", write.pair(write.add("Gemm", f"{real} {weights}", "m", transB=1)), "y")
    proto = write.model({"x": (5, 21)})
    codes = DRAW.integers(-8, 8, 13 * 21).tolist()
    for name, shape, values in (("w", (13, 21), codes), ("w_z", (), [0])):
        proto.graph.initializer.append(helper.make_tensor(name, TensorProto.INT4, shape, values))
    return proto


NETWORKS = {
    "turned": ("PackedDenseDot", turned()),
    "rows": ("PackedDenseDot", four_bits("rows", signed=False, channels=True)),
    "patches": ("PackedConvDot", four_bits("patches", signed=True, channels=True)),
    "groups": ("PackedConvDot", four_bits("groups", signed=False, channels=True)),
    "matmul": ("PackedCodes", four_bits("matmul", signed=True, channels=True)),
    "conv": ("PackedCodes", four_bits("conv", signed=True, channels=True)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_packed_weights_in_fences(name: str, tmp_path: Path) -> None:
    generic, (wanted, proto) = platform("generic"), NETWORKS[name]
    model = load_and_pass(proto, name)
    kernels = [k for k in kernels_of(generic) if k.name == wanted or k.op not in PRODUCTS]
    placed = place(model, generic, kernels)
    chosen = next(i.kernel for i in placed.plan.instructions if i.kernel.name == wanted)
    runs = [[feeds_for(model, seed)[key] for key in model.inputs] for seed in range(3)]
    made = fenced(placed, chosen, generic, subject(placed, generic, runs))
    (outcome,) = run_batch([made], tmp_path, flags=("-O1", *STRICT, *FLAGS))
    assert outcome.failure == ""
    for found, inputs in zip(outcome.runs, runs, strict=True):
        np.testing.assert_array_equal(found[0], run(placed.plan, inputs)[0])
