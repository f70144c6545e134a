"""Weights, scales and inputs at the ends of float32, and tensors larger than can be executed here."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model, reference
from on_host import run_on_host
from tilewright.cli import main
from tilewright.conformance.subject import load_and_pass, place
from tilewright.errors import UnsupportedError, UnsupportedNode
from tilewright.memory.placed import PlacedPlan
from tilewright.ops.requantize import float32_multipliers
from tilewright.plan.execute import MEMORY_LIMIT_BYTES, run
from tilewright.plugins import platform
from tilewright.run import inputs

LARGEST = float(np.finfo(np.float32).max)
INF = float("inf")


def filled(value: float, *shape: int) -> Any:
    return np.full(shape, value, np.float32)


def placed(model: onnx.ModelProto, name: str) -> PlacedPlan:
    return place(load_and_pass(model.SerializeToString(), name), platform("generic"))


SUMS: dict[str, tuple[onnx.NodeProto, tuple[int, ...], tuple[int, ...], int]] = {
    "Conv": (node("Conv", "x w", "y"), (1, 2, 5, 5), (2, 2, 3, 3), 18),
    "ConvTranspose": (node("ConvTranspose", "x w", "y", group=2), (1, 4, 5, 5), (4, 1, 3, 3), 18),
    "Gemm": (node("Gemm", "x w", "y"), (2, 5), (5, 3), 5),
    "Gemm_transposed": (node("Gemm", "x w", "y", transB=1), (2, 5), (3, 5), 5),
    "Gemm_left": (node("Gemm", "w x", "y"), (5, 3), (2, 5), 5),
    "Gemm_left_transposed": (node("Gemm", "w x", "y", transA=1), (5, 3), (5, 2), 5),
    "MatMul": (node("MatMul", "x w", "y"), (2, 5), (5, 3), 5),
    "MatMul_left": (node("MatMul", "w x", "y"), (5, 3), (2, 5), 5),
    "LSTM": (node("LSTM", "x w r", "- y", hidden_size=2), (3, 1, 5), (1, 8, 5), 5),
}


def sums(name: str, value: float) -> onnx.ModelProto:
    step, x, w, _ = SUMS[name]
    held = {"w": filled(value, *w), **({"r": filled(0.5, 1, 8, 2)} if name == "LSTM" else {})}
    return onnx_model([step], {"x": x}, ["y"], held)


@pytest.mark.parametrize("name", SUMS)
def test_weights_whose_sums_depend_on_their_order_are_refused(name: str) -> None:
    terms = SUMS[name][-1]
    with pytest.raises(UnsupportedNode) as caught:
        placed(sums(name, -LARGEST), "sums")
    why = f"whether a sum of {terms} products with weights up to 3.40282e+38 ('w') overflows f32 depends on the order"
    assert why in str(caught.value)
    with pytest.raises(UnsupportedNode, match=f"a sum of {terms} products"):
        placed(sums(name, LARGEST / terms * 1.01), "sums")
    placed(sums(name, LARGEST / terms * 0.99), "sums")
    placed(sums(name, INF), "sums")


def extreme() -> dict[str, onnx.ModelProto]:
    """Networks whose values overflow, become infinite or NaN in one way only."""
    shape, image = (4, 3), (1, 2, 4, 4)
    found = {
        f"{op.lower()}_{word}": onnx_model([node(op, "x w", "y")], {"x": shape}, ["y"], {"w": filled(value, 3)})
        for op in ("Add", "Sub", "Mul", "Div", "Max", "PRelu")
        for word, value in (("max", LARGEST), ("inf", INF), ("nan", float("nan")))
    }
    for word, value in (("inf", -INF), ("nan", float("nan"))):
        found[f"conv_{word}"] = onnx_model(
            [node("Conv", "x w", "y")], {"x": image}, ["y"], {"w": filled(value, 2, 2, 3, 3)}
        )
        found[f"gemm_{word}"] = onnx_model([node("Gemm", "x w", "y")], {"x": shape}, ["y"], {"w": filled(value, 3, 2)})
    one = {"w": filled(LARGEST, 1, 1, 1, 1)}
    found["conv_of_one_term"] = onnx_model([node("Conv", "x w", "y")], {"x": (1, 1, 4, 4)}, ["y"], one)
    norm = [node("BatchNormalization", "x s s s s", "y")]
    found["norm"] = onnx_model(norm, {"x": image}, ["y"], {"s": filled(LARGEST, 2)})
    steps = [node("Mul", "x w", "a"), node("LRN", "a", "y", size=3)]
    found["response"] = onnx_model(steps, {"x": image}, ["y"], {"w": filled(LARGEST, 1)})
    codes = {"s": np.float32(LARGEST), "z": np.int8(0)}
    steps = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"), node("Relu", "d", "r")]
    steps += [node("QuantizeLinear", "r s z", "p"), node("DequantizeLinear", "p s z", "y")]
    found["codes"] = onnx_model(steps, {"x": shape}, ["y"], codes)
    return found


def test_infinities_and_nan_are_what_onnx_runtime_gives_without_a_warning(tmp_path: Path) -> None:
    """Warnings are errors in these tests."""
    made = extreme()
    plans = [placed(model, name) for name, model in made.items()]
    draw = np.random.default_rng(1)
    drawn = [
        (draw.normal(0, 3, plan.plan.slots[plan.plan.input_slots[0]].tensor.shape)).astype(np.float32) for plan in plans
    ]
    results = run_on_host(plans, [[[x]] for x in drawn], tmp_path)
    for (name, model), plan, x, [(got,)] in zip(made.items(), plans, drawn, results, strict=True):
        theirs = reference(model, {"x": x})["y"]
        np.testing.assert_allclose(got, theirs, rtol=1e-5, err_msg=f"{name}: C")
        np.testing.assert_allclose(run(plan.plan, [x])[0], theirs, rtol=1e-5, err_msg=f"{name}: NumPy")


def test_run_says_nothing_of_numpy(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("codes", "conv_inf"):
        onnx.save(extreme()[name], tmp_path / f"{name}.onnx")
        assert main(["run", str(tmp_path / f"{name}.onnx"), "-t", "host", "-q"]) == 0
    assert capfd.readouterr().err == ""


def test_scales_beyond_float32_are_refused() -> None:
    assert float32_multipliers(0.5, (2.0,), 0.25) == (Fraction(4),)
    with pytest.raises(UnsupportedError) as caught:
        float32_multipliers(LARGEST, (1.0, 3.0), 0.5)
    why = "3.40282e+38 * 3 / 0.5 is beyond float32; check how the model was quantised"
    assert str(caught.value) == f"the scales of a quantised layer cannot be used together: {why}"


def test_run_refuses_what_it_has_no_memory_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elements = MEMORY_LIMIT_BYTES // 8
    model = onnx_model([node("Neg", "x", "y")], {"x": (elements + 1,)}, ["y"])
    onnx.save(model, tmp_path / "large.onnx")
    tracemalloc.start()
    code = main(["run", str(tmp_path / "large.onnx"), "-t", "host"])
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    text = capsys.readouterr().err
    assert code == 3
    assert "'large' cannot be executed in NumPy: its tensors take 1073741832 bytes, the limit is 1073741824" in text
    assert f"of shape [{elements + 1}]; use smaller input shapes; compiling has no such limit" in text
    assert peak_bytes < 1 << 27


def test_random_inputs_do_not_depend_on_how_many_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = placed(onnx_model([node("Neg", "x", "y")], {"x": (7, 11)}, ["y"]), "random").plan
    (whole,) = inputs.input_arrays(plan, None, 3)
    np.testing.assert_array_equal(whole, np.random.default_rng(3).standard_normal((7, 11)).astype(np.float32))
    monkeypatch.setattr(inputs, "DRAWN_AT_ONCE", 10)
    np.testing.assert_array_equal(inputs.input_arrays(plan, None, 3)[0], whole)
