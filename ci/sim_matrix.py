"""Prints a row per network and board: instructions of one inference, flash, RAM, stack, fences, match.

bash ci/sim-matrix                  every network of tests/models and, where they are at hand, the trained ones
bash ci/sim-matrix resnet8 digits   those whose names hold one of the words
Quantised networks run on every board where they fit, float networks on the boards with an FPU. Boards run side by side,
one per processor. The exit status is 5 where an output differs or memory is touched that was not declared.
"""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from board_cells import BOARDS, Cell, has_fpu, is_quantised, run_cell
from tilewright.errors import TilewrightError
from tilewright.report.text import number, table
from tilewright.target import load_target

ROOT = Path(__file__).parents[1]
HEADS = ("network", "board", "instructions", "flash", "ram", "stack", "fences", "verdict")


def folders(words: list[str]) -> list[Path]:
    """Folders of networks with their test vectors; the trained ones by `TILEWRIGHT_MODELS` or beside the checkout."""
    named = os.environ.get("TILEWRIGHT_MODELS")
    trained = Path(named) if named else ROOT.parent / "shared" / "models"
    found = [path.parent for place in (ROOT / "tests" / "models", trained) for path in place.glob("*/model.onnx")]
    return sorted(path for path in found if not words or any(word in path.name for word in words))


def boards(network: str) -> list[str]:
    """The boards that a network runs on."""
    quantised = is_quantised(network) or "_int8" in network
    return [board for board in BOARDS if quantised or has_fpu(load_target(board))]


def cell(folder: Path, board: str) -> tuple[str, ...]:
    """One row; the verdict says what went wrong."""
    with tempfile.TemporaryDirectory() as work:
        files = (folder / "model.onnx", folder / "inputs.npz", folder / "outputs.npz")
        try:
            found = run_cell(*files, board, Path(work) / "project")
        except TilewrightError as error:
            return (folder.name, board, *["-"] * 5, f"{type(error).__name__}: {error.what}")
    return row(found)


def row(found: Cell) -> tuple[str, ...]:
    """The figures of a cell."""
    if found.report is None or found.report.run is None:
        why = found.refusal.why if found.refusal else ""
        return (found.network, found.board, *["-"] * 5, f"does not fit: {why}")
    run = found.report.run
    flash = (run.text_bytes or 0) + (run.rodata_bytes or 0)
    figures = (number(run.instructions), number(flash), number(run.ram_bytes), number(run.stack_bytes))
    return (found.network, found.board, *figures, "+".join(run.fences), "match" if run.match else "DIFFERS")


def main(words: list[str]) -> int:
    """Print the table; 5 where a cell failed."""
    asked = [(folder, board) for folder in folders(words) for board in boards(folder.name)]
    if not asked:
        print(f"no network is called {' or '.join(words)}", file=sys.stderr)
        return 2
    with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        rows = list(pool.map(cell, *zip(*asked, strict=True)))
    print(table(HEADS, rows, right=range(2, 6)))
    return 0 if all(line[-1] == "match" or line[-1].startswith("does not fit") for line in rows) else 5


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
