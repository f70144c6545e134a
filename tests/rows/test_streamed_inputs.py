"""`--io stream`: an input is asked for by rows and never exists as a whole."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from board_layers import board_or_skip
from make_odd import Sketch, odd_inputs
from quantise import quantise
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.errors import UnsupportedError, UsageError
from tilewright.options import CompileOptions, RunOptions
from tilewright.report.header import header
from tilewright.target import load_target


def picture(planes: bool = True, height: int = 40, codes: bool = True) -> onnx.ModelProto:
    """Two convolutions on a picture, in planes or with its channels beside each other."""
    net = Sketch("picture")
    if planes:
        x = net.input("image", 1, 3, height, 20)
    else:
        x = net.node("Transpose", net.input("image", 1, height, 20, 3), perm=[0, 3, 1, 2])
    x = net.convolution(x, 3, 6, (3, 3), pads=[1] * 4, strides=[2, 2])
    net.output(net.node("GlobalAveragePool", net.convolution(net.node("Relu", x), 6, 4, (1, 1))), "result")
    model = net.finish()
    return quantise(model, odd_inputs(model, 8)) if codes else model


def compiled(model: onnx.ModelProto, folder: Path, target: str = "host", **more: object) -> Compiled:
    onnx.save(model, folder / "picture.onnx")
    options = CompileOptions(io="stream", optimize="size", **more)  # type: ignore[arg-type]
    return compile_model(folder / "picture.onnx", options, load_target(target))


@pytest.mark.parametrize(
    ("planes", "codes", "target"),
    [(True, True, "host"), (False, True, "host"), (True, False, "host"), (True, True, "qemu_mps2_an386")],
)
def test_rows_are_handed_over_as_they_are_asked_for(planes: bool, codes: bool, target: str, tmp_path: Path) -> None:
    board_or_skip(target)
    found = compiled(picture(planes, codes=codes), tmp_path, target, quantized_io=codes)
    image = next(tensor for tensor in found.plan.slots if tensor.tensor.name == "image")
    assert image.index not in found.placed.slot_offsets
    if codes:
        assert found.placed.arena_bytes < 0.75 * image.tensor.size_bytes
        (chain,) = [bound for bound in found.bound.nodes if bound.parts]
        assert chain.call.chain[0].node.op == "InputRows"
    project = tmp_path / "project"
    project.mkdir()
    report = run_model(write(found, project), load_target(target), RunOptions(layers=True), project)
    assert report.run is not None
    assert report.run.match
    assert "is not resident" in (project / "src" / "picture.h").read_text()


def test_the_summary_says_which_input_is_not_resident(tmp_path: Path) -> None:
    found = compiled(picture(), tmp_path, quantized_io=True)
    assert "input 'image' is not resident: it is asked for by rows" in header(found.report)


def test_each_row_is_asked_for_once(tmp_path: Path) -> None:
    found = compiled(picture(height=45), tmp_path, quantized_io=True)
    (chain,) = [bound for bound in found.bound.nodes if bound.parts]
    assert chain.kernel is not None
    calls = chain.kernel.methods.walked.calls  # type: ignore[attr-defined]
    rows = chain.kernel.methods.stages[0].step.rows  # type: ignore[attr-defined]
    asked = [row for call in calls if call.number == 0 for row in range(call.row, call.row + rows)]
    assert asked == list(range(45))


def test_what_has_no_rows_says_so(tmp_path: Path) -> None:
    net = Sketch("flat")
    net.output(net.dense(net.input("features", 1, 8), 8, 4), "result")
    with pytest.raises(
        UnsupportedError, match=r"--io stream cannot stream the input 'features': its shape is \[1, 8\]"
    ):
        compiled(net.finish(), tmp_path)
    with pytest.raises(UsageError, match="--io stream is nothing that platform 'pulp' does"):
        compiled(picture(), tmp_path, "qemu_pulp")
