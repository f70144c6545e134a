"""A small network with a state, and its firmware for this machine: what the tests of the monitor talk to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx
from board_firmware import native, write_monitor
from state.networks import filtered
from tilewright.compile import Compiled, compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions, StateWish
from tilewright.project.library import describe
from tilewright.report.build import Report
from tilewright.run.board.ports import Descriptor
from tilewright.run.board.runner import Board
from tilewright.run.board.stream import ByteStream
from tilewright.target import load_target

STATE = StateWish((("h", "h_out"),))


@dataclass(frozen=True)
class Deployed:
    """A compiled network with its project, which holds the monitor."""

    compiled: Compiled
    project: Path

    def run(self, stream: ByteStream, options: RunOptions | None = None, patience_seconds: float = 5.0) -> Report:
        """The report of a run on the board behind a stream."""
        runner = Board(stream, "port 1", patience_seconds, patience_seconds)
        wish = options or RunOptions(reference=False)
        return run_model(self.compiled, self.compiled.request.target, wish, self.project, runner)


def deployed(folder: Path, target: str = "host", options: CompileOptions | None = None) -> Deployed:
    """The network for a target, in a folder of its own."""
    model, project = folder / "filtered.onnx", folder / "project"
    folder.mkdir(parents=True, exist_ok=True)
    project.mkdir()
    onnx.save(filtered(), model)
    compiled = compile_model(model, options or CompileOptions(state=STATE), load_target(target))
    compiled = write(compiled, project)
    write_monitor(describe(compiled), project)
    return Deployed(compiled, project)


@contextmanager
def on_this_machine(*command: Path) -> Iterator[Descriptor]:
    """The stream to a firmware that runs as a program here."""
    with native(*command) as (ours, _):
        yield Descriptor(ours.fileno())


@contextmanager
def socket_of(firmware: Path) -> Iterator[socket.socket]:
    """The host's end of the line itself."""
    with native(firmware) as (ours, _):
        yield ours
