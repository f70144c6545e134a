"""Tensors inside of chains: the shipped C hands out its rows in a test build, and each of them is compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from board_layers import board_or_skip
from row_networks import chained, chains_of, drawn, inverted_residual, longest
from tilewright.compile import Compiled, run_model, write
from tilewright.errors import MismatchError
from tilewright.options import CompileOptions, RunOptions
from tilewright.plan.execute import run_slots
from tilewright.run.build import build
from tilewright.run.inputs import input_arrays
from tilewright.run.simulate import Tap, execute
from tilewright.run.taps import compare_inner, has_chains
from tilewright.target import load_target

Subject = tuple[Compiled, tuple[Tap, ...], tuple[np.ndarray, ...]]


@pytest.fixture(scope="module")
def tapped(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """The chain of a block of MobileNetV2, what this machine took out of it, and NumPy's values."""
    folder = tmp_path_factory.mktemp("tapped")
    compiled = chained(onnx.load(inverted_residual(folder)), folder, "host", rows=2)
    project = folder / "project"
    project.mkdir()
    write(compiled, project)
    inputs = input_arrays(compiled.plan, None, 1)
    image = build(project, compiled.artifacts.interface, load_target("host"), folder / "work", trace=True, tap=True)
    return compiled, execute(image, [a.tobytes() for a in inputs]).taps, run_slots(compiled.plan, inputs)


@pytest.mark.parametrize(("target", "seed"), [("host", 3), ("host", 7), ("qemu_mps2_an386", 1)])
def test_every_tensor_inside_of_a_chain_is_compared(target: str, seed: int, tmp_path: Path) -> None:
    board_or_skip(target)
    options = None if seed < 6 else CompileOptions()
    compiled = chained(drawn(seed, codes=seed < 6), tmp_path, target, 1 + seed % 3, options)
    project = tmp_path / "project"
    project.mkdir()
    report = run_model(write(compiled, project), load_target(target), RunOptions(layers=True), project)
    assert report.run is not None
    assert report.run.match
    inner = {each.tensor: each for row in report.layers for each in row.inner}
    assert set(inner) == {part.call.outputs[0].name for chain in chains_of(compiled) for part in chain.parts[:-1]}
    assert all(each.mismatches == 0 for each in inner.values())


def test_rows_come_out_in_the_planned_order(tapped: Subject) -> None:
    compiled, taps, slots = tapped
    assert has_chains(compiled.placed)
    found = max(compare_inner(compiled.placed, taps, slots, RunOptions()).values(), key=len)
    chain = longest(compiled)
    assert [each.node for each in found] == [part.call.node.name for part in chain.parts[:-1]]
    assert all(each.result.match for each in found)
    assert [each.result.elements for each in found] == [part.call.outputs[0].elements for part in chain.parts[:-1]]


def test_one_wrong_byte_inside_of_a_chain_is_seen(tapped: Subject) -> None:
    compiled, taps, slots = tapped
    place = next(n for n, tap in enumerate(taps) if tap.node == 2 and tap.first_row > 3)
    raw = bytearray(taps[place].data)
    raw[5] ^= 1
    changed = (*taps[:place], replace(taps[place], data=bytes(raw)), *taps[place + 1 :])
    found = max(compare_inner(compiled.placed, changed, slots, RunOptions()).values(), key=len)
    assert [each.result.mismatches for each in found] == [0, 1, *(0 for _ in found[2:])]
    row = found[1].result.first
    assert row is not None
    assert row[2] == taps[place].first_row
    assert found[1].report().max_lsb_error == 1


def test_rows_that_do_not_come_are_no_match(tapped: Subject) -> None:
    compiled, taps, slots = tapped
    for few in ((), taps[1:], taps[:-1], (*taps, taps[-1]), [replace(tap, node=1) for tap in taps]):
        with pytest.raises(MismatchError, match=r"inside of the chain .* computed other rows than were planned"):
            compare_inner(compiled.placed, few, slots, RunOptions())


def test_a_fault_in_the_code_of_an_inner_node_is_named(tmp_path: Path) -> None:
    compiled = chained(onnx.load(inverted_residual(tmp_path)), tmp_path, "host", rows=2)
    project = tmp_path / "project"
    project.mkdir()
    written = write(compiled, project)
    source = project / "src" / f"{compiled.plan.name}.c"
    text = source.read_text()
    call = text.index("tilewright_tap(2, ", text.index("/* Band by band of rows:"))
    arguments = text[call + len("tilewright_tap(2, ") :].split(", ")
    source.write_text(text[:call] + f"({arguments[1]})[3] ^= 1;\n    " + text[call:])
    report = run_model(written, load_target("host"), RunOptions(layers=True, reference=False), project)
    assert report.run is not None
    assert not report.run.match
    wrong = [each.node for row in report.layers for each in row.inner if each.mismatches]
    chain = longest(compiled)
    assert wrong[0] == chain.parts[1].call.node.name  # what is behind it differs too
