"""`tilewright convert` and the other commands on TensorFlow Lite files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import ROOT
from tflite_files import T, single, streaming
from tilewright.cli import main


def product() -> bytes:
    """Codes times codes, limited."""
    rows = np.random.default_rng(2).integers(-99, 99, (4, 16)).astype(np.int8)
    tensors = [T((1, 16), "int8", 0.5, 3), T(rows.shape, "int8", 0.01, data=rows)]
    return single("FULLY_CONNECTED", tensors, [T((1, 4), "int8", 0.25, -7)], [(0, "b", 1)])


def test_a_file_is_converted_and_runs_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "net.tflite", tmp_path / "net.onnx"
    file.write_bytes(product())
    assert main(["convert", str(file), "-o", str(out), "--json", str(tmp_path / "answer.json")]) == 0
    assert capsys.readouterr().out.endswith(f"nodes, 0 states\nwritten to {out}\n")
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (answer["schema"], answer["inputs"], answer["outputs"]) == ("tilewright/convert/1", ["t0"], ["t2"])
    model = onnx.load(out)
    onnx.checker.check_model(model)
    assert model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.INT8
    assert main(["run", str(file), "-t", "host", "-q"]) == 0
    assert "0 differences" in capsys.readouterr().out


def test_the_network_of_the_page_is_the_one_that_its_builder_writes() -> None:
    assert (ROOT / "tests" / "models" / "tflite" / "streaming.tflite").read_bytes() == streaming()


def test_what_cannot_be_converted_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(b"x")
    assert main(["convert", str(file), "-o", str(tmp_path / "out.onnx")]) == 2
    assert "is an ONNX file already: there is nothing to convert; pass a .tflite file" in capsys.readouterr().err
    assert main(["convert", str(file), "-o", str(tmp_path / "out.txt")]) == 2
    assert "the name of an ONNX file ends in .onnx" in capsys.readouterr().err
