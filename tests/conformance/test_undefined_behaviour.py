"""Kernels of the boards under the undefined-behaviour sanitizer: it traps in the simulator and needs no library."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from board_layers import board_or_skip
from tilewright.codegen.artifacts import Artifacts
from tilewright.codegen.emit import emit
from tilewright.conformance import boards
from tilewright.conformance.author import Row, examine
from tilewright.plugins import find_platforms
from tilewright.target import load_target

TRAP = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-fno-sanitize=alignment")


def rows(platform: str, board: str, folder: Path, part: str = "") -> tuple[Row, ...]:
    """One drawn call of each of the platform's own kernels on a board, its C built to trap."""
    board_or_skip(board)
    chosen, target = find_platforms()[platform], load_target(board)
    own = [k for k in boards.on_board(chosen, target) if k.platform == platform and part in k.name and not k.refusal]
    trapping = replace(target, compile_flags=(*target.compile_flags, *TRAP))
    return examine(own, chosen, folder, seed=1, each=1, target=trapping)


@pytest.mark.parametrize(
    ("platform", "board", "part"),
    [
        ("cortex_m", "qemu_mps2_an386", ""), ("riscv", "qemu_rv32imc", ""), ("riscv", "qemu_rv32imafc", "F32"),
        ("pulp", "qemu_pulp", "Block"),
    ],
)  # fmt: skip
def test_kernels_of_boards_do_nothing_undefined(platform: str, board: str, part: str, tmp_path: Path) -> None:
    compared = rows(platform, board, tmp_path, part)
    assert compared
    assert [(row.kernel, [fault.sentence for fault in row.faults]) for row in compared if row.faults] == []


def test_a_sum_that_overflows_is_trapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*arguments: Any) -> Artifacts:
        made = emit(*arguments)
        code = "src/calls.c"
        text = str(made.files[code])
        end = "    return CALLS_OK;\n}"
        before, after = text.rsplit(end, 1)  # of calls_run, the last function of the file
        text = f"{before}    volatile int32_t most = INT32_MAX;\n    most = most + 1;\n{end}{after}"
        return replace(made, files={**made.files, code: text})

    monkeypatch.setattr(boards, "emit", planted)
    (row,) = rows("cortex_m", "qemu_mps2_an386", tmp_path, "PairDsp")
    assert row.verdict.startswith("wrong")
