"""Chips and cores are data: each is read, planned for its own memories, and simulated by a board with its core."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tilewright.cli import main
from tilewright.errors import PlatformError, UsageError
from tilewright.platform import MemoryLevel
from tilewright.plugins import platform
from tilewright.target import chips as tables
from tilewright.target import known_chips, known_cores, known_targets, load_target, missing_tools, with_sizes

DIGITS = "tests/models/digits_int8/model.onnx"
CHIP = """
[part_one]
part = "One"
core = "cortex-m4f"
flash = { address = 0x08000000, size = "64K" }
ram = { address = 0x20000000, size = "16K" }
source = "a data sheet"
"""


def test_every_chip_has_the_levels_of_its_platform_and_a_source() -> None:
    assert len(known_chips()) >= 40
    for chip in known_chips().values():
        target = load_target(chip.name)
        assert target.simulated_by in known_targets()
        assert {level.name for level in platform(target.platform).memory} <= set(target.memories)
        assert chip.source
        assert all(target.memories[level].size == memory.size for level, memory in chip.memories.items())


@pytest.mark.parametrize("name", known_cores())
def test_a_core_alone_is_a_target(name: str) -> None:
    target, board = load_target(name), load_target(known_cores()[name].boards[-1])
    assert (target.name, target.simulated_by, target.memories) == (name, board.name, board.memories)


def test_addresses_in_silicon_are_told_and_those_of_the_board_are_linked() -> None:
    assert known_chips()["stm32f407"].memories["flash"].address == 0x08000000
    target = load_target("stm32f407")
    assert target.memories["flash"].address == load_target(target.simulated_by).memories["flash"].address
    assert (target.memories["flash"].size, target.memories["ram"].size) == (1 << 20, 128 << 10)
    assert (target.flash_wait_states, target.core) == (5, "cortex_m4")


def test_a_chip_with_more_memory_than_its_board_is_planned_for_its_own() -> None:
    target = load_target("ra8m1")
    assert target.memories["ram"].size == 896 << 10
    sized = with_sizes(target, [MemoryLevel("ram", size=896 << 10)])
    assert sized.memories["ram"].size == load_target(target.simulated_by).memories["ram"].size


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"cortex-m4f"', '"cortex-m9"', "field 'part_one.core' is wrong: 'cortex-m9' is none of cortex-m0, "),
        ('size = "16K"', 'size = "16Q"', "field 'part_one.ram.size' is wrong: '16Q' is no size"),
        (', size = "16K"', "", "field 'part_one.ram.size' is wrong: it is missing"),
        ("source", "sauce", "field 'part_one.sauce' is wrong: there is no such field; known are"),
        ('source = "a data sheet"', "", "field 'part_one.source' is wrong: it is missing"),
        ("[part_one]", "[stm32f407]", "field 'stm32f407' is wrong: it is described twice"),
    ],
)
def test_a_wrong_field_of_a_table_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, message: str
) -> None:
    assert old in CHIP
    for table in tables.chips_folder().glob("*.toml"):
        (tmp_path / table.name).write_text(table.read_text())
    (tmp_path / "zz.toml").write_text(CHIP.replace(old, new))
    monkeypatch.setattr(tables, "chips_folder", lambda: tmp_path)
    tables.known_chips.cache_clear()
    try:
        with pytest.raises(PlatformError, match=message):
            tables.known_chips()
    finally:
        tables.known_chips.cache_clear()


@pytest.mark.parametrize(
    ("wrong", "near"), [("stm32f4007", "stm32f407"), ("cortex-m4fp", "cortex-m4f"), ("hots", "host")]
)
def test_a_name_that_is_nearly_right(wrong: str, near: str) -> None:
    with pytest.raises(UsageError, match=rf"no board, chip or core has that name; did you mean '{near}'"):
        load_target(wrong)


def test_the_chips_that_hold_a_network_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "--fits", DIGITS, "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) == len(known_chips())
    fits = [row["fits"] for row in rows]
    assert fits == sorted(fits, reverse=True)
    assert all(row["fits"] == all(size >= 0 for size in row["left"].values()) for row in rows)
    assert main(["check", DIGITS, "-t", "nrf52840", "--json", "-"]) == 0
    memory = json.loads(capsys.readouterr().out)["rows"][0]["memory"]
    left = next(row["left"] for row in rows if row["chip"] == "nrf52840")
    assert left["ram"] == (256 << 10) - memory["ram"]["total"]


@pytest.mark.skipif(bool(missing_tools(load_target("rp2040"))), reason="the tools of qemu_mps2_an385 are not installed")
def test_a_chip_runs_on_the_board_that_stands_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", DIGITS, "-t", "rp2040"]) == 0
    assert "simulated by qemu_mps2_an385, with the memory of the chip" in capsys.readouterr().out
