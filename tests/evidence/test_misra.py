"""No required rule of MISRA C:2012 is departed from in the C for microcontrollers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import tilewright
from conftest import NetworkFiles
from drawn_floats import float_layers
from graphs import node, onnx_model
from tilewright.codegen.terms import plus, times
from tilewright.compile import write
from tilewright.evidence.document import Evidence, Hashed, Identity
from tilewright.evidence.misra import misra
from tilewright.evidence.misra_deviations import deviation
from tilewright.evidence.misra_document import DeviationRecord, Misra
from tilewright.evidence.verdict import remarks
from tilewright.platforms.generic.kernels.functions_whole import OPERATORS as FUNCTIONS

IDENTITY = Identity(Hashed("", ""), Hashed("", ""), (), "", (), (), None, False)


def _checked(model: Path, board: str, folder: Path) -> Misra:
    target = tilewright.load_target(board)
    compiled = tilewright.compile_model(model, tilewright.CompileOptions(quantized_io=True), target)
    (folder / "project").mkdir()
    compiled = write(compiled, folder / "project")
    found = misra(folder / "project", [compiled.artifacts.parts.code], target, folder)
    if found.missing:
        pytest.skip(found.missing)
    return found


@pytest.mark.parametrize(
    ("name", "board"),
    [("digits", "qemu_mps2_an386"), ("odd_lstm", "qemu_mps2_an386"), ("odd_unet_int8", "qemu_rv32imc")]
    + [("digits_int8", board) for board in ("qemu_mps2_an386", "qemu_mps2_an385", "qemu_rv32imc", "qemu_pulp")]
    + [("odd_mobile_int8", "qemu_pulp"), ("odd_unet_int8", "qemu_pulp")],
)
def test_no_required_rule_is_departed_from(
    name: str, board: str, network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    found = _checked(network(name).model, board, tmp_path)
    assert found.unchecked == ()
    departures = {finding.rule: finding.places for finding in found.findings if finding.category != "advisory"}
    assert departures == {}
    assert (found.records, found.open) == ((), 0)


def test_functions_of_floats_in_whole_numbers_keep_the_required_rules(tmp_path: Path) -> None:
    operators = [op for op in FUNCTIONS if op != "Swish"]
    operators += ["Softmax", "LogSoftmax", "ReduceMean", "ReduceL1", "ReduceL2"]
    nodes = [node(op, "x", op.lower(), op.lower()) for op in operators]
    onnx.save(onnx_model(nodes, {"x": [9]}, [one.name for one in nodes], opset=22), tmp_path / "m.onnx")
    found = _checked(tmp_path / "m.onnx", "qemu_rv32imc", tmp_path)
    assert [(f.rule, f.places) for f in found.findings if f.category != "advisory"] == []


@pytest.mark.parametrize("board", ["qemu_mps2_an385", "qemu_pulp"])
def test_codes_of_a_measured_range_keep_the_required_rules(board: str, tmp_path: Path) -> None:
    types = {"q": onnx.TensorProto.UINT8, "z": onnx.TensorProto.UINT8}
    model = onnx_model([node("DynamicQuantizeLinear", "x", "q s z")], {"x": [9]}, ["q", "s", "z"], types=types)
    onnx.save(model, tmp_path / "m.onnx")
    found = _checked(tmp_path / "m.onnx", board, tmp_path)
    assert [(f.rule, f.places) for f in found.findings if f.category != "advisory"] == []


def test_sums_that_are_scattered_and_scaled_images_keep_the_required_rules(tmp_path: Path) -> None:
    """Codes are added where known indices point; an image is scaled by factors whose sums need 64 bits."""
    types = {"x": onnx.TensorProto.INT8, "u": onnx.TensorProto.INT8, "p": onnx.TensorProto.INT8}
    nodes = [
        node("ScatterND", "x i u", "p", "scatter", reduction="add"), node("DequantizeLinear", "q step zero", "a"),
        node("Resize", "a none factors", "b", mode="linear"), node("QuantizeLinear", "b step zero", "r"),
    ]  # fmt: skip
    values = {"i": np.array([[0], [2], [5]]), "factors": np.array([1, 1, 1.8, 2.2], np.float32)}
    values |= {"step": np.array(0.05, np.float32), "none": np.zeros(0, np.float32), "zero": np.array(0, np.int8)}
    types |= {"q": onnx.TensorProto.INT8, "r": onnx.TensorProto.INT8}
    model = onnx_model(nodes, {"x": [6, 4], "u": [3, 4], "q": [1, 8, 5, 5]}, ["p", "r"], values, types=types)
    onnx.save(model, tmp_path / "m.onnx")
    found = _checked(tmp_path / "m.onnx", "qemu_pulp", tmp_path)
    assert [(f.rule, f.places) for f in found.findings if f.category != "advisory"] == []


def test_functions_of_floats_by_a_float_unit_keep_the_required_rules(tmp_path: Path) -> None:
    operators = ("Sigmoid", "Tanh", "Exp", "Erf", "Gelu", "Mish", "Softplus")
    nodes = [node(op, "x", op.lower(), op.lower()) for op in operators]
    onnx.save(onnx_model(nodes, {"x": [9]}, [one.name for one in nodes], opset=22), tmp_path / "m.onnx")
    found = _checked(tmp_path / "m.onnx", "qemu_mps2_an386", tmp_path)
    assert [(f.rule, f.places) for f in found.findings if f.category != "advisory"] == []


FLOATS = ("digits", "odd_lstm", "odd_temporal", "odd_transformer")


def _open(found: Misra) -> dict[str, tuple[str, ...]]:
    assert found.unchecked == ()
    return {f"{f.rule} {f.record}": f.places for f in found.findings if f.category != "advisory" and not f.record}


@pytest.mark.parametrize("board", ["qemu_rv32imc", "qemu_mps3_an547", "gvsoc_pulp_open"])
@pytest.mark.parametrize("name", FLOATS)
def test_floats_leave_no_place_open(
    name: str, board: str, network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    """In whole numbers without a float unit, in vectors with Helium, on the cores of a cluster."""
    assert _open(_checked(network(name).model, board, tmp_path)) == {}


@pytest.mark.parametrize("board", ["qemu_mps3_an547", "gvsoc_pulp_open"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_drawn_layers_of_floats_leave_no_place_open(seed: int, board: str, tmp_path: Path) -> None:
    """Kernels, strides, groups and paddings of many kinds: factors of one, terms of zero, blocks that overlap."""
    onnx.save(float_layers(seed), tmp_path / "m.onnx")
    assert _open(_checked(tmp_path / "m.onnx", board, tmp_path)) == {}


CODED = ("digits_int8", "odd_mobile_int8", "odd_unet_int8")


@pytest.mark.parametrize(
    ("name", "board", "records"),
    [(name, "qemu_mps3_an547", ["D1"]) for name in CODED]
    + [(name, "qemu_rv32gcv", ["D1"]) for name in (*CODED, "digits")]
    + [(name, "host", ["D3"]) for name in CODED],
)
def test_what_vectors_depart_from_stands_in_records(
    name: str, board: str, records: list[str], network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    """Names, types and parts of instructions as parameters of macros; `restrict` where compilers make the vectors."""
    found = _checked(network(name).model, board, tmp_path)
    assert found.unchecked == ()
    open_places = {f.rule: f.places for f in found.findings if f.category != "advisory" and not f.record}
    assert open_places == {}
    assert [record.number for record in found.records] == records
    assert found.required == sum(len(f.places) for f in found.findings if f.record)


def test_a_record_covers_the_lines_that_it_names_and_no_others() -> None:
    assert deviation("20.7", '#define TILEWRIGHT_MVE_PART(sum) "vldrb.8 " sum') == "D1"
    assert deviation("20.7", "#define TILEWRIGHT_HALF(x) x / 2") == ""
    assert deviation("10.3", "#define TILEWRIGHT_MVE_PART(sum) sum") == ""
    assert deviation("10.1", "const int32_t code = word >> shift;") == "D2"
    assert deviation("10.1", "const int fours = channels >> 2;") == ""


def test_departures_without_a_record_are_told_first() -> None:
    record = DeviationRecord("D1", "20.7", "macros", "names", "none other is passed")
    both = Misra("cppcheck", ("a.c",), 0, 3, 0, (), (), open=1, records=(record,))
    assert remarks(Evidence("net", "board", "platform", (), IDENTITY, misra=both)) == (
        "2 departures from required rules of MISRA C:2012 under records of deviation (D1)",
        "1 departure from mandatory or required rules of MISRA C:2012 without a record of deviation",
    )


def test_terms_that_change_nothing_are_not_printed() -> None:
    assert [plus("x", 3), plus("x", -3), plus("x", 0), plus("0", 4), plus("", 0)] == ["x + 3", "x - 3", "x", "4", "0"]
    assert [times("i", 3), times("i", 1), times("i", 0)] == ["i * 3", "i", "0"]
