"""The monitor on simulated boards, behind UARTs of QEMU and simavr whose lines damage a tenth of all bytes both ways.

bash ci/bench board                    every board
bash ci/bench board:qemu_rv32imc,7     one of them; a number is the seed of the damage
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from board.streams import Noisy
from board_firmware import UARTS, avr_board, build_for, build_for_avr, native, on_a_terminal, write_monitor
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions
from tilewright.project.library import describe
from tilewright.run.board.ports import Descriptor, open_port
from tilewright.run.board.runner import Board
from tilewright.run.board.stream import ByteStream
from tilewright.target import load_target

TITLE = "digits_int8 on simulated boards, a tenth of all bytes lost, doubled or changed"
MODEL = Path(__file__).parents[2] / "tests" / "models" / "digits_int8" / "model.onnx"
SIMAVR = "simavr"
"""A board beside those of QEMU, for which the portable C is compiled."""
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


@contextmanager
def board_of(name: str, project: Path, work: Path) -> Iterator[ByteStream]:
    """The line to a simulated board that runs the firmware of a project."""
    upper = f"-D{MODEL.parent.name.upper()}_TRACE"
    if name == SIMAVR:
        firmware = build_for_avr(project, work, upper)
        with native(avr_board(work), firmware) as (ours, _):
            yield Descriptor(ours.fileno())
        return
    target = load_target(name)
    with on_a_terminal(target, build_for(target, project, work, upper)) as port, open_port(port) as line:
        yield line


def row(name: str, compiled: Compiled, project: Path, work: Path, part: float, seed: int) -> tuple[str, ...]:
    """One run on one board, with every layer compared."""
    target = compiled.request.target
    with board_of(name, project, work) as line:
        counted = Counted(line)
        board = Board(Noisy(counted, seed, part), name, PATIENCE_SECONDS, PATIENCE_SECONDS)
        report = run_model(compiled, target, RunOptions(layers=True, reference=False), project, board)
    assert report.run is not None
    assert report.run.board is not None
    told = report.run.board
    equal = sum(layer.max_abs_error == 0 for layer in report.layers)
    return (
        name, "ATmega1284P" if name == SIMAVR else target.cpu, f"{part:.0%}",
        "equal" if report.run.match else "DIFFERENT", f"{equal} of {len(report.layers)}", f"{counted.bytes_written:,}",
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
    for name in (*UARTS, SIMAVR):
        if words and name not in words:
            continue
        target = load_target("host" if name == SIMAVR else name)
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            (work / "project").mkdir()
            compiled = write(compile_model(MODEL, CompileOptions(quantized_io=True), target), work / "project")
            write_monitor(describe(compiled), work / "project")
            for part in PARTS:
                rows.append(row(name, compiled, work / "project", work, part, seed))
                print("  ".join(rows[-1]), flush=True)
    return rows
