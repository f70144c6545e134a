"""Networks in codes: the written graph and ours give the same bits; what may not be taken for it is left as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from in_c import Trial, hold
from onnx import TensorProto, helper, numpy_helper
from tilewright.cli import main
from tilewright.conformance.subject import load_and_pass
from tilewright.errors import UnsupportedError, UsageError
from tilewright.platforms.generic.kernels import row_codes as kernels
from tilewright.quantiser.codes import Scheme, coded
from tilewright.quantiser.rewrite import rewritten
from tilewright.report.build import Report

FORMS = [("int8", 40, 28), ("int4:32", 44, 24), ("int4:16", 39, 27)]
OURS = {"RowCodes", "CodeProduct", "CodeRows"}


def _floats(width: int, outputs: int, opset: int = 21) -> onnx.ModelProto:
    """A table whose rows are taken, twice multiplied by: as it is and as a classifier."""
    draw = np.random.default_rng(width)
    table = draw.normal(0, 1, (outputs, width)) * draw.uniform(0.01, 3, (outputs, 1))
    other = draw.normal(0, 0.3, (width, width)) * draw.uniform(0.1, 2, (width, 1))
    weights = {"table": table.astype(np.float32), "square": other.astype(np.float32)}
    nodes = [
        helper.make_node("Gather", ["table", "token"], ["x"], "take"),
        helper.make_node("Add", ["x", "given"], ["a"], "plus"),
        helper.make_node("MatMul", ["a", "square"], ["b"], "first"),
        helper.make_node("Transpose", ["table"], ["turned"], "turn", perm=[1, 0]),
        helper.make_node("MatMul", ["b", "turned"], ["y"], "second"),
    ]
    inputs = [
        helper.make_tensor_value_info("token", TensorProto.INT64, [3]),
        helper.make_tensor_value_info("given", TensorProto.FLOAT, [3, width]),
    ]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, outputs])]
    constants = [numpy_helper.from_array(values, name) for name, values in weights.items()]
    graph = helper.make_graph(nodes, "g", inputs, outs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def _feeds(width: int) -> dict[str, Any]:
    rows = np.random.default_rng(1).normal(0, 1, (3, width)) * np.array([[1], [1e-3], [1e4]])
    return {"token": np.array([2, 0, 5]), "given": rows.astype(np.float32)}


@pytest.mark.parametrize(("form", "width", "outputs"), FORMS)
def test_the_written_graph_and_ours_give_the_same_bits(tmp_path: Path, form: str, width: int, outputs: int) -> None:
    scheme = Scheme.parse(form)
    assert scheme is not None
    model = rewritten(_floats(width, outputs), scheme)
    found = load_and_pass(model, "m")
    assert [node.op for node in found.nodes if node.op in OURS] == [
        "CodeRows", "RowCodes", "CodeProduct", "RowCodes", "CodeProduct"
    ]  # fmt: skip
    assert not {"MatMulInteger", "DequantizeLinear", "MatMul"}.intersection(node.op for node in found.nodes)
    hold([Trial(model, _feeds(width))], tmp_path, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("board", "kernel", "form", "width", "outputs"),
    [
        pytest.param("qemu_pulp", "TiledCodeProduct", "int8", 40, 28, marks=pytest.mark.sim("qemu_pulp")),
        pytest.param("qemu_pulp", "TiledCodeProduct", "int4:32", 44, 24, marks=pytest.mark.sim("qemu_pulp")),
        pytest.param("qemu_mps3_an547", "CodeProductMve", "int4:32", 44, 24, marks=pytest.mark.sim("qemu_mps3_an547")),
        pytest.param("qemu_mps2_an386", "CodeProductDsp", "int4:32", 44, 24, marks=pytest.mark.sim("qemu_mps2_an386")),
    ],
)
def test_boards_give_the_same_bits(
    tmp_path: Path, board: str, kernel: str, form: str, width: int, outputs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(_floats(width, outputs), tmp_path / "rows.onnx")
    np.savez(tmp_path / "feeds.npz", **_feeds(width))
    words = ["run", str(tmp_path / "rows.onnx"), "-t", board, "--weights", form]
    words += ["--inputs", str(tmp_path / "feeds.npz")]
    assert main([*words, "--json", str(tmp_path / "told.json"), "-q"]) == 0
    capsys.readouterr()
    report = Report.from_json(json.loads((tmp_path / "told.json").read_text()))
    assert report.run is not None
    assert report.run.match
    kernels_of = {layer.op: layer.kernel for layer in report.layers}
    assert kernels_of["CodeProduct"] == kernel
    assert board != "qemu_pulp" or kernels_of["RowCodes"] == "TiledRowCodes"


def test_rows_of_zeros_and_of_anything(tmp_path: Path) -> None:
    scheme = Scheme(8)
    model = rewritten(_floats(40, 28), scheme)
    feeds = _feeds(40)
    taken = onnx.numpy_helper.to_array(_floats(40, 28).graph.initializer[0])
    near = coded(taken, scheme).real(0)[[2, 0, 5]]
    feeds["given"][0] = -near[0]
    feeds["given"][1, 3] = 3e38
    hold([Trial(model, feeds)], tmp_path, rtol=0, atol=0)


@pytest.mark.parametrize(("form", "width", "outputs"), FORMS)
def test_codes_are_near_the_weights(form: str, width: int, outputs: int) -> None:
    scheme = Scheme.parse(form)
    assert scheme is not None
    weights = np.random.default_rng(3).normal(0, 1, (outputs, width)).astype(np.float32)
    weights[0] = 0
    found = coded(weights, scheme)
    width_of_block = scheme.block or width
    error = np.abs(found.real(scheme.block) - weights)
    for begin in range(0, width, width_of_block):
        part = slice(begin, begin + width_of_block)
        most = np.abs(weights[:, part]).max(1)
        allowed = (most + float(found.step)) / (7.4 if scheme.bits == 4 else 127) * (1.01 if scheme.bits == 4 else 0.51)
        assert (error[:, part].max(1) <= allowed + 1e-7).all()


def test_a_wrong_place_of_a_weight_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = rewritten(_floats(44, 24), Scheme(4, 32))
    monkeypatch.setattr(kernels.ProductContext, "place", lambda self, within: (within // 2, within % 2 * 4))
    with pytest.raises(AssertionError, match="C, network 0"):
        hold([Trial(model, _feeds(44))], tmp_path, rtol=0, atol=0)


def test_what_is_not_exact_stays_as_it_is() -> None:
    model = rewritten(_floats(44, 24), Scheme(4, 32))
    for constant in model.graph.initializer:
        if constant.name.endswith("_factors"):
            constant.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(constant) + np.float32(0.5), constant.name))
    assert not [node.op for node in load_and_pass(model, "m").nodes if node.op == "CodeProduct"]
    model = rewritten(_floats(40, 28), Scheme(8))
    for constant in model.graph.initializer:
        if constant.name.endswith("_highest"):
            constant.CopyFrom(numpy_helper.from_array(np.array(100, np.float32), constant.name))
    assert not [node.op for node in load_and_pass(model, "m").nodes if node.op in ("RowCodes", "CodeProduct")]


def test_activations_may_stay_floats(tmp_path: Path) -> None:
    model = rewritten(_floats(44, 24), Scheme(4, 32), rows=False)
    assert not [node.op_type for node in model.graph.node if node.op_type in ("Round", "MatMulInteger")]
    hold([Trial(model, _feeds(44))], tmp_path, rtol=1e-4)


def test_what_cannot_be_coded_is_refused() -> None:
    for words in ("int4:12", "int4:4", "int8:1000"):
        with pytest.raises(UsageError, match="8 to 256 weights"):
            Scheme.parse(words)
    assert Scheme.parse("bin") is None
    with pytest.raises(UnsupportedError, match="needs opset 21"):
        rewritten(_floats(40, 28, opset=17), Scheme(8))
    with pytest.raises(UnsupportedError, match="no product with constant weights"):
        rewritten(_floats(8, 8), Scheme(8))
