"""A real board in the place of a simulator: what a laboratory's own way to its boards needs.

    from tilewright.board import run_on_board

    class Shelf:                                   # any object with these two methods
        def read(self, most: int, seconds: float) -> bytes: ...
        def write(self, data: bytes) -> None: ...

    report = run_on_board("model.onnx", "stm32f407", Shelf())
    assert report.run is not None and report.run.match

The firmware holds the monitor of `compile --project monitor`. docs/on_the_board.md says how it gets there.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tilewright.compile import compile_model, run_model, write
from tilewright.errors import BoardError
from tilewright.options import CompileOptions, RunOptions
from tilewright.report.build import Report
from tilewright.run.board.ports import open_port
from tilewright.run.board.runner import Board
from tilewright.run.board.stream import ByteStream
from tilewright.target import load_target

__all__ = ["Board", "BoardError", "ByteStream", "open_port", "run_on_board"]


def run_on_board(
    model: str | Path, target: str, stream: ByteStream, options: CompileOptions | None = None,
    run: RunOptions | None = None, *, name: str = "the stream", patience_seconds: float = 10.0,
    run_seconds: float | None = None,
) -> Report:  # fmt: skip
    """The report of `tilewright run` with the board behind a stream; differences are in it, not raised.

    `options` are those that the firmware was compiled with. The board, which messages call `name`, hangs where nothing
    comes for `patience_seconds`; one inference may take `run_seconds`, by default the target's own limit. BoardError
    where it does not answer, UsageError where it holds another model, another compilation or another version.
    """
    board = load_target(target)
    compiled = compile_model(Path(model), options or CompileOptions(), board)
    with tempfile.TemporaryDirectory(prefix="tilewright-board-") as folder:
        compiled = write(compiled, Path(folder))
        runner = Board(stream, name, patience_seconds, run_seconds)
        return run_model(compiled, board, run or RunOptions(), Path(folder), runner)
