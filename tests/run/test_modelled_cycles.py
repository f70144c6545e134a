"""Modelled cycles: the manual's own examples, the pieces of a listing, and a network on simulated cores."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tilewright.compile import compile_model, run_model, write
from tilewright.errors import PlatformError
from tilewright.options import CompileOptions, RunOptions
from tilewright.report.build import Report
from tilewright.run.cycles import FOLDER, cycles_of, load_model, read_listing, read_model, registers
from tilewright.target import load_target

M4, RISCV = "qemu_mps2_an386", "qemu_rv32imc"


def listed(code: str) -> str:
    """Lines of assembler as objdump would show them, four bytes each."""
    lines = [line.strip() for line in code.split(";")]
    return "\n".join(f"    {4 * i:x}:\t0000 0000 \t{line.replace(' ', chr(9), 1)}" for i, line in enumerate(lines))


def total(core: str, code: str) -> int:
    model = read_model(FOLDER / f"{core}.toml")
    return sum(cycles for _, cycles in cycles_of(model, read_listing(listed(code))))


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        ("ldr r0, [r1]; ldr r1, [r2]", 3),
        ("ldr r0, [r1, r2]; str r0, [r3, #20]", 3),
        ("ldr r0, [r1, r5]; ldr r1, [r2]; ldr r2, [r3, #4]", 4),
        ("ldr r0, [r1]; ldr r2, [r0]", 4),
        ("add r1, r2, r3; ldr r0, [r1]", 4),
        ("add.w r1, r2, r3; ldr.w r0, [r4]", 3),
        ("cmp r1, r2; ldr r0, [r1]", 3),
        ("ldrd r0, r1, [r2], #8; ldrd r4, r5, [r2], #8", 6),
        ("ldmia r0!, {r1, r2, r4-r7}", 7),
        ("push {r4, r5, lr}", 4),
        ("smlad r0, r1, r2, r0; smmla r0, r1, r2, r3; ssat r0, #8, r0", 3),
        ("ldrne r0, [r1]; bne.n 0", 3),
        ("vldr s0, [r0]; vfma.f32 s1, s2, s3; vmul.f32 s1, s2, s3", 6),
        ("vldmia r0!, {s0-s3}; vldmia r0!, {d0-d1}", 10),
        ("vdiv.f32 s0, s1, s2; sdiv r0, r1, r2", 26),
        ("ldr r0, [r1, r2]; str r1, [r3, r2]", 3),
        ("str r0, [r1, r2]; str r0, [r1, #4]; strb r0, [r1], #1", 4),
        ("tbb [pc, r0]; ldr pc, [r1, #4]", 7),
        ("smull r0, r1, r2, r3; mla r0, r1, r2, r3; smlad r0, r1, r2, r3", 3),
        ("vldr d0, [r0]; vstr s0, [r0]; vldr.64 d0, [r0]", 8),
        ("vpush {d8-d9}; vmov r0, r1, d0; vmov r0, s0", 8),
        ("vadd.f32 s0, s1, s2; vmul.f32 s3, s0, s0; vstr s3, [r0]", 6),
        ("vfma.f32 s0, s1, s2; vfma.f32 s0, s3, s4; vfma.f32 s5, s0, s6", 10),
        ("vfma.f32 s2, s1, s7; vstmia r0, {s1-s3}; vcmp.f32 s2, s1", 9),
    ],
)
def test_the_manual_of_the_m4(code: str, cycles: int) -> None:
    assert total("cortex_m4", code) == cycles


@pytest.mark.parametrize(
    ("core", "code", "cycles"),
    [
        ("cortex_m3", "smull r0, r1, r2, r3; mla r0, r1, r2, r3; mul r0, r1, r2", 8),
        ("cortex_m3", "umlal r0, r1, r2, r3; udiv r0, r1, r2; tbh [pc, r0, lsl #1]", 23),
        ("cortex_m3", "ldr r0, [r1, r2]; str r1, [r3, r2]; str r0, [r1, r2]; ldrex r0, [r1]", 7),
        ("cortex_m3", "push {r4, lr}; pop {r4, pc}; mrs r0, PRIMASK", 8),
        ("cortex_m0", "ldr r0, [r1]; ldr r1, [r2]; muls r0, r1; str r0, [r1]", 7),
        ("cortex_m0", "push {r4, lr}; pop {r4}; pop {r4, pc}", 9),
        ("cortex_m0", "bl 0; beq 0; bics r0, r1; mrs r0, PRIMASK; wfi", 10),
        ("ibex", "lb a0,0(a1); mul a0,a0,a1; mulh a0,a0,a1; sw a0,0(a1); add a0,a0,a1", 8),
        ("ibex", "divu a0,a0,a1; bnez a0,0; jal 0; csrr a0,mcycle; fence.i", 42),
    ],
)
def test_other_cores(core: str, code: str, cycles: int) -> None:
    assert total(core, code) == cycles


def test_every_table_names_its_source_and_its_limits() -> None:
    for file in FOLDER.glob("*.toml"):
        model = read_model(file)
        assert re.search(r"Arm|lowRISC", model.source)
        assert "wait state" in model.limits or "one cycle" in model.limits


def test_the_pieces_of_a_listing() -> None:
    text = "00000000 <f>:\n   0:\tb5f0      \tpush\t{r4, r5, r6, r7, lr}\n   2:\tf851 0b04 \tldr.w\tr0, [r1], #4\n"
    text += "   6:\t12345678 \t.word\t0x12345678\n   a:\t4770      \tbx\tlr\n"
    first, second, third = read_listing(text)
    assert (first.mnemonic, first.size_bytes, registers(first.operands)) == ("push", 2, 5)
    assert (second.mnemonic, second.address, second.end) == ("ldr", 2, 6)
    assert third.mnemonic == "bx"


def on_board(network: Callable[[str], Any], target: str, folder: Path) -> Report:
    loaded = load_target(target)
    compiled = compile_model(network("digits_int8").model, CompileOptions(), loaded)
    folder.mkdir()
    write(compiled, folder)
    return run_model(compiled, loaded, RunOptions(profile=True, reference=False), folder)


def test_a_network_in_cycles(network: Callable[[str], Any], tmp_path: Path) -> None:
    for board, least, most in ((M4, 1.2, 1.7), (RISCV, 1.2, 1.7)):
        report = on_board(network, board, tmp_path / board)
        assert report.run is not None
        assert report.run.instructions is not None
        assert report.run.modelled_cycles is not None
        assert least < report.run.modelled_cycles / report.run.instructions < most
        layers = [layer.core_cycles or 0 for layer in report.layers]
        assert 0.95 < sum(layers) / report.run.modelled_cycles < 1.05


def test_wait_states_of_flash_are_a_field_of_the_target(network: Callable[[str], Any], tmp_path: Path) -> None:
    folder = tmp_path / "board"
    folder.mkdir()
    text = (load_target(M4).folder / "target.toml").read_text(encoding="utf-8")
    (folder / "target.toml").write_text(text.replace("[timing]", "[timing]\nflash_wait_states = 5"), encoding="utf-8")
    fast, slow = on_board(network, M4, tmp_path / "fast").run, on_board(network, str(folder), tmp_path / "slow").run
    assert fast is not None
    assert slow is not None
    assert fast.instructions == slow.instructions
    assert (slow.modelled_cycles or 0) > (fast.modelled_cycles or 0)
    assert slow.cycle_model.startswith("Cortex-M4, 5 wait states of flash")


def test_a_core_without_a_table(tmp_path: Path) -> None:
    assert load_model(load_target("qemu_mps2_an500")) is None
    text = (load_target(M4).folder / "target.toml").read_text(encoding="utf-8")
    (tmp_path / "target.toml").write_text(text.replace('core = "cortex_m4"', 'core = "z80"'), encoding="utf-8")
    with pytest.raises(
        PlatformError, match="names the core 'z80': there is no table of its cycles; known are cortex_m0"
    ):
        load_model(load_target(str(tmp_path) + "/"))
