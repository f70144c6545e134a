"""docs/league.md is what its generator prints from the record; every network of the record plays in the league."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import league_page
import pytest
from league import played
from league_networks.catalogue import league, ready
from league_record import Cell, Layer, Part, Record, read
from tilewright.target import load_target, missing_tools

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_the_generators() -> None:
    record = read(DOCS / "league.json")
    assert (DOCS / "league.md").read_text() == league_page.page(record)
    assert (DOCS / "league.json").read_text() == record.text()
    assert set(record.cells) <= set(league())
    assert all(cell.refused or cell.count for _, cell in record.of("qemu_mps2_an386"))


def test_the_page_names_what_is_slower_on_the_larger_core_and_what_is_dear() -> None:
    record = Record()
    slow = Layer("Add_1", "Add", "RealCodes", 1_500, 0, 10, True)
    record.put("net", league_page.SMALL, Cell(10, 20, 2_000, 0, True, 0, (slow,)))
    record.put("net", league_page.LARGE, Cell(10, 20, 1_000, 0, False, 0, ()))
    assert league_page.cores(record).endswith("for: none")
    record.put("net", league_page.LARGE, Cell(10, 20, 2_001, 0, False, 0, ()))
    assert league_page.cores(record).endswith("for: net (0.002 against 0.002)")
    (loss,) = league_page.dear(record, league_page.SMALL)
    assert (loss.kernel, loss.above) == ("RealCodes", 1_400)
    assert "150.0 a result: `Add_1` of net" in league_page.page(record)
    assert "**no**" in league_page.page(record)


def test_several_nodes_owe_what_each_of_them_owes_and_hide_none(tmp_path: Path) -> None:
    """Figures are 1.6 a product, 10 a result; the sum of both nodes is due, and one is looked at by its estimate."""
    conv = Part("Conv_1", "Conv", "ConvFpu", 1_000, 100, False, 1_500)
    sigmoid = Part("Sigmoid_0", "Sigmoid", "FunctionsFpu", 0, 100, False, 500)

    def named(count: int, *parts: Part) -> list[tuple[str, int]]:
        record = Record()
        layer = Layer("Sigmoid_0 + Conv_1", "Chain", "RowChain", count, 1_000, 100, False, parts)
        record.put("net", league_page.SMALL, Cell(10, 20, 9_000, 0, True, 0, (layer,)))
        (tmp_path / "league.json").write_text(record.text())
        assert read(tmp_path / "league.json") == record
        assert ("times the figures of its nodes" in league_page.page(record)) == (bool(parts) and count >= 5_200)
        return [(loss.kernel, loss.above) for loss in league_page.dear(record, league_page.SMALL)]

    assert named(2_500, conv, sigmoid) == []
    assert named(2_500) == [("RowChain", 900)]
    assert named(3_000, conv, sigmoid) == [("RowChain", 400)]
    assert named(6_000, conv, sigmoid) == [("RowChain", 3_400), ("ConvFpu", 2_900)]
    assert named(2_600, replace(conv, estimated=100), sigmoid) == [("FunctionsFpu", 1_167)]


def test_a_network_that_is_too_large_is_told_before_it_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = load_target("qemu_mps2_an386")
    flash = replace(board.memories["flash"], size=8_000)
    small = replace(board, memories={**board.memories, "flash": flash})
    monkeypatch.setattr("league.load_target", lambda name: small)
    network = ready("wake_word_int8", tmp_path)
    assert network is not None
    assert "does not fit on 'qemu_mps2_an386': flash needs" in played(network, small.name).refused


def test_a_drawn_network_plays(tmp_path: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    network = ready("wake_word_int8", tmp_path)
    assert network is not None
    cell = played(network, "host_x86_64_v3")
    assert cell.equal
    assert not cell.refused
    assert cell.products > 100_000
    assert sum(layer.count for layer in cell.layers) > cell.count // 2


def test_layers_that_run_tile_by_tile_are_one_with_their_products(tmp_path: Path) -> None:
    """On PULP the last layer of a chain runs all of it: their cycles are not the last one's alone."""
    if missing_tools(target := load_target("qemu_pulp")):
        pytest.skip(f"no tools for {target.name}")
    network = ready("keywords_int8", tmp_path)
    assert network is not None
    cell = played(network, "qemu_pulp")
    (chain,) = (layer for layer in cell.layers if layer.op == "Chain")
    assert " to " in chain.name
    assert chain.products == sum(part.products for part in chain.parts) > 0
    assert sum(layer.products for layer in cell.layers) <= cell.products
