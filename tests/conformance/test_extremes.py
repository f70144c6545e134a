"""Every integer kernel at the ends of its types, on this machine and on simulated boards; a wrong bound is found."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from board_layers import board_or_skip
from tilewright.cli import main
from tilewright.conformance.author import Row, examine
from tilewright.conformance.boards import on_board
from tilewright.conformance.kernels import attempts
from tilewright.plugins import find_platforms, kernels_of
from tilewright.target import load_target


def rows(platform: str, board: str, folder: Path, part: str = "", beside: str = "") -> tuple[Row, ...]:
    """What the board's integer kernels do, those left out that the board `beside` has, too."""
    board_or_skip(board)
    chosen, target = find_platforms()[platform], load_target(board)
    other = {(k.name, k.op) for k in on_board(chosen, load_target(beside)) if not k.refusal} if beside else set()
    kernels = [k for k in on_board(chosen, target) if k.platform == platform and part in k.name and not k.refusal]
    integers = [k for k in kernels if k.types[0][0].startswith("q") and (k.name, k.op) not in other]
    return examine(integers, chosen, folder, seed=0, each=1, target=target)


def test_drawn_calls_hold_every_end() -> None:
    platform = find_platforms()["generic"]
    kernel = next(k for k in platform.own_kernels() if (k.name, k.op) == ("ConvI8", "Conv"))
    relayouts = [k for k in kernels_of(platform) if k.op == "Relayout"]
    found = attempts([kernel], platform, relayouts, 0, 2)
    inputs = {(t.dtype.value, int(a.flat[0])) for o in found for r in o.subject.runs for t, a in zip(
        o.subject.inputs, r, strict=True) if np.unique(a).size == 1}  # fmt: skip
    assert {("i8", -128), ("i8", 127), ("u8", 0), ("u8", 255)} <= inputs
    weights = [np.unique(one.trial.call.constants[1]).tolist() for one in found if one.at_the_ends]
    assert [-127] in weights
    assert [127] in weights
    assert [-127, 127] in weights
    depths = {int(np.prod(one.trial.call.shape(1)[1:])) for one in found if one.at_the_ends}
    assert {272, 288, 528, 576} <= depths


@pytest.mark.parametrize(
    ("platform", "board", "beside"),
    [("cortex_m", "qemu_mps2_an386", ""), ("cortex_m", "qemu_mps3_an547", "qemu_mps2_an386"),
     ("riscv", "qemu_rv32imc", ""), ("riscv", "qemu_rv32gcv", "qemu_rv32imc")],
)  # fmt: skip
def test_integer_kernels_are_exact_at_the_ends(platform: str, board: str, beside: str, tmp_path: Path) -> None:
    found = rows(platform, board, tmp_path, beside=beside)
    assert found
    assert [(row.kernel, [fault.sentence for fault in row.faults]) for row in found if row.faults] == []


def test_a_wrong_bound_of_paired_channels_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = importlib.import_module("tilewright.platforms.cortex_m.kernels.matrix_i8")
    monkeypatch.setattr(matrix, "PAIR_LIMIT", 1 << 24)
    for name in ("DenseDsp", "ConvDsp"):
        (row,) = rows("cortex_m", "qemu_mps2_an386", tmp_path, name)
        assert row.verdict.startswith("wrong"), row.kernel
        assert "differs in" in row.faults[0].sentence


def test_a_board_of_another_platform_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "riscv", "-t", "qemu_mps2_an386"]) == 2
    assert "it is one of platform 'cortex_m'" in capsys.readouterr().err
