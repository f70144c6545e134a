"""Quantised networks on the simulated boards that compute them in their own way, float ones on one of each family.

The small ones and those of odd shapes run on each; the large ones, made of layers that kernels are drawn of, on some.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from board_cells import BOARDS, ONE_PER_FAMILY, is_quantised, run_cell
from conftest import MODELS, NetworkFiles
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target, missing_tools

NETWORKS = sorted(path.parent.name for path in MODELS.glob("*/inputs.npz"))
ALIKE = ("qemu_mps2_an500", "qemu_mps2_an505")
"""Their integer C is that of the Cortex-M4: the compiler's core and the board are all that differs."""
BOTH = ("digits_int8", "odd_mobile_int8")
"""The networks that they run; `ci/sim-matrix` runs all."""
LARGE = {
    "ad_int8": {"qemu_rv32imc", "qemu_microbit"},
    "dscnn_int8": {"qemu_mps2_an386", "qemu_rv32imc", "qemu_rv32gcv", "qemu_microbit"},
    "resnet8_int8": {"qemu_mps2_an386", "qemu_rv32imc", "qemu_mps3_an547", "qemu_microbit"},
    "vww_int8": {"qemu_mps2_an385", "qemu_rv32imafc", "qemu_microbit"},
}
"""The boards that they run on, or do not fit; `ci/sim-matrix` runs all on all."""
CELLS = [
    (name, board)
    for name in NETWORKS
    for board in (BOARDS if is_quantised(name) else ONE_PER_FAMILY)
    if (board not in ALIKE or name in BOTH) and (name not in LARGE or board in LARGE[name])
]
TOO_LARGE = {("qemu_microbit", name) for name in ("ad_int8", "odd_mobile_int8", "resnet8_int8", "vww_int8")}


@pytest.mark.parametrize(("name", "board"), CELLS)
def test_network_on_board(name: str, board: str, tmp_path: Path, network: Callable[[str], NetworkFiles]) -> None:
    target = load_target(board)
    for tool, _ in missing_tools(target):
        pytest.skip(f"{tool} is not installed")
    files = network(name)
    cell = run_cell(files.model, files.inputs, files.outputs, board, tmp_path / "project")
    if cell.refusal is not None:
        assert (board, name) in TOO_LARGE
        assert cell.refusal.smallest
        return
    assert (board, name) not in TOO_LARGE
    assert cell.report is not None
    run = cell.report.run
    assert run is not None
    assert run.match
    assert run.fences == (("plugin",) if board == "qemu_microbit" else ("hardware", "plugin"))
    assert run.instructions
    assert run.text_bytes is not None
    assert run.text_bytes <= cell.code_allowance <= 3 * run.text_bytes + 8192
    assert run.stack_bytes is not None
    assert run.stack_bytes <= cell.stack_allowance <= 4 * run.stack_bytes + 2048


@pytest.mark.parametrize("board", ALIKE)
def test_the_integer_code_is_that_of_another_core(board: str, network: Callable[[str], NetworkFiles]) -> None:
    for name in BOTH:
        theirs, ours = (written(network(name).model, each) for each in ("qemu_mps2_an386", board))
        assert theirs == ours


def written(model: Path, board: str) -> dict[str, list[str]]:
    """The lines of the sources but for the number of the build, which counts the target in."""
    files = compile_model(model, CompileOptions(allocator="greedy"), load_target(board)).artifacts.files
    return {
        path: [line for line in text.splitlines() if "_BUILD" not in line]
        for path, text in files.items()
        if path.startswith("src/")
    }
