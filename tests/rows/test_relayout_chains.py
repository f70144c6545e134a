"""An input in another order than its reader's joins the chain: its rows are brought into order as they are read."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from make_odd import Sketch, odd_inputs
from quantise import quantise
from row_networks import chained, chains_of
from tilewright.compile import compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.rows.links import LONGEST
from tilewright.target import load_target


def picture(height: int = 24) -> onnx.ModelProto:
    """Planes of a picture, as PyTorch has them, before two convolutions."""
    net = Sketch("planes")
    x = net.convolution(net.input("image", 1, 3, height, 20), 3, 8, (3, 3), pads=[1] * 4, strides=[2, 2])
    net.output(net.convolution(net.node("Relu", x), 8, 4, (1, 1)), "result")
    return net.finish()


@pytest.mark.parametrize("rows", [1, 5])
def test_rows_of_planes_are_brought_into_order_as_they_are_read(rows: int, tmp_path: Path) -> None:
    model = picture()
    compiled = chained(quantise(model, odd_inputs(model, 8)), tmp_path, "host", rows)
    (chain,) = chains_of(compiled)
    assert [call.node.op for call in chain.call.chain][:2] == ["Relayout", "Conv"]
    assert "image_relayout" not in {slot.tensor.name for slot in compiled.plan.slots}
    project = tmp_path / "project"
    project.mkdir()
    report = run_model(write(compiled, project), load_target("host"), RunOptions(layers=True), project)
    assert report.run is not None
    assert report.run.match
    assert all(each.mismatches == 0 for row in report.layers for each in row.inner)


def test_an_input_exists_once(tmp_path: Path) -> None:
    model = picture(48)
    onnx.save(quantise(model, odd_inputs(model, 8)), tmp_path / "planes.onnx")
    options = CompileOptions(quantized_io=True, optimize="size")
    found = compile_model(tmp_path / "planes.onnx", options, load_target("host"))
    assert found.placed.arena_bytes < 1.5 * 3 * 48 * 20


def test_bringing_into_order_begins_a_chain_and_does_not_count(tmp_path: Path) -> None:
    net = Sketch("long")
    x = net.input("image", 1, 3, 16, 8)
    for _ in range(LONGEST + 2):
        x = net.node("Relu", net.convolution(x, 3, 3, (1, 1)))
    net.output(x, "result")
    model = net.finish()
    (first, *_) = chained(quantise(model, odd_inputs(model, 8)), tmp_path, "host", 2).bound.nodes
    assert [call.node.op for call in first.call.chain] == ["Relayout", *["Conv"] * LONGEST]
