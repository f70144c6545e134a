"""`report --onnx`: the user's own file, valid as before, with what became of each of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import NetworkFiles
from tilewright.cli import main
from tilewright.report.build import load

Network = Callable[[str], NetworkFiles]


def properties(node: onnx.NodeProto) -> dict[str, str]:
    return {entry.key.removeprefix("tilewright."): entry.value for entry in node.metadata_props}


def annotated(model: Path, folder: Path, *options: str, verb: str = "compile") -> onnx.ModelProto:
    out, file = folder / "out", folder / "annotated.onnx"
    assert main([verb, str(model), "-t", "host", "-o", str(out), "-q", *options]) == 0
    assert main(["report", str(out), "--model", str(model), "--onnx", str(file)]) == 0
    found = onnx.load(file)
    onnx.checker.check_model(found, full_check=True)
    return found


@pytest.mark.parametrize("name", ["digits", "digits_int8", "odd_transformer", "odd_unet_int8", "odd_lstm"])
def test_every_layer_that_computes_something_of_the_model_is_found(name: str, network: Network, tmp_path: Path) -> None:
    files = network(name)
    model = annotated(files.model, tmp_path)
    layers = {layer.name for layer in load(tmp_path / "out").layers if layer.op != "Relayout"}
    shown = [properties(node) for node in model.graph.node]
    assert {name for entry in shown if entry for name in (entry["layer"], *entry.get("parts", "").split())} >= layers
    assert sum(bool(entry) for entry in shown) >= 0.7 * len(shown)
    inputs, _ = files.arrays()
    plain, marked = (
        onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(None, inputs)
        for file in (str(files.model), str(tmp_path / "annotated.onnx"))
    )
    for one, other in zip(plain, marked, strict=True):
        np.testing.assert_array_equal(one, other)


def test_figures_stand_at_the_node(network: Network, tmp_path: Path) -> None:
    model = annotated(network("digits").model, tmp_path, "--layers", verb="run")
    report = load(tmp_path / "out")
    softmax = next(node for node in model.graph.node if node.op_type == "Softmax")
    layer, found = report.layers[-1], properties(softmax)
    assert found["kernel"] == layer.kernel
    assert found["result_bytes"] == "40"
    assert found["address"] == f"ram+{layer.results[0].offset}"
    assert float(found["max_abs_error"]) == layer.max_abs_error
    assert softmax.doc_string.startswith(f"tilewright: {layer.name} by {layer.kernel}")
    relu = next(node for node in model.graph.node if node.op_type == "Relu")
    before = next(node for node in model.graph.node if node.output[0] == relu.input[0])
    assert properties(relu)["layer"] == properties(before)["layer"]  # fused
    assert "inside of the layer" in before.doc_string
    whole = {entry.key: entry.value for entry in model.metadata_props}
    assert (whole["tilewright.target"], whole["tilewright.platform"]) == ("host", "generic")
    assert int(whole["tilewright.ram_bytes"]) == report.memory["ram"].worst_case


def test_memory_of_the_caller_has_no_address(network: Network, tmp_path: Path) -> None:
    model = annotated(network("digits").model, tmp_path, "--io", "caller")
    assert properties(model.graph.node[-1])["address"] == "caller"


def test_refusals(network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digits, other = (str(network(name).model) for name in ("digits", "digits_int8"))
    out = str(tmp_path / "out")
    assert main(["compile", digits, "-t", "host", "-o", out, "-q"]) == 0
    assert main(["report", out, "--onnx", str(tmp_path / "a.onnx")]) == 2
    assert "pass both of them" in capsys.readouterr().err
    assert main(["report", out, "--onnx", str(tmp_path / "a.onnx"), "--model", other]) == 2
    assert "is not the model of this report" in capsys.readouterr().err
    (tmp_path / "broken.onnx").write_bytes(b"\xff\xff")
    assert main(["report", out, "--onnx", str(tmp_path / "a.onnx"), "--model", str(tmp_path / "broken.onnx")]) == 3
    assert not (tmp_path / "a.onnx").exists()
