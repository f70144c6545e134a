"""A layer of which no tile fits L1 is an error, or runs slower where that is the only way or the user's wish."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from board_layers import Layer, Network, board_or_skip
from tilewright.cli import main
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.errors import DoesNotFit
from tilewright.options import CompileOptions, FallBack, RunOptions
from tilewright.report.header import header
from tilewright.target import load_target

WIDE = Layer("wide", (1, 512, 13, 13), (4, 512, 13, 13))
SMALL = Layer("small", (1, 8, 6, 6), (8, 8, 3, 3))
WIDE_MACS, SMALL_MACS = 4 * 512 * 13 * 13, 8 * 8 * 4 * 4 * 9


def model(path: Path, *layers: Layer) -> Path:
    network = Network(np.random.default_rng(7))
    for layer in layers:
        network.add(layer)
    return network.save(path / "layers.onnx")


def compiled(source: Path, board: str, asked: FallBack = "needed", l1: int = 64 * 1024) -> Compiled:
    return compile_model(source, CompileOptions(level_sizes={"l1": l1}, fall_back=asked), load_target(board))


def test_a_layer_that_no_l1_of_the_target_holds_runs_whole(tmp_path: Path) -> None:
    done = compiled(model(tmp_path, WIDE, SMALL), "gvsoc_pulp_open")
    kernels = {b.call.node.name: b.kernel for b in done.bound.nodes if b.kernel is not None}
    assert (kernels["wide"].platform, kernels["wide"].tileable) == ("generic", False)
    assert kernels["small"].platform == "pulp"
    row = next(layer for layer in done.report.layers if layer.name == "wide")
    assert row.instead_of == "TiledConvI8: its smallest tile takes 173,080 bytes and 'l1' has 65,536"
    assert [layer.name for layer in done.report.layers if layer.instead_of] == ["wide"]
    told = next(line for line in header(done.report).splitlines() if line.startswith("SLOW"))
    assert "'wide' runs whole, on one core by" in told
    assert " % of the modelled cycles" in told


def test_what_runs_whole_is_priced_by_its_loads(tmp_path: Path) -> None:
    report = compiled(model(tmp_path, WIDE, SMALL), "gvsoc_pulp_open").report
    cycles = {layer.name: layer.modelled_cycles or 0 for layer in report.layers}
    assert 30 < cycles["wide"] / WIDE_MACS < 40
    assert cycles["small"] / SMALL_MACS < 1


@pytest.mark.parametrize("asked", ["never", "needed"])
def test_where_more_l1_would_do_it_is_an_error_with_both_ways_out(asked: FallBack, tmp_path: Path) -> None:
    source = model(tmp_path, Layer("wide", (1, 64, 13, 13), (4, 64, 13, 13)), SMALL)
    with pytest.raises(DoesNotFit) as refused:
        compiled(source, "qemu_pulp", asked, 16 * 1024)
    text = str(refused.value)
    assert refused.value.code == 4
    assert "node 'wide' does not fit 16384 bytes of 'l1'" in text
    assert "its smallest tile takes" in text
    smallest = refused.value.smallest["l1"]
    assert text.startswith("node 'wide'")
    assert f"give 'l1' at least {smallest} bytes, or let a slower kernel take it with --fall-back always" in text
    assert compiled(source, "qemu_pulp", asked, smallest).report.memory["l1"].worst_case <= smallest


def test_never_is_an_error_even_where_nothing_else_would_do(tmp_path: Path) -> None:
    with pytest.raises(DoesNotFit, match="node 'wide' does not fit 65536 bytes of 'l1'"):
        compiled(model(tmp_path, WIDE), "gvsoc_pulp_open", "never")


def test_always_runs_bit_equal_inside_the_fences(tmp_path: Path) -> None:
    board_or_skip("qemu_pulp")
    layers = (Layer("wide", (1, 64, 13, 13), (4, 64, 13, 13)), SMALL, Layer("dense", (3, 900), (900, 5)))
    network = Network(np.random.default_rng(7))
    for layer in layers:
        network.add(layer)
    done = compiled(network.save(tmp_path / "layers.onnx"), "qemu_pulp", "always", 4096)
    assert {row.name for row in done.report.layers if row.instead_of} == {"wide", "dense"}
    assert done.report.memory["l1"].worst_case <= 4096
    (tmp_path / "project").mkdir()
    write(done, tmp_path / "project")
    np.savez(tmp_path / "feeds.npz", allow_pickle=False, **network.feeds("random"))
    asked = RunOptions(inputs=tmp_path / "feeds.npz")
    report = run_model(done, load_target("qemu_pulp"), asked, tmp_path / "project")
    assert report.run is not None
    assert report.run.match
    assert "hardware" in report.run.fences


def test_the_command_line_tells_the_slow_layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(model(tmp_path, WIDE, SMALL))
    words = ["compile", source, "-t", "gvsoc_pulp_open", "-o", str(tmp_path / "out")]
    assert main([*words, "--fall-back", "never"]) == 4
    assert "smallest that fits: l1=" in capsys.readouterr().err
    assert main([*words, "--explain"]) == 0
    told = capsys.readouterr().out
    assert "TiledConvI8 of pulp: its smallest tile takes 173,080 bytes and 'l1' has 65,536" in told
    assert "SLOW: 'wide' runs whole" in told
