"""The monitor on simulated boards, behind UARTs of QEMU whose lines damage a tenth of all bytes both ways.

bash ci/bench board                    every board
bash ci/bench board:qemu_rv32imc,7     one of them; a number is the seed of the damage
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from board.streams import Noisy
from board_firmware import UARTS, build_for, on_a_terminal, write_monitor
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.project.library import describe
from tilewright.run.board.ports import open_port
from tilewright.run.board.runner import Board
from tilewright.run.board.stream import ByteStream
from tilewright.target import load_target

TITLE = "digits_int8 on simulated boards, a tenth of all bytes lost, doubled or changed"
MODEL = Path(__file__).parents[2] / "tests" / "models" / "digits_int8" / "model.onnx"
PARTS = (0.0, 0.1)
"""Of all bytes, how many are damaged."""
PATIENCE_SECONDS = 60.0


class Counted:
    """A stream that counts the bytes that go through it."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream, self.bytes_read, self.bytes_written = stream, 0, 0

    def read(self, most: int, seconds: float) -> bytes:
        """Up to `most` bytes; none after so many seconds."""
        data = self.stream.read(most, seconds)
        self.bytes_read += len(data)
        return data

    def write(self, data: bytes) -> None:
        """Bytes to the board."""
        self.bytes_written += len(data)
        self.stream.write(data)


def row(compiled: Compiled, project: Path, firmware: Path, part: float, seed: int) -> tuple[str, ...]:
    """One run on one board, with every layer compared."""
    target = compiled.request.target
    with on_a_terminal(target, firmware) as port, open_port(port) as line:
        counted = Counted(line)
        noisy = Noisy(counted, seed, part)
        board = Board(noisy, port, PATIENCE_SECONDS, PATIENCE_SECONDS)
        report = run_model(compiled, target, RunOptions(layers=True, reference=False), project, board)
    assert report.run is not None
    assert report.run.board is not None
    told = report.run.board
    equal = sum(layer.max_abs_error == 0 for layer in report.layers)
    return (
        target.name, target.cpu, f"{part:.0%}", "equal" if report.run.match else "DIFFERENT",
        f"{equal} of {len(report.layers)}", f"{counted.bytes_written:,}",
        f"{counted.bytes_read:,}", f"{told.questions}", f"{told.repeats}", f"{told.damaged_frames}",
    )  # fmt: skip


def table(*parts: str) -> list[tuple[str, ...]]:
    """Two rows for each board: a good line, and one that damages a tenth of all bytes."""
    seed = next((int(part) for part in parts if part.isdigit()), 1)
    words = [part for part in parts if not part.isdigit()]
    rows: list[tuple[str, ...]] = [
        ("board", "core", "damaged", "outputs", "layers equal", "bytes sent", "bytes read", "questions", "repeats",
         "frames damaged")
    ]  # fmt: skip
    for name in UARTS:
        if words and name not in words:
            continue
        target = load_target(name)
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            (work / "project").mkdir()
            compiled = write(compile_model(MODEL, CompileOptions(quantized_io=True), target), work / "project")
            write_monitor(describe(compiled), work / "project")
            firmware = build_for(target, work / "project", work, "-DDIGITS_INT8_TRACE")
            for part in PARTS:
                rows.append(row(compiled, work / "project", firmware, part, seed))
                print("  ".join(rows[-1]), flush=True)
    return rows
