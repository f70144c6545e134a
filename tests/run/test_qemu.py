"""The hand-made project on every simulated board: outputs, dumps, exact counts, and faults that both fences name."""

from __future__ import annotations

import dataclasses
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tilewright.codegen.interface import Interface
from tilewright.errors import DoesNotFit, FenceError, TilewrightError, ToolMissing, UsageError
from tilewright.run.build import build
from tilewright.run.fence import FenceMap, FenceRange
from tilewright.run.image import Image
from tilewright.run.simulate import DumpEntry, execute
from tilewright.target import known_targets, load_target, missing_tools

TINY = Path(__file__).parent / "tiny"
CALLED = Interface("tiny", inputs=(16,), outputs=(64,), arena_bytes=96)
WEIGHTS = np.array([1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16], np.int8)
X = np.arange(16, dtype=np.int8)
SUM = (X + WEIGHTS).astype(np.int8)
Y = np.cumsum(SUM.astype(np.int32), dtype=np.int32)
FENCE = FenceMap(
    (
        FenceRange(0, "x", 0, 16, False),
        FenceRange(0, "weights", 0, 16, False, symbol="tiny_weights"),
        FenceRange(0, "s", 16, 16, True),
        FenceRange(1, "s", 16, 16, False),
        FenceRange(1, "y", 32, 64, True),
    ),
    ("add", "sum"),
)
BOARDS = tuple(name for name in known_targets() if name.startswith("qemu_"))
ONE_PER_FAMILY = ("qemu_rv32imc", "qemu_mps2_an386")
ONE_PER_PROTECTION = (*ONE_PER_FAMILY, "qemu_mps2_an505")  # PMP, MPU of ARMv7-M, MPU of ARMv8-M


class Images:
    """Builds an image once for all tests that ask for the same."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known: dict[tuple[str, str, bool, bool], Image] = {}

    def __call__(self, board: str, fault: str = "", *, trace: bool = False, fence: bool = False) -> Image:
        target = load_target(board)
        for tool, _ in missing_tools(target):
            pytest.skip(f"{tool} is not installed")
        key = (board, fault, trace, fence)
        if key not in self.known:
            flags = [f"-DFAULT_{fault}"] if fault else []
            work = self.folder / str(len(self.known))
            self.known[key] = build(TINY, CALLED, target, work, trace=trace, fence=fence, extra_flags=flags)
        return self.known[key]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    folder = tmp_path_factory.mktemp("boards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWRIGHT_CACHE", str(folder))
        yield Images(folder)


@pytest.mark.parametrize("board", ONE_PER_FAMILY)
def test_a_loader_writes_no_more_into_flash_than_the_image_holds(board: str, image: Images) -> None:
    """QEMU clears the rest of a segment where it loads it: behind the constants that would reach round the flash."""
    data = image(board).path.read_bytes()
    (start,), (size, count) = struct.unpack_from("<I", data, 28), struct.unpack_from("<2H", data, 42)
    for at in range(start, start + size * count, size):
        kind, _, virtual, physical, held, taken = struct.unpack_from("<6I", data, at)
        assert kind != 1 or virtual == physical or held == taken


@pytest.mark.parametrize("board", BOARDS)
def test_every_board_computes_counts_and_passes_both_fences(board: str, image: Images) -> None:
    plain = image(board)
    split = "ram" in load_target(board).memories  # a cluster's L2 holds both
    ram, flash = ("ram", "flash") if split else ("l2", "l2")
    done = execute(plain, [X.tobytes()], count=True)
    assert done.outputs == (Y.tobytes(),)
    assert done.counts is not None
    assert done.counts.instructions == sum(done.counts.functions.values()) == sum(done.counts.harts)
    assert set(done.counts.functions) >= {"tiny_run"}
    assert done.counts.stored_bytes[ram] >= 16 + 64
    assert done.counts.loaded_bytes[flash] >= 16
    assert plain.stack is not None
    assert plain.stack.proved
    assert done.stack_bytes is not None
    assert done.stack_bytes <= plain.stack.size_bytes
    assert (plain.sizes.rodata_bytes, plain.sizes.ram_bytes) == (16, 96)

    traced = image(board, trace=True, fence=True)
    dumped = execute(traced, [X.tobytes()], dump=[DumpEntry(0, "s", 16, 16), DumpEntry(1, "y", 32, 64)])
    assert [dump.data for dump in dumped.dumps] == [SUM.tobytes(), Y.tobytes()]
    layers = execute(traced, [X.tobytes()], count=True).counts
    assert layers is not None
    assert [layer.instruction for layer in layers.layers] == [0, 1]
    assert 0 <= layers.instructions - done.counts.instructions <= 20
    assert layers.layers[1].stored_bytes[ram] >= 64
    assert execute(traced, [X.tobytes()], fence=FENCE).outputs == (Y.tobytes(),)


@pytest.mark.parametrize("board", ONE_PER_FAMILY)
@pytest.mark.parametrize(
    ("fault", "message", "where"),
    [
        ("PAST_END", r"'add' of 'tiny' wrote 1 byte at 0x\w+ .* the first byte behind 's', in 'y'", ("add", "s")),
        ("OFFSET", r"layer 1 'sum' of 'tiny' read 1 byte at 0x\w+ .* 4 bytes before 's', in 'x'", ("sum", "s")),
        ("READ_BYTE", r"'sum' of 'tiny' read 1 byte at 0x\w+ .* the first byte behind 'y'", ("sum", "y")),
        ("CONSTANT", r"'tiny_weights' \+ 3, inside 'weights', which it may only read", ("add", "weights")),
        ("STACK", r"layer 0 'add' of 'tiny' wrote .*the stack overran its end by \d+ bytes", ("add", "")),
    ],
)  # fmt: skip
def test_the_software_fence_names_layer_and_buffer(
    board: str, fault: str, message: str, where: tuple[str, str], image: Images
) -> None:
    with pytest.raises(FenceError, match=message) as info:
        execute(image(board, fault, trace=True), [X.tobytes()], fence=FENCE)
    assert (info.value.where.node, info.value.where.tensor) == where


def test_the_end_of_a_word_may_be_read_where_the_compiler_copies_by_words(image: Images) -> None:
    short = dataclasses.replace(FENCE, ranges=(*FENCE.ranges[:3], FenceRange(1, "s", 16, 13, False), FENCE.ranges[4]))
    arm = image("qemu_mps2_an386", "READ_WORD", trace=True)
    assert arm.target.whole_word_loads
    execute(arm, [X.tobytes()], fence=short)
    for board in ONE_PER_FAMILY:
        with pytest.raises(FenceError, match=r"read 1 byte at 0x\w+ .* the first byte behind 's'"):
            execute(image(board, trace=True), [X.tobytes()], fence=short)
    with pytest.raises(FenceError, match=r"read 3 bytes at 0x\w+ .* the first byte behind 's'"):
        execute(image("qemu_rv32imc", "READ_WORD", trace=True), [X.tobytes()], fence=short)


@pytest.mark.parametrize("board", ONE_PER_PROTECTION)
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "CONSTANT",
            r"layer 0 of 'tiny' .*forbidden memory at 0x\w+ in tiny_add.*the constants 'tiny_weights' \+ 3",
        ),
        ("STACK", r"layer 0 of 'tiny' .*forbidden memory at 0x\w+.*: the stack overran its end by \d+ bytes"),
    ],
)
def test_the_core_stops_forbidden_accesses(board: str, fault: str, message: str, image: Images) -> None:
    with pytest.raises(FenceError, match=message):
        execute(image(board, fault, trace=True, fence=True), [X.tobytes()])


@pytest.mark.parametrize("board", [board for board in BOARDS if load_target(board).icount_shift is not None])
def test_two_ways_of_counting_agree(board: str, image: Images) -> None:
    built = image(board)
    exact = execute(built, [X.tobytes()], count=True).counts
    without_plugin = dataclasses.replace(built, target=dataclasses.replace(built.target, plugin=False))
    clock = execute(without_plugin, [X.tobytes()], count=True).counts
    assert exact is not None
    assert clock is not None
    assert clock.instructions == exact.instructions
    assert (clock.counter, clock.layers, exact.counter) == ("icount", (), "plugin")


def test_a_simulator_without_the_plugin_cannot_fence(image: Images) -> None:
    traced = image("qemu_rv32imc", trace=True)
    without_plugin = dataclasses.replace(traced, target=dataclasses.replace(traced.target, plugin=False))
    with pytest.raises(UsageError, match="cannot fence"):
        execute(dataclasses.replace(traced, target=without_plugin.target), [X.tobytes()], fence=FENCE)


def test_the_plugin_is_built_once_per_cache(image: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    built = image("qemu_rv32imc")
    execute(built, [X.tobytes()], count=True)
    (library,) = (tmp_path / "cache").iterdir()
    stamp = library.stat().st_mtime_ns
    execute(built, [X.tobytes()], count=True)
    assert library.stat().st_mtime_ns == stamp


def test_an_endless_loop_on_a_board_is_stopped(image: Images) -> None:
    with pytest.raises(TilewrightError, match=r"did not finish on target 'qemu_rv32imc': it was stopped after 1 s"):
        execute(image("qemu_rv32imc", "FOREVER"), [X.tobytes()], timeout=1)


def test_a_missing_simulator_is_named_with_its_package(image: Images) -> None:
    built = image("qemu_rv32imc")
    tools = {"no-such-qemu": "qemu-system-misc"}
    without = dataclasses.replace(built.target, command=("no-such-qemu", "{elf}"), tools=tools)
    with pytest.raises(ToolMissing, match=r"no-such-qemu is not installed: .* the Debian package 'qemu-system-misc'"):
        execute(dataclasses.replace(built, target=without), [X.tobytes()])


def test_a_missing_c_library_is_named_with_its_package(image: Images, tmp_path: Path) -> None:
    target = image("qemu_rv32imc").target
    without = dataclasses.replace(
        target, library_flags=("--specs=absent.specs",), libraries={"absent.specs": "picolibc-riscv64-unknown-elf"}
    )
    with pytest.raises(ToolMissing, match=r"absent.specs is not installed: .* package 'picolibc-riscv64-unknown-elf'"):
        build(TINY, CALLED, without, tmp_path)


def test_a_board_of_the_users_own_that_is_too_small(image: Images, tmp_path: Path) -> None:
    image("qemu_mps2_an386")
    board = tmp_path / "board"
    shutil.copytree(load_target("qemu_mps2_an386").folder, board)
    text = (board / "target.toml").read_text()
    (board / "target.toml").write_text(text.replace('0x20000000\nsize = "4M"', '0x20000000\nsize = "8K"'))
    with pytest.raises(DoesNotFit, match=r"ram is \d+ bytes too small.*'--set' makes no memory larger") as info:
        build(TINY, CALLED, load_target(str(board)), tmp_path / "work")
    assert 8192 < info.value.smallest["ram"] < 16384
