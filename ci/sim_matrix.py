"""Prints a row per network and board: instructions of one inference, flash, RAM, stack, fences, match.

bash ci/sim-matrix                  every network of tests/models and, where they are at hand, the trained ones
bash ci/sim-matrix resnet8 digits   those whose names hold one of the words
Quantised networks and the digits run on every board where they fit, other float networks on the boards with an FPU.
Trained networks are compared with the outputs of ONNX Runtime (integers and what is dequantised from them in every
bit), integer networks of tests/models with NumPy in every bit. Columns with a star are what `check` estimates before
anything is built. Boards run side by side, one per processor; rows appear on standard error as they come. The last line
counts the verdicts; the exit status is 5 where an output differs or memory is touched that was not declared.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from board_cells import BOARDS, Cell, has_fpu, run_cell
from tilewright.errors import TilewrightError
from tilewright.report.text import number, table
from tilewright.target import load_target

ROOT = Path(__file__).parents[1]
SEEDED = ROOT / "tests" / "models"
HEADS = ("network", "board", "instructions", "code", "flash", "ram", "stack", "code *", "stack *", "fences", "verdict")
UNKNOWN = ("-",) * (len(HEADS) - 3)


def folders(words: list[str]) -> list[Path]:
    """Folders of networks with their test vectors; the trained ones by `TILEWRIGHT_MODELS` or beside the checkout."""
    named = os.environ.get("TILEWRIGHT_MODELS")
    trained = Path(named) if named else ROOT.parent / "shared" / "models"
    every = [path.parent for place in (SEEDED, trained) for path in sorted(place.glob("*/inputs.npz"))]
    return [path for path in every if not words or any(word in label(path) for word in words)]


def label(folder: Path) -> str:
    """The network's name in the table; trained and seeded networks may bear the same one."""
    return folder.name if folder.parent == SEEDED else f"trained/{folder.name}"


def boards(network: str) -> list[str]:
    """The boards that a network runs on."""
    everywhere = "_int8" in network or network == "digits"
    return [board for board in BOARDS if everywhere or has_fpu(load_target(board))]


def cell(folder: Path, board: str) -> tuple[str, ...]:
    """One row; the verdict says what went wrong."""
    with tempfile.TemporaryDirectory() as work:
        files = (folder / "model.onnx", folder / "inputs.npz", folder / "outputs.npz")
        try:
            outcome = run_cell(*files, board, Path(work) / "project", codes=folder.parent == SEEDED)
        except TilewrightError as error:
            return (label(folder), board, *UNKNOWN, f"{type(error).__name__}: {error.what}")
    return (label(folder), *row(outcome))


def row(outcome: Cell) -> tuple[str, ...]:
    """Board and figures of a cell."""
    if outcome.report is None or outcome.report.run is None:
        why = outcome.refusal.why if outcome.refusal else ""
        return (outcome.board, *UNKNOWN, f"does not fit: {why}")
    run = outcome.report.run
    flash = (run.text_bytes or 0) + (run.rodata_bytes or 0)
    sizes = (run.instructions, run.text_bytes, flash, run.ram_bytes, run.stack_bytes)
    figures = tuple(number(value) for value in (*sizes, outcome.code_allowance, outcome.stack_allowance))
    return (outcome.board, *figures, "+".join(run.fences), "match" if run.match else "DIFFERS")


def closing(verdicts: Iterable[str]) -> tuple[str, int]:
    """The closing line, and the exit status: 5 where a cell neither matched nor was refused for want of memory."""
    kinds = Counter(
        "match" if v == "match" else "refused" if v.startswith("does not fit") else "failed" for v in verdicts
    )
    line = f"{kinds.total()} cells: {kinds['match']} match, {kinds['refused']} do not fit, {kinds['failed']} fail"
    return line, 5 if kinds["failed"] else 0


def main(words: list[str]) -> int:
    """Print the table and the closing line; 5 where a cell failed."""
    cells = [(folder, board) for folder in folders(words) for board in boards(folder.name)]
    if not cells:
        print(f"no network is called {' or '.join(words)}", file=sys.stderr)
        return 2
    with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        rows = []
        for done in pool.map(cell, *zip(*cells, strict=True)):
            rows.append(done)
            print(f"{len(rows)} of {len(cells)}:", *done, file=sys.stderr, flush=True)
    line, status = closing(verdict for *_, verdict in rows)
    print(table(HEADS, rows, right=range(2, 9)), line, sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
