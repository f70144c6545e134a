"""What layers cost: sums are those of the whole, recurrent layers are counted, a slow path is named with its reason."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import onnx
import pytest
from onnx import numpy_helper
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.platforms.cortex_m.kernels.conv_i8 import ConvDsp
from tilewright.plugins import kernels_of, platform
from tilewright.report.build import LayerReport, Report
from tilewright.report.chains import lines
from tilewright.report.costs import with_slow
from tilewright.report.csv_format import layers as csv_layers
from tilewright.report.expensive import expensive, slow_lines
from tilewright.report.page.render import render_page
from tilewright.report.slow import FasterReport
from tilewright.report.terminal import layer_table, profile_table, render
from tilewright.target import load_target

MODELS = Path(__file__).parent.parent / "models"
PLANTED = "planted: the left side has three axes"


@cache
def report_of(model: str, target: str) -> Report:
    return compile_model(MODELS / model / "model.onnx", CompileOptions(), load_target(target)).report


@pytest.mark.parametrize(
    ("model", "target"), [("resnet8_int8", "qemu_mps2_an386"), ("odd_mobile_int8", "qemu_pulp"), ("odd_lstm", "host")]
)
def test_rows_add_up_to_the_network(model: str, target: str) -> None:
    report = report_of(model, target)
    rows = list(lines(report.layers))
    assert sum(row.macs for row in rows if row.inside is None) == report.model.macs
    assert len({id(row.layer) for row in rows if row.inside is None}) == len([r for r in rows if r.inside is None])
    assert {layer.name for row in rows for layer in row.group} == {layer.name for layer in report.layers}
    assert any(row.inside is not None for row in rows) == (model != "odd_lstm")
    for layer in report.layers:
        if layer.members:
            assert layer.macs == sum(member.macs for member in layer.members)
            assert layer.estimated_cost == sum(member.estimated_cost or 0 for member in layer.members)


def test_members_stand_below_their_chain_without_figures_of_their_own() -> None:
    report = report_of("resnet8_int8", "qemu_mps2_an386")
    counted = replace(
        report, layers=tuple(replace(one, instructions=1000 * (n + 1)) for n, one in enumerate(report.layers))
    )
    chain = next(layer for layer in report.layers if layer.members)
    for text in (layer_table(counted), profile_table(counted)):
        for member in chain.members:
            assert f"  {member.name}"[:24] in text
    assert "what is inside of a chain runs in turns and is counted as a whole" in profile_table(counted)
    assert sum(layer.instructions or 0 for layer in counted.layers) == 1000 * sum(range(1, len(report.layers) + 1))


def test_recurrent_layers_count_both_matrices_of_every_step() -> None:
    report = report_of("odd_lstm", "host")
    graph = onnx.load(MODELS / "odd_lstm" / "model.onnx").graph
    node = next(node for node in graph.node if node.op_type == "LSTM")
    sizes = {one.name: numpy_helper.to_array(one).size for one in graph.initializer}
    steps, batch = (one.dim_value for one in graph.input[0].type.tensor_type.shape.dim[:2])
    layer = next(layer for layer in report.layers if layer.op == "LSTM")
    assert layer.macs == steps * batch * (sizes[node.input[1]] + sizes[node.input[2]])


@pytest.mark.parametrize(("model", "target"), [("digits_int8", "qemu_mps2_an386"), ("dscnn_int8", "qemu_pulp")])
def test_a_network_without_a_slow_layer_says_nothing(model: str, target: str) -> None:
    report = report_of(model, target)
    assert not any(layer.slow for layer in report.layers)
    assert "SLOW" not in render(report) + expensive(report) + render_page(report)
    assert "slow" not in layer_table(report).splitlines()[0]


def test_a_planted_slow_path_is_named_with_the_refusal_of_the_faster_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConvDsp, "accepts", lambda self, call: PLANTED)
    report = report_of.__wrapped__("digits_int8", "qemu_mps2_an386")
    told = f"the best kernel of this operator, ConvDsp: {PLANTED}"
    assert any(told in line for line in slow_lines(report))
    assert told in render(report)
    assert told in expensive(report)
    assert PLANTED in render_page(report)
    assert "x" in csv_layers(report)
    slow = [layer.slow for layer in report.layers] + [one.slow for layer in report.layers for one in layer.members]
    assert any(slow)
    assert all(one.times >= 4 and not one.measured for one in slow if one is not None)
    assert Report.from_json(report.to_json()) == report


def test_what_was_counted_overrules_the_estimate() -> None:
    faster = FasterReport("Fast", 1000, "it is odd")
    bare = LayerReport("a", "Conv", "Slow", "exact", None, 1, 500, {}, None, None)
    report = replace(report_of("digits_int8", "host"), layers=(replace(bare, estimated_cost=2000, faster=faster),))
    assert with_slow(report).layers[0].slow is None
    counted = with_slow(replace(report, layers=(replace(report.layers[0], instructions=40_000),)))
    assert str(counted.layers[0].slow) == "40x the best kernel of this operator, Fast: it is odd"
    small = replace(bare, name="b", estimated_cost=10_000_000)
    assert with_slow(replace(counted, layers=(*counted.layers, small))).layers[0].slow is None


def test_floats_without_an_fpu_are_slow() -> None:
    told = slow_lines(report_of("odd_transformer", "qemu_rv32imc"))
    assert told == [
        "SLOW: layers 9, 14: about 5x the same on a core with an FPU: "
        "the core has no 'fpu' among its capabilities, floats are computed in software"
    ]
    assert not slow_lines(report_of("odd_transformer", "qemu_mps2_an386"))


@pytest.mark.parametrize("name", ["generic", "cortex_m", "riscv", "pulp", "pulp_l3", "siracusa"])
def test_rates_are_of_kernels_that_there_are(name: str) -> None:
    chosen = platform(name)
    assert set(chosen.rates) <= {kernel.name for kernel in kernels_of(chosen)}
    assert all(rate.each > 0 for rate in chosen.rates.values())
