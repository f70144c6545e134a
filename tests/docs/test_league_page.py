"""docs/league.md is what its generator prints from the record; every network of the record plays in the league."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import league_page
import pytest
from league import played
from league_networks.catalogue import league, ready
from league_record import Cell, Layer, Record, read
from tilewright.target import load_target

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
