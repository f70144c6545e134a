"""Drawn chains on simulated boards and on this machine: equal to NumPy in every bit, inside the fences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from make_odd import Sketch, odd_inputs
from quantise import quantise
from row_networks import chained, chains_of, drawn, inverted_residual, longest, strided
from tilewright.compile import Compiled, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.schedule.decisions_json import decisions_in, decisions_out
from tilewright.target import load_target

TARGETS = ("host", "qemu_mps2_an386", "qemu_mps3_an547", "qemu_microbit", "qemu_rv32imc", "qemu_rv32gcv")


def run(compiled: Compiled, target: str, folder: Path, extreme: int | None = None) -> None:
    """Run on drawn inputs, or on inputs of one extreme code each, and compare every output."""
    options = RunOptions(reference=False, seed=3)
    if extreme is not None:
        path = folder / f"inputs_{extreme}.npz"
        tensors = [compiled.plan.slots[slot].tensor for slot in compiled.plan.input_slots]
        values = {t.name: np.full(t.shape, t.dtype.range[extreme], t.dtype.numpy) for t in tensors}
        np.savez(path, allow_pickle=False, **values)
        options = RunOptions(reference=False, inputs=path)
    project = folder / "project"
    project.mkdir(exist_ok=True)
    report = run_model(write(compiled, project), load_target(target), options, project)
    assert report.run is not None
    assert report.run.match
    assert report.run.mismatches == 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(6))
def test_drawn_chains_equal_numpy_in_every_bit(seed: int, target: str, tmp_path: Path) -> None:
    board_or_skip(target)
    compiled = chained(drawn(seed), tmp_path, target, rows=1 + seed % 3)
    assert chains_of(compiled)
    assert all(bound.kernel is not None and bound.kernel.numerics == "exact" for bound in chains_of(compiled))
    run(compiled, target, tmp_path)
    run(compiled, target, tmp_path, extreme=seed % 2)


def test_rows_are_moved_in_vectors_where_the_core_has_them(tmp_path: Path) -> None:
    for target, move in (("qemu_rv32gcv", "tilewright_rvv_copy"), ("qemu_rv32imc", "tilewright_move")):
        compiled = chained(strided(), tmp_path, target, rows=1)
        pieces = [piece for path in compiled.artifacts.files for piece in compiled.artifacts.pieces(path)]
        assert any(f"        {move}" in line for line in "".join(pieces).splitlines()), target


def test_nodes_before_the_last_may_compute_single_rows(tmp_path: Path) -> None:
    board_or_skip("qemu_mps2_an386")
    single, double = (
        chained(strided(), tmp_path, "qemu_mps2_an386", rows=1, single_rows=alone) for alone in (True, False)
    )
    made = [longest(compiled) for compiled in (single, double)]
    needs = [
        bound.kernel.scratch(compiled.bound.operands(bound))
        for compiled, bound in zip((single, double), made, strict=True)
        if bound.kernel is not None
    ]
    assert [len(bound.parts) for bound in made] == [5, 5]  # one brings the input into its order
    assert needs[0] < 0.9 * needs[1]
    run(single, "qemu_mps2_an386", tmp_path)
    assert decisions_in(decisions_out(single.decisions)) == single.decisions


@pytest.mark.parametrize("target", ["host", "qemu_mps2_an386"])
def test_a_table_inside_of_a_chain(target: str, tmp_path: Path) -> None:
    board_or_skip(target)
    net = Sketch("table")
    x = net.convolution(net.input("image", 1, 3, 12, 9), 3, 8, (1, 1))
    x = net.node("Mul", x, net.node("Sigmoid", x))
    net.output(net.convolution(x, 8, 8, (3, 3), 8), "result")
    model = net.finish()
    compiled = chained(quantise(model, odd_inputs(model, 8)), tmp_path, target, rows=2)
    (chain,) = chains_of(compiled)
    assert [part.call.node.op for part in chain.parts] == ["Relayout", "Conv", "Lookup", "Conv"]
    run(compiled, target, tmp_path)


@pytest.mark.parametrize("seed", range(6, 9))
def test_float_chains_stay_within_their_bound(seed: int, tmp_path: Path) -> None:
    compiled = chained(drawn(seed, codes=False), tmp_path, "host", 2, CompileOptions())
    assert chains_of(compiled)
    run(compiled, "host", tmp_path)


def test_declared_costs_agree_with_counts(tmp_path: Path) -> None:
    board = "qemu_mps2_an386"
    board_or_skip(board)
    compiled = chained(onnx.load(inverted_residual(tmp_path)), tmp_path, board, rows=2)
    project = tmp_path / "project"
    project.mkdir()
    report = run_model(write(compiled, project), load_target(board), RunOptions(profile=True, reference=False), project)
    counted = {row.name: row.instructions for row in report.layers}
    chain = longest(compiled)
    assert chain.kernel is not None
    assert counted[chain.call.node.name] == pytest.approx(chain.kernel.cost(chain.call), rel=0.15)
