"""The platform is installed, its kernels do what they declare, and a network runs on its target."""

import json
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tilewright.cli import main

BOARD = Path(__file__).parents[1] / "board"


def test_every_kernel_does_what_it_declares() -> None:
    """Drawn calls in fenced C against the operators' meaning."""
    assert main(["conform", "${name}"]) == 0


def test_a_network_runs_with_our_kernel(tmp_path: Path) -> None:
    """The network is compiled, built, run on the target and compared."""
    ports = [helper.make_tensor_value_info(port, TensorProto.FLOAT, [1, 3, 5, 7]) for port in "xy"]
    graph = helper.make_graph([helper.make_node("HardSwish", ["x"], ["y"])], "swish", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "swish.onnx")
    report = tmp_path / "report.json"
    assert main(["run", str(tmp_path / "swish.onnx"), "-t", str(BOARD), "--json", str(report)]) == 0
    answer = json.loads(report.read_text())
    assert answer["platform"] == "${name}"
    assert [layer["kernel"] for layer in answer["layers"]] == ["HardSwish"]
