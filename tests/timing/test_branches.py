"""Bounds of a hand-made program against every count that QEMU gives, and refusals of what cannot be followed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from struct import pack

import pytest
from tilewright.codegen.interface import Interface
from tilewright.errors import ToolMissing, UnsupportedError
from tilewright.run.build import build
from tilewright.run.image import Image
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools
from tilewright.timing import machine
from tilewright.timing.bound import Analysis
from tilewright.timing.flow_facts import ait, otawa

pytest.importorskip("pypcode")
SOURCE = Path(__file__).parent / "branches"
CALLED = Interface("branches", inputs=(8,), outputs=(4,), arena_bytes=32)
BOARDS = ("qemu_mps2_an386", "qemu_mps2_an385", "qemu_rv32imc")
EARLY = (b"\7\0\0\0", b"\0\7\0\0", b"\0\0\0\7", b"\0\0\0\0")
INPUTS = [
    bytes((first, second)) + early + bytes((chosen, last))
    for first, second, early, chosen, last in itertools.product(range(4), (0, 201), EARLY, range(8), (0, 201))
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("timing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWRIGHT_CACHE", str(place / "cache"))
        yield place


def image(board: str, folder: Path, *flags: str) -> Image:
    target = load_target(board)
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    return build(SOURCE, CALLED, target, folder / f"{board}{len(flags)}", extra_flags=("-g1", *flags))


@pytest.mark.parametrize("board", BOARDS)
def test_bounds_hold_every_count_and_a_known_input_is_exact(board: str, folder: Path) -> None:
    built = image(board, folder)
    counts = execute(built, [INPUTS[0]], more=[[one] for one in INPUTS[1:]], count=True).counts
    assert counts is not None
    arena, analysis = built.elf.symbol("arena"), Analysis(built)
    assert arena is not None
    bound = analysis.bound(again=True)
    assert 0 <= min(counts.calls) - bound.cost.least <= 6  # what a compiler makes of two branches may depend on both
    assert 0 <= bound.cost.most - max(counts.calls) <= 6
    assert sum(one.times for one in bound.places) > 5
    assert {one.line.file for one in bound.places if one.line is not None} == {"branches.c"}

    source = (SOURCE / "src" / "branches.c").read_text().splitlines()
    dead = {source[one.line.number - 1].strip() for one in bound.unreached if one.dead}
    assert dead == {"work[0] = x * 7;", "return x + work[0];"}
    assert {one.function for one in bound.unreached if one.dead} == {"never"}

    for number in (0, 13, 100):
        at = {arena.address: INPUTS[number]}
        cost = analysis.bound(at).cost
        assert (cost.least, cost.most) == (counts.calls[number],) * 2

    spin = max(one.most for one in bound.loops if one.function.startswith("spin"))
    assert spin == 14
    assert f" {spin};" in otawa(built.path, bound.loops)
    assert f"0..{spin};" in ait(built.path, bound.loops)


@pytest.mark.parametrize("board", ["qemu_mps2_an385", "qemu_microbit"])
def test_a_routine_of_floats_shifts_no_more_often_than_its_operands_have_bits(board: str, folder: Path) -> None:
    built = image(board, folder, "-DFLOATS")
    patterns = (0, 1, 0x400000, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000)
    drawn = [pack("<II", first, second) for first, second in itertools.product(patterns, patterns)]
    counts = execute(built, [drawn[0]], more=[[one] for one in drawn[1:]], count=True).counts
    bound = Analysis(built).bound().cost
    assert counts is not None
    assert bound.least <= min(counts.calls) < max(counts.calls) <= bound.most <= 1.5 * max(counts.calls)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("STORE", r"branches_run \(branches\.c:\d+\) writes to an address that data decide"),
        ("LOOP", r"branches_run \(branches\.c:\d+\) holds a loop whose end data decide"),
        ("RECURSION", r"deep\S* \(branches\.c:\d+\) calls itself"),
        ("INSTRUCTION", r"'svc' in branches_run \(branches\.c:\d+\) is not modelled"),
    ],
)
def test_what_cannot_be_followed_is_named(fault: str, sentence: str, folder: Path) -> None:
    built = image("qemu_mps2_an386", folder / fault, f"-DFAULT_{fault}", "-fno-optimize-sibling-calls", "-fno-inline")
    with pytest.raises(UnsupportedError, match=sentence):
        Analysis(built).bound(limit=100_000)


def test_a_machine_without_a_compiler_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_CACHE", raising=False)
    monkeypatch.setattr(machine, "plugin_compiler", lambda: None)
    with pytest.raises(ToolMissing, match=r"no C compiler for this machine: .* install the Debian package 'gcc'"):
        machine.build_engine(tmp_path)
