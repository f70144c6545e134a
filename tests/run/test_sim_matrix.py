"""Every quantised network on every simulated board, every float network on one board of each family."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from board_cells import BOARDS, ONE_PER_FAMILY, is_quantised, run_cell
from conftest import MODELS, NetworkFiles
from tilewright.target import load_target, missing_tools

NETWORKS = sorted(path.parent.name for path in MODELS.glob("*/model.onnx"))
CELLS = [
    (name, board) for name in NETWORKS for board in (BOARDS if is_quantised(name) else ONE_PER_FAMILY)
]  # fmt: skip
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
