"""Caches in codes: the written graph and ours are one, calls after one another, in NumPy and in C; what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from letters_network import VOCABULARY, Sizes, shapes, step
from tilewright.cli import main
from tilewright.commands.comparing import mismatch
from tilewright.compile import compile_model, run_model, write
from tilewright.errors import UnsupportedError
from tilewright.options import CompileOptions, RunOptions, StateWish
from tilewright.platforms.cortex_m.kernels.coded_attention import CodedAttentionDsp
from tilewright.platforms.generic.kernels.coded_attention import CodedAttention
from tilewright.quantiser.caches import coded_caches
from tilewright.report.build import Report
from tilewright.target import load_target

SIZES = Sizes(width=16, layers=1, heads=4, key_heads=2, hidden=16, positions=12)


def _model(bits: int = 8) -> onnx.ModelProto:
    draw = np.random.default_rng(4)
    weights = {name: draw.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes(SIZES).items()}
    return coded_caches(step(SIZES, weights, "drawn"), bits)


def _run(model: onnx.ModelProto, folder: Path, name: str = "host") -> Report:
    onnx.save(model, folder / "drawn.onnx")
    tokens = np.random.default_rng(2).integers(0, len(VOCABULARY), (12, 1))
    np.savez(folder / "calls.npz", token=tokens, pos=np.arange(12)[:, None])
    target = load_target(name)
    compiled = compile_model(folder / "drawn.onnx", CompileOptions(state=StateWish(auto=True)), target)
    write(compiled, folder)
    return run_model(compiled, target, RunOptions(frames=folder / "calls.npz"), folder)


@pytest.mark.parametrize("bits", [8, 4])
def test_caches_lie_in_codes_and_are_written_in_place(tmp_path: Path, bits: int) -> None:
    report = _run(_model(bits), tmp_path)
    assert mismatch(report) is None
    assert report.run is not None
    assert report.run.frames is not None
    assert report.run.frames.reference_mismatches == 0
    assert report.memory["ram"].state == 2 * (12 * bits + 12 * 4)
    assert [one.copied for one in report.model.states] == [""] * 4
    assert [layer.op for layer in report.layers if "Attention" in layer.op] == ["CodedAttention"]


@pytest.mark.parametrize("group", [1, 2])
def test_caches_lie_in_halves(tmp_path: Path, group: int) -> None:
    report = _run(_model(16) if group == 1 else _repeated(), tmp_path)
    assert mismatch(report) is None
    assert report.run is not None
    assert report.run.frames is not None
    assert report.run.frames.reference_mismatches == 0
    assert report.memory["ram"].state == 2 * 12 * 8 * 2
    assert [one.copied for one in report.model.states] == [""] * 2
    assert [layer.op for layer in report.layers if "Attention" in layer.op] == ["HalfAttention"]


def _repeated() -> onnx.ModelProto:
    """The network with its key heads repeated for the query heads that share them, as other exporters write it."""
    model = _model(16)
    graph, shape = model.graph, [1, 4, 1, 4]
    for name, source in (("keys", "present_l0_k/real"), ("values", "present_l0_v/real")):
        graph.initializer.append(onnx.numpy_helper.from_array(np.array([0, 0, 1, 1]), f"{name}_heads"))
        repeat = onnx.helper.make_node("Gather", [source, f"{name}_heads"], [f"{name}_all"], f"{name}_all", axis=1)
        at = next(number for number, node in enumerate(graph.node) if source in node.output)
        for node in graph.node:
            node.input[:] = [f"{name}_all" if one == source else one for one in node.input]
        graph.node.insert(at + 1, repeat)
    next(one for one in graph.initializer if one.name == "group").CopyFrom(
        onnx.numpy_helper.from_array(np.array(shape), "group")
    )
    return model


def test_a_row_that_is_left_out_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = CodedAttention.context

    def fewer(self: CodedAttention, operands: object) -> object:
        found = whole(self, operands)  # type: ignore[arg-type]
        return found.__class__(**{**vars(found), "rows": found.rows - 4})

    monkeypatch.setattr(CodedAttention, "context", fewer)
    error = mismatch(_run(_model(), tmp_path))
    assert error is not None
    assert "differ" in str(error)


@pytest.mark.sim("qemu_mps2_an386")
@pytest.mark.parametrize("wrong", [False, True])
def test_sums_of_whole_numbers_are_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: bool) -> None:
    right = CodedAttentionDsp.context
    if wrong:
        monkeypatch.setattr(
            CodedAttentionDsp, "context", lambda self, operands: replace(right(self, operands), share=16000)
        )
    report = _run(_model(), tmp_path, "qemu_mps2_an386")
    assert report.run is not None
    assert report.run.max_abs_error is not None
    assert "CodedAttentionDsp" in {layer.kernel for layer in report.layers}
    assert (report.run.max_abs_error < 2e-3) != wrong


def test_another_unit_is_left_as_it_is(tmp_path: Path) -> None:
    model = _model()
    for node in model.graph.node:
        if node.name.endswith("present_l0_k/real"):
            node.input[0], node.input[1] = node.input[1], node.input[0]
    report = _run(model, tmp_path)
    assert mismatch(report) is None
    assert not [layer for layer in report.layers if layer.op == "CodedAttention"]


def test_the_option_says_how_many_bits(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    weights = {name: draw.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes(SIZES).items()}
    onnx.save(step(SIZES, weights, "drawn"), tmp_path / "drawn.onnx")
    words = ["compile", str(tmp_path / "drawn.onnx"), "-t", "host", "--state", "auto", "--cache", "int4", "-q"]
    written = tmp_path / "written.onnx"
    assert main([*words, "-o", str(tmp_path / "out"), "--write-codes", str(written)]) == 0
    past = {one.name: one.type.tensor_type for one in onnx.load(written).graph.input}["past_l0_k"]
    assert past.elem_type == onnx.TensorProto.UINT8
    assert [one.dim_value for one in past.shape.dim] == [1, 2, 12, 2]


def test_what_has_no_cache_is_refused() -> None:
    draw = step(SIZES, {name: np.zeros(shape, np.float32) for name, shape in shapes(SIZES).items()}, "drawn")
    for port in (*draw.graph.input, *draw.graph.output):
        port.name = port.name.replace("past", "before")
    for node in draw.graph.node:
        node.input[:] = [name.replace("past", "before") for name in node.input]
    with pytest.raises(UnsupportedError, match="--cache finds no cache of floats"):
        coded_caches(draw, 8)
    with pytest.raises(UnsupportedError, match="of an even depth"):
        coded_caches(draw, 4)
