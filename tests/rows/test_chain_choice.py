"""When nodes are chained by rows: where the peak falls for a share of the work, and never where a switch says no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from make_odd import Sketch
from row_networks import chains_of, inverted_residual, pairs
from tilewright.binding.graph import BoundNode
from tilewright.binding.order import by_cost
from tilewright.compile import Compiled, compile_model
from tilewright.memory.heights import moments_at_peak
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.placing import Placing
from tilewright.options import CompileOptions, Optimize
from tilewright.plan.plan import ExecutionPlan
from tilewright.report.explain import explain
from tilewright.report.header import header
from tilewright.rows.links import Links
from tilewright.schedule import search
from tilewright.schedule.moves import row_chains
from tilewright.schedule.moves.row_chains import SMALL
from tilewright.schedule.request import make_request
from tilewright.target import load_target


def compiled(folder: Path, target: str, optimize: Optimize, *off: str) -> Compiled:
    options = CompileOptions(optimize=optimize, quantized_io=True, disabled_passes=frozenset(off))
    return compile_model(inverted_residual(folder), options, load_target(target))


@pytest.mark.parametrize("target", ["host", "qemu_mps2_an386", "qemu_rv32imc"])
def test_the_wide_tensors_of_a_block_disappear(target: str, tmp_path: Path) -> None:
    found = compiled(tmp_path, target, "size")
    apart = compiled(tmp_path, target, "size", "row_chains")
    (chain,) = chains_of(found)
    wide = {t.name for call in chain.call.chain[:-1] for t in call.outputs if t.size_bytes == 48 * 16 * 16}
    assert wide
    assert wide.isdisjoint(slot.tensor.name for slot in found.plan.slots)
    assert found.placed.arena_bytes < apart.placed.arena_bytes * 0.75
    (report,) = [p for p in found.report.passes if p.name == "row_chains"]
    assert report.saved_bytes is not None
    assert report.saved_bytes > 4000
    assert "row_chains saved" in header(found.report)
    assert not chains_of(apart)


def test_the_report_and_the_explanation_name_every_node(tmp_path: Path) -> None:
    found = compiled(tmp_path, "qemu_mps2_an386", "size")
    (chain,) = chains_of(found)
    (row,) = [row for row in found.report.layers if row.op == "Chain"]
    assert row.nodes == tuple(call.node.name for call in chain.call.chain)
    assert row.macs == sum(r.macs for r in compiled(tmp_path, "qemu_mps2_an386", "size", "row_chains").report.layers
                           if r.name in row.nodes)  # fmt: skip
    text = explain(found.bound)
    for part in chain.parts:
        assert part.kernel is not None
        assert f"{part.call.node.name} ({part.call.node.op}): " in text
        assert f"apart by {part.kernel.name}: about " in text


def test_instructions_that_a_chain_adds_are_worth_nothing_for_speed(tmp_path: Path) -> None:
    found = compiled(tmp_path, "host", "speed")
    (report,) = [p for p in found.report.passes if p.name == "row_chains"]
    assert report.added_operations <= 0


def many_blocks(folder: Path, blocks: int) -> Path:
    """Blocks of MobileNetV2 in float, one after the other: every one of them reaches the peak."""
    net = Sketch("blocks")
    six = (net.constant(np.array(0, np.float32)), net.constant(np.array(6, np.float32)))
    x = net.convolution(net.input("image", 1, 8, 16, 16), 8, 8, (1, 1))
    for _ in range(blocks):
        y = net.node("Clip", net.convolution(x, 8, 48, (1, 1)), *six)
        y = net.node("Clip", net.convolution(y, 48, 48, (3, 3), 48), *six)
        x = net.node("Add", x, net.convolution(y, 48, 8, (1, 1)))
    net.output(net.node("GlobalAveragePool", x), "means")
    onnx.save(net.finish(), folder / "blocks.onnx")
    return folder / "blocks.onnx"


def test_a_large_network_gets_chains_for_all_moments_at_its_peak(tmp_path: Path) -> None:
    source, target = many_blocks(tmp_path, 34), load_target("host")
    options = CompileOptions(optimize="size")
    without = compile_model(source, replace(options, disabled_passes=frozenset({"row_chains"})), target)
    assert len(without.bound.nodes) > SMALL
    done = compile_model(source, options, target)
    assert len(done.decisions.row_chains) >= 30
    assert done.placed.solution.peak < without.placed.solution.peak


def test_single_rows_are_taken_where_they_lower_the_peak_and_leave_the_choice_of_bands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = pairs(tmp_path, 64, ((16, 2), (16, 1), (16, 1)))
    options, target, chain = CompileOptions(quantized_io=True), load_target("qemu_mps2_an386"), Links.chain

    def bands(self: Links, path: Sequence[str], rows: int, *, single_rows: bool = False) -> BoundNode | None:
        return None if single_rows else chain(self, path, rows)

    def rows_offered() -> list[list[int]]:
        apart = compile_model(model, replace(options, disabled_passes=frozenset({"row_chains"})), target)
        links = Links(apart.bound, apart.request.kernels, by_cost)
        return [[made.rows for made in links.chains(path) if not made.single_rows] for path in links.paths()]

    free, offered = compile_model(model, options, target), rows_offered()
    assert any(chosen.single_rows for chosen in free.decisions.row_chains)
    monkeypatch.setattr(Links, "chain", bands)
    assert free.placed.arena_bytes < compile_model(model, options, target).placed.arena_bytes
    assert rows_offered() == offered


def test_enough_chains_are_tried_on_the_way_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 100 of them this network takes a sixth more, after 400 some 4 %."""
    model = pairs(tmp_path, 96, ((16, 2), (16, 1), (32, 1), (64, 1), (64, 2), (64, 1)))
    options, target = CompileOptions(quantized_io=True), load_target("qemu_mps2_an386")
    done = compile_model(model, options, target)
    assert not any(report.cut_off for report in done.report.passes)
    monkeypatch.setattr(row_chains, "TRIED", 100)
    first = compile_model(model, options, target).placed.arena_bytes
    monkeypatch.setattr(row_chains, "TRIED", 400)
    assert done.placed.arena_bytes * 1.04 < compile_model(model, options, target).placed.arena_bytes < first
    assert done.placed.arena_bytes * 1.15 < first


def test_nodes_of_one_form_are_priced_once(tmp_path: Path) -> None:
    net = Sketch("widths")
    for block, wide in enumerate((4, 8, 4, 8)):
        image = net.node("Relu", net.input(f"image{block}", 1, wide, 16, 16))
        net.result(f"edges{block}", "Relu", net.convolution(image, wide, wide, (3, 3)))
    onnx.save(net.finish(), tmp_path / "widths.onnx")
    options = CompileOptions(disabled_passes=frozenset({"row_chains", "activation"}))
    done = compile_model(tmp_path / "widths.onnx", options, load_target("host"))
    links = Links(done.bound, make_request(done.request.source, options, done.request.target).kernels, by_cost)
    paths = list(links.paths())
    for path in paths:
        made = [(c.rows, c.kernel.scratch(done.bound.operands(c)), c.kernel.cost(c.call))
                for c in links.chains(path) if c.kernel is not None]  # fmt: skip
        assert [(price.rows, price.scratch_bytes, price.cost) for price in links.prices(path)] == made
    assert 2 <= links.priced == len(paths) / 2


def test_what_cannot_be_better_is_not_placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound that says so never lies above what a placement reaches, and decides nothing."""
    peaks: list[tuple[int, int]] = []
    bounds: list[tuple[int, int]] = []
    place, least = Placing.place, Placing.least

    def placing(self: Placing, plan: ExecutionPlan, *given: Any, **named: Any) -> PlacedPlan:
        placed = place(self, plan, *given, **named)
        peaks.append((placed.solution.peak, len(moments_at_peak(placed))))
        bounds.append(least(self, plan))
        return placed

    monkeypatch.setattr(Placing, "place", placing)
    chosen = compiled(tmp_path, "qemu_mps2_an386", "size")
    placed = len(peaks)
    assert all(bound <= peak for bound, peak in zip(bounds, peaks, strict=True))
    monkeypatch.setattr(Placing, "least", lambda self, plan: (0, 0))
    same = compiled(tmp_path, "qemu_mps2_an386", "size")
    assert same.report.memory == chosen.report.memory
    assert [chain.call.node.name for chain in chains_of(same)] == [chain.call.node.name for chain in chains_of(chosen)]
    assert len(peaks) - placed > placed


def test_what_the_search_left_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_chains, "TRIED", 2)
    found = compiled(tmp_path, "host", "size")
    (report,) = [p for p in found.report.passes if p.name == "row_chains"]
    assert report.cut_off == "more than 2 chains were not tried"
    assert "CUT OFF: row_chains: more than 2 chains were not tried" in header(found.report).splitlines()
    monkeypatch.setattr(search, "PRICED", 1)
    (report,) = [p for p in compiled(tmp_path, "host", "size").report.passes if p.name == "row_chains"]
    assert report.cut_off == "the work for prices was spent"
