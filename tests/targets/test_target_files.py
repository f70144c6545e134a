"""Targets are folders of data: read, found by name or path, and refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from tilewright.errors import PlatformError, UsageError
from tilewright.platform import MemoryLevel
from tilewright.plugins import platform
from tilewright.sizes import parse_size
from tilewright.target import Target, all_targets, known_targets, load_target, missing_tools, with_sizes

BOARD = """
name = "my_board"
platform = "generic"
summary = "A board of the user's own"
[memory.flash]
address = 0x0
size = "256K"
readonly = true
[memory.ram]
address = 0x20000000
size = 16384
[build]
compilers = ["arm-none-eabi-gcc"]
cpu_flags = ["-mcpu=cortex-m0", "-mthumb"]
compile_flags = ["-O2"]
[tools]
arm-none-eabi-gcc = "gcc-arm-none-eabi"
no-such-simulator = "simulator-package"
[run]
simulator = "qemu"
command = ["no-such-simulator", "{elf}"]
[stack]
size = "2K"
"""


def board(tmp_path: Path, text: str) -> Target:
    (tmp_path / "target.toml").write_text(text)
    return load_target(tmp_path)


def test_a_board_anywhere(tmp_path: Path) -> None:
    target = board(tmp_path, BOARD)
    assert target.name == "my_board"
    assert target.memories["flash"].readonly
    assert target.memories["flash"].size == 256 * 1024
    assert target.memories["ram"].address == 0x20000000
    assert target.memories["ram"].size == 16384
    assert target.stack_bytes == 2048
    assert target.flags == ("-mcpu=cortex-m0", "-mthumb", "-O2")
    assert target == load_target(str(tmp_path))
    assert missing_tools(target) == (("no-such-simulator", "simulator-package"),)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "my_board"', 'name = "My Board"', "field 'name' is wrong: 'My Board' is no lower-case identifier"),
        ('platform = "generic"', "", "field 'platform' is wrong: it is missing"),
        ('size = "256K"', 'size = "many"', r"field 'memory.flash.size' is wrong: 'many' is no size"),
        ('size = "256K"', 'size = "64iB"', r"field 'memory.flash.size' is wrong: '64iB' is no size"),
        ("size = 16384", "size = -1", r"field 'memory.ram.size' is wrong: -1 is not a whole number"),
        ("0x20000000", "0x1000", r"field 'memory.ram.address' is wrong: it lies inside memory 'flash'"),
        ("readonly = true", 'readonly = "yes"', "field 'memory.flash.readonly' is wrong: 'yes' is neither true nor"),
        ("[stack]", "[stak]", "field 'stak' is wrong: there is no such field; known are"),
        ("cpu_flags", "cpu_flag", r"field 'build.cpu_flag' is wrong: there is no such field"),
        ("compilers = [", "compilers = [1, ", r"field 'build.compilers' is wrong: it is no list of texts"),
        (
            'simulator = "qemu"',
            'simulator = "spice"',
            "'spice' is none of 'native', 'qemu', 'gvsoc', 'cuda' and 'none'",
        ),
        ('"{elf}"', '"elf"', r"field 'run.command' is wrong: no word holds \{elf\}"),
        ("[run]", "[run", "is not valid TOML"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in BOARD
    with pytest.raises(PlatformError, match=message):
        board(tmp_path, BOARD.replace(old, new))


def test_unknown_targets_list_the_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown target 'pdp11': known are .*host"):
        load_target("pdp11")
    with pytest.raises(UsageError, match=r"the folder has no target.toml"):
        load_target(tmp_path)


def test_every_shipped_target_is_complete() -> None:
    assert "host" in known_targets()
    for target in all_targets():
        assert target.folder.name == target.name
        assert target.compilers
        assert set(target.compilers) <= set(target.tools)
        assert {platform(target.platform).compute_in, platform(target.platform).constants_in} <= set(target.memories)
        for name in (*target.startup, *([target.link_script] if target.link_script else [])):
            assert target.file(name).is_file()


@pytest.mark.parametrize("name", [name for name in known_targets() if "-m" in load_target(name).command])
def test_the_machine_holds_as_much_as_its_levels_may_be_set_to(name: str) -> None:
    target = load_target(name)
    machine_bytes = parse_size(target.command[target.command.index("-m") + 1])
    assert machine_bytes is not None
    for memory in target.memories.values():
        most = max(memory.size or 0, memory.most or 0)
        assert memory.address + most <= 0x80000000 + machine_bytes
        assert with_sizes(target, [MemoryLevel(memory.level, size=most)]).memories[memory.level].size == most


def test_weights_of_32_mib_have_room_in_the_third_memory() -> None:
    sized = with_sizes(load_target("qemu_pulp_l3"), [MemoryLevel("l3", size=32 << 20)])
    assert sized.memories["l3"].size == 32 << 20
