"""Everything with index maps runs over tiles; a chain from the command line moves half the bytes; tiles in reports."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tilewright.cli import main
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target, missing_tools

MODELS = Path(__file__).parents[1] / "models"
ODD = (
    "digits_int8", "odd_mobile_int8", "odd_temporal_int8", "odd_unet_int8", "odd_several", "odd_transformer",
    "odd_lstm",
)  # fmt: skip
NEVER_CUT = {"LSTM"}


def perceptron(path: Path, rows: int, inner: int, columns: int) -> Path:
    """A quantised matrix product and a Gelu on it, between QuantizeLinear and DequantizeLinear."""
    weights = np.random.default_rng(1).integers(-127, 128, (inner, columns)).astype(np.int8)
    held = [numpy_helper.from_array(weights, "w")]
    for name, scale, zero in (("x", 0.03, 3), ("w", 0.01, 0), ("t", 0.06, -5), ("y", 0.05, -100)):
        held += [
            numpy_helper.from_array(np.array(scale, np.float32), f"{name}_s"),
            numpy_helper.from_array(np.array(zero, np.int8), f"{name}_z"),
        ]

    def step(kind: str, source: str, name: str, result: str) -> onnx.NodeProto:
        return helper.make_node(f"{kind}Linear", [source, f"{name}_s", f"{name}_z"], [result])

    nodes = [
        step("Quantize", "x", "x", "xq"), step("Dequantize", "xq", "x", "xd"), step("Dequantize", "w", "w", "wd"),
        helper.make_node("MatMul", ["xd", "wd"], ["m"]), step("Quantize", "m", "t", "tq"),
        step("Dequantize", "tq", "t", "td"), helper.make_node("Gelu", ["td"], ["g"]),
        step("Quantize", "g", "y", "yq"), step("Dequantize", "yq", "y", "y"),
    ]  # fmt: skip
    shown = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, rows, c]) for n, c in (("x", inner), ("y", columns))
    ]
    graph = helper.make_graph(nodes, "perceptron", shown[:1], shown[1:], held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(path))
    return path


def simulated() -> None:
    for tool, _ in missing_tools(load_target("qemu_pulp")):
        pytest.skip(f"{tool} is not installed")


def moved(folder: Path) -> int:
    report = json.loads((folder / "report.json").read_text())
    return sum(size for layer in report["layers"] for size in layer["copied_bytes"].values())


def test_a_chain_moves_half_the_bytes_of_its_layers_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(perceptron(tmp_path / "perceptron.onnx", 197, 192, 768))
    words = ["compile", model, "-t", "qemu_pulp", "--quantized-io"]
    assert main([*words, "--set", "l1=128K", "-o", str(tmp_path / "fused")]) == 0
    apart = ["--set", "l1=512K", "--without-pass", "tile_fusion", "--without-pass", "pinning"]
    assert main([*words, *apart, "-o", str(tmp_path / "apart")]) == 0
    assert (moved(tmp_path / "fused"), moved(tmp_path / "apart")) == (342_976, 645_568)
    capsys.readouterr()
    assert main(["report", str(tmp_path / "fused")]) == 0
    assert capsys.readouterr().out.endswith(
        "tiles move 342,976 bytes (l2>l1 191,680, l1>l2 151,296); every layer alone, every byte once: 645,568\n"
    )


def test_the_chain_runs_and_its_tiles_are_told(tmp_path: Path) -> None:
    simulated()
    model, told = perceptron(tmp_path / "perceptron.onnx", 37, 40, 96), tmp_path / "report.json"
    words = ["run", str(model), "-t", "qemu_pulp", "--set", "l1=4K", "--quantized-io", "--profile", "--json", str(told)]
    assert main([*words, "-q"]) == 0
    layer = json.loads(told.read_text())["layers"][-1]
    assert len(layer["profile"]) == layer["tiles"] > 1
    sums = {part: sum(tile["modelled"][part] for tile in layer["profile"]) for part in ("kernel", "wait")}
    assert abs(sums["kernel"] + sums["wait"] - layer["modelled_cycles"]) <= layer["tiles"]
    ways = {way: sum(tile["copied_bytes"].get(way, 0) for tile in layer["profile"]) for way in layer["copied_bytes"]}
    assert ways == layer["copied_bytes"]
    assert {tile["measured"] for tile in layer["profile"]} == {None}


@pytest.mark.parametrize("name", ODD)
def test_networks_of_all_kinds_run_in_four_kilobytes(name: str, tmp_path: Path) -> None:
    simulated()
    told = tmp_path / "report.json"
    model = str(MODELS / name / "model.onnx")
    assert main(["run", model, "-t", "qemu_pulp", "--set", "l1=4K", "--json", str(told), "-q"]) == 0
    report = json.loads(told.read_text())
    assert report["run"]["match"] is True
    assert {"hardware", "plugin"} >= set(report["run"]["fences"]) >= {"hardware"}
    assert report["memory"]["l1"]["worst_case"] <= 4096


@pytest.mark.parametrize("name", ODD)
def test_hardly_a_layer_runs_outside_of_l1(name: str) -> None:
    done = compile_model(MODELS / name / "model.onnx", CompileOptions(), load_target("qemu_pulp"))
    whole = {
        i.op_name for i in done.plan.instructions if i.schedule is None and not i.fused_into and i.aliasing is None
    }
    assert whole <= NEVER_CUT | {"Softmax", "ReduceMean", "Add", "Gather"}
