"""Loads and stores of lists of registers of the floating-point unit, which pypcode lifts wrongly or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tilewright.codegen.interface import Interface
from tilewright.errors import UnsupportedError
from tilewright.prove.book import Book
from tilewright.prove.machine.gave_up import GaveUp
from tilewright.prove.machine.memory import Memory
from tilewright.prove.machine.program import Program
from tilewright.prove.machine.run import Budget, Machine
from tilewright.run.build import build
from tilewright.run.image import Image
from tilewright.run.register_lists import RegisterList, refused_list, register_list
from tilewright.run.simulate import execute
from tilewright.target import load_target, missing_tools
from tilewright.timing.bound import Analysis

pytest.importorskip("pypcode")
SOURCE = Path(__file__).parent / "lists"
CALLED = Interface("lists", inputs=(4,), outputs=(4,), arena_bytes=264)
BOARD = "qemu_mps2_an386"


def image(registers: str, words: int, folder: Path, *flags: str) -> Image:
    target = load_target(BOARD)
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    macros = (f"-DREGISTERS={registers}", f"-DWORDS={words}", *flags)
    return build(SOURCE, CALLED, target, folder, extra_flags=("-g1", *macros))


@pytest.mark.parametrize(
    ("registers", "words"),
    [
        ("s4-s5", 2),
        ("s3-s18", 16),
        ("s0-s18", 19),
        ("s0-s21", 22),
        ("s1-s31", 31),
        ("s0-s31", 32),
        ("d2-d4", 6),
        ("d0-d15", 32),
    ],
)
def test_what_went_through_a_list_is_known(registers: str, words: int, tmp_path: Path) -> None:
    built = image(registers, words, tmp_path)
    counts = execute(built, [bytes(4)], more=[[bytes(4)]], count=True).counts
    assert counts is not None
    cost = Analysis(built).bound().cost
    assert (cost.least, cost.most) == (counts.calls[0],) * 2


def test_a_long_list_under_a_condition_is_refused_by_its_name_and_line(tmp_path: Path) -> None:
    built = image("s0-s21", 22, tmp_path, "-DCONDITION")
    sentence = r"'vldmia of 22 registers' in lists_run \(lists\.c:\d+\) is not modelled"
    with pytest.raises(UnsupportedError, match=sentence):
        Analysis(built).bound()


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("b0ec160a", RegisterList(True, 0, 0, 22, 4, False, True)),  # vldmia r0!, {s0-s21}
        ("d1ec027a", RegisterList(True, 1, 15, 2, 4, False, False)),  # vldmia r1, {s15-s16}
        ("2ded200a", RegisterList(False, 13, 0, 32, 4, True, True)),  # vpush {s0-s31}
        ("bdec108b", RegisterList(True, 13, 8, 8, 8, False, True)),  # vpop {d8-d15}
        ("90ed000a", None),  # vldr s0, [r0]
        ("51ec100b", None),  # vmov r0, r1, d0
        ("70470000", None),  # bx lr
    ],
)
def test_lists_are_read_from_their_code(code: str, found: RegisterList | None) -> None:
    assert register_list(bytes.fromhex(code)) == found


def test_only_long_lists_are_kept_from_the_library() -> None:
    conditional = bytes.fromhex("18bf90ec160a")  # it ne, vldmiane r0, {s0-s21}
    assert refused_list(conditional, 1) is None
    assert refused_list(conditional, 2) == RegisterList(True, 0, 0, 22, 4, False, False)
    assert refused_list(bytes.fromhex("90ec100a"), 1) is None  # vldmia r0, {s0-s15}


def test_a_store_below_under_a_condition_is_kept_from_the_library() -> None:
    conditional = bytes.fromhex("18bf2ded020a")  # it ne, vpushne {s0-s1}
    assert refused_list(conditional, 2) == RegisterList(False, 13, 0, 2, 4, True, True)


@pytest.mark.parametrize(
    ("registers", "words"), [("s4-s5", 2), ("s3-s18", 16), ("s0-s21", 22), ("d2-d4", 6), ("d0-d15", 32)]
)
def test_a_prover_moves_lists_as_the_core_does(registers: str, words: int, tmp_path: Path) -> None:
    built = image(registers, words, tmp_path)
    program = Program(built.path)
    book = Book()
    memory = Memory(program.regions, book.keep, book.left_over)
    machine = Machine(program, memory, Budget(1 << 20))
    machine.call("lists_run")
    (output,) = execute(built, [bytes(4)]).outputs
    assert memory.load(program.labels["arena"] + 4, 4) == int.from_bytes(output, "little")


def test_a_prover_gives_a_list_under_a_condition_up(tmp_path: Path) -> None:
    program = Program(image("s0-s21", 22, tmp_path, "-DCONDITION").path)

    def whole_function() -> None:
        at = program.address("lists_run")
        while True:
            at = program.lift(at).next

    with pytest.raises(GaveUp, match=r"the vldmia of 22 registers at 0x[0-9a-f]+ is not lifted"):
        whole_function()
