"""The monitor as a program of this machine, sanitized, behind good lines, bad lines and hostile ones."""

from __future__ import annotations

import random
import select
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from board.boards import STATE, Deployed, deployed, on_this_machine, socket_of
from board.streams import Noisy
from board_firmware import build_native
from tilewright.board import run_on_board
from tilewright.errors import BoardError, UsageError
from tilewright.options import CompileOptions, RunOptions
from tilewright.run.board import protocol
from tilewright.run.board.framing import framed, opened
from tilewright.run.board.link import Link
from tilewright.run.board.monitor import Monitor
from tilewright.run.board.ports import Descriptor
from tilewright.run.board.stream import ByteStream

SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LOOKED_INTO = RunOptions(layers=True, profile=True, reference=False)


@dataclass(frozen=True)
class Firmware:
    """The network, its firmware with layers and without, and one of another compilation and another model."""

    network: Deployed
    traced: Path
    plain: Path


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    folder = tmp_path_factory.mktemp("monitor")
    network = deployed(folder / "traced")
    (folder / "plain").mkdir()
    traced = build_native(network.project, folder, "-DFILTERED_TRACE", *SANITIZED)
    return Firmware(network, traced, build_native(network.project, folder / "plain"))


@pytest.fixture
def line(board: Firmware) -> Iterator[Descriptor]:
    with on_this_machine(board.traced) as stream:
        yield stream


def test_a_board_gives_what_a_simulator_gives(board: Firmware, line: Descriptor) -> None:
    report = board.network.run(line, LOOKED_INTO)
    assert report.run is not None
    assert report.run.board is not None
    assert report.run.match
    assert report.run.elements == 16  # the output and the state
    assert report.run.cycles == 10 * (1 + 2 * len(report.layers))  # every reading adds 10
    assert [layer.cycles for layer in report.layers] == [10] * len(report.layers)
    assert [layer.max_abs_error for layer in report.layers] == [0] * len(report.layers)
    again = board.network.run(line, LOOKED_INTO)  # the monitor serves one host after the other
    assert again.run is not None
    assert again.run.match
    assert [layer.cycles for layer in again.layers] == [10] * len(again.layers)


def test_states_live_from_call_to_call_and_begin_anew(board: Firmware, line: Descriptor) -> None:
    for _ in range(2):
        report = board.network.run(line, RunOptions(frames=5, reference=False))
        assert report.run is not None
        assert report.run.frames is not None
        assert report.run.match
        assert report.run.frames.calls == 5
        assert report.run.frames.worst_cost == report.run.cycles


@pytest.mark.parametrize("seed", range(3))
def test_a_line_that_damages_a_tenth_of_all_bytes_changes_no_result(board: Firmware, seed: int) -> None:
    with on_this_machine(board.traced) as stream:
        noisy = Noisy(stream, seed)
        report = board.network.run(noisy, LOOKED_INTO if seed == 0 else RunOptions(frames=2, reference=False))
    assert report.run is not None
    assert report.run.board is not None
    assert report.run.match
    assert report.run.board.repeats > 20
    assert report.run.board.damaged_frames > 5


def test_a_repeat_is_answered_again_and_not_done_again(board: Firmware, line: Descriptor) -> None:
    """Two runs with one sequence move the state once."""
    monitor = Monitor(Link(line, "the board"))
    interface = board.network.compiled.artifacts.interface
    ask = monitor.link.ask
    assert ask(protocol.HELLO) is not None
    monitor.build = monitor.build.__class__(128, True, True, False, interface.build)
    monitor.prepare()
    monitor.write(protocol.FIRST_PORT, np.ones(8, np.float32).tobytes())
    first = 4 * framed(bytes([200, protocol.RUN, 0]))
    line.write(first)
    answers = _frames(line, 4)
    assert len(set(answers)) == 1
    assert np.frombuffer(monitor.read(protocol.STATE, 0, 32), np.float32).tolist() == [1.0] * 8


def _frames(stream: ByteStream, count: int) -> list[bytes]:
    data = b""
    while data.count(b"\0") < count:
        data += stream.read(4096, 5)
    return [payload for frame in data.split(b"\0") if frame and (payload := opened(frame)) is not None]


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (bytes([protocol.READ, protocol.MODEL_SHA256, 33, 0, 0, 0, 1]), protocol.OUTSIDE),
        (bytes([protocol.READ, protocol.MODEL_SHA256, 32, 0, 0, 0, 1]), protocol.OUTSIDE),
        (bytes([protocol.READ, protocol.MODEL_SHA256, 255, 255, 255, 255, 2]), protocol.OUTSIDE),
        (bytes([protocol.READ, protocol.ARENA, 0, 0, 0, 0, 122]), protocol.OUTSIDE),
        (bytes([protocol.READ, 77, 0, 0, 0, 0, 1]), protocol.OUTSIDE),
        (bytes([protocol.WRITE, protocol.MODEL_SHA256, 0, 0, 0, 0, 1]), protocol.OUTSIDE),
        (bytes([protocol.WRITE, protocol.FIRST_PORT, 31, 0, 0, 0, 1, 2]), protocol.OUTSIDE),
        (bytes([protocol.WRITE, protocol.FIRST_PORT + 1, 0, 0, 0, 0, 1]), protocol.OUTSIDE),
        (bytes([protocol.READ, 0]), protocol.NOT_NOW),
        (bytes([protocol.WRITE]), protocol.NOT_NOW),
        (bytes([protocol.RUN]), protocol.NOT_NOW),
        (bytes([protocol.GO_ON, 0]), protocol.NOT_NOW),
        (bytes([99]), protocol.UNKNOWN),
    ],
)
def test_no_length_of_a_frame_is_believed(line: Descriptor, body: bytes, refusal: int) -> None:
    line.write(framed(bytes([1, protocol.HELLO])) + framed(bytes([2]) + body))
    assert _frames(line, 2)[1] == bytes([2, protocol.REFUSED, refusal])


def test_small_frames_carry_the_same_and_no_answer_is_longer(board: Firmware, tmp_path: Path) -> None:
    small = build_native(board.network.project, tmp_path, "-DFILTERED_MONITOR_FRAME=32")
    with on_this_machine(small) as line:
        report = board.network.run(line)
        assert report.run is not None
        assert report.run.match
        too_much = bytes([2, protocol.READ, protocol.FIRST_PORT, *bytes(4), 26])
        line.write(framed(bytes([1, protocol.HELLO])) + framed(too_much))
        assert _frames(line, 2)[1] == bytes([2, protocol.REFUSED, protocol.OUTSIDE])


def test_hostile_bytes_do_no_harm(board: Firmware) -> None:
    """Random bytes, random frames with a good check, and frames with one byte changed: the sanitizers see nothing, and
    the monitor answers the next host."""
    draw = random.Random(7)
    with socket_of(board.traced) as ours:
        stream = Descriptor(ours.fileno())
        for _ in range(3000):
            operation = draw.choice((*range(protocol.HELLO, protocol.GO_ON + 1), draw.randrange(256)))
            body = bytes([draw.randrange(256), operation, draw.randrange(9)]) + draw.randbytes(draw.randrange(12))
            frame = bytearray(framed(body))
            if draw.random() < 0.3:
                frame[draw.randrange(len(frame))] = draw.randrange(256)
            if draw.random() < 0.1:
                frame += draw.randbytes(draw.randrange(400))
            stream.write(bytes(frame))
            while select.select([ours], [], [], 0)[0]:
                assert ours.recv(65536), "the sanitizers ended the firmware"
        while select.select([ours], [], [], 0.2)[0]:
            assert ours.recv(65536), "the sanitizers ended the firmware"
        report = board.network.run(stream)
    assert report.run is not None
    assert report.run.match


def test_a_host_that_left_in_the_middle_of_a_network_keeps_nobody_out(board: Firmware, line: Descriptor) -> None:
    line.write(framed(bytes([1, protocol.HELLO])) + framed(bytes([2, protocol.RUN, protocol.PAUSE])))
    assert _frames(line, 2)[1][:3] == bytes([2, protocol.RUN | protocol.ANSWER, protocol.PAUSED])
    report = board.network.run(line, LOOKED_INTO)
    assert report.run is not None
    assert report.run.match


class Failing:
    """A board that stops answering at the first request of a kind, or another one that takes its place then."""

    def __init__(self, stream: ByteStream, operation: int, after: ByteStream | None = None) -> None:
        self.stream: ByteStream | None = stream
        self.operation, self.after = operation, after

    def read(self, most: int, seconds: float) -> bytes:
        if self.stream is None:
            select.select([], [], [], seconds)
            return b""
        return self.stream.read(most, seconds)

    def write(self, data: bytes) -> None:
        payload = opened(data.strip(b"\0"))
        if payload is not None and payload[1] == self.operation:
            self.stream, self.operation = self.after, -1
        if self.stream is not None:
            self.stream.write(data)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (protocol.WRITE, "the board at port 1 hangs: it answered before and does not any more; reset it; with --layers "
         "the error names the layer behind which it stopped"),
        (protocol.GO_ON, "the board at port 1 hangs: it answered before and does not any more; the last layer that "
         "ended is 0 'decay'; look at the layer behind it, then reset the board"),
    ],
)  # fmt: skip
def test_a_board_that_hangs_is_told(board: Firmware, line: Descriptor, operation: int, message: str) -> None:
    with pytest.raises(BoardError) as caught:
        board.network.run(Failing(line, operation), LOOKED_INTO, patience_seconds=0.3)
    assert str(caught.value) == message


def test_a_board_that_was_reset_is_told_from_one_that_hangs(board: Firmware) -> None:
    with on_this_machine(board.traced) as first, on_this_machine(board.traced) as second:
        with pytest.raises(BoardError) as caught:
            board.network.run(Failing(first, protocol.WRITE, after=second))
    assert str(caught.value) == (
        "the board at port 1 was reset in the middle: it no longer knows what was sent to it; look at its supply, its "
        "watchdog and its fault handlers, then run again"
    )


def test_a_board_with_other_options_or_without_layers_is_told(board: Firmware, tmp_path: Path) -> None:
    other = deployed(tmp_path / "other", options=CompileOptions(state=STATE, io="caller"))
    with on_this_machine(board.plain) as stream:
        with pytest.raises(UsageError, match="runs another compilation of 'filtered': its number is"):
            other.run(stream)
        with pytest.raises(UsageError) as caught:
            board.network.run(stream, RunOptions(layers=True, reference=False))
    assert str(caught.value) == (
        "--layers: the firmware at port 1 was compiled without FILTERED_TRACE; compile src/ and monitor/ with "
        "-DFILTERED_TRACE and flash it; an external arena cannot be looked into"
    )


@pytest.mark.parametrize(
    "options",
    [CompileOptions(state=STATE, io="caller"), CompileOptions(state=STATE, context=True)],
    ids=["caller's memory", "instances"],
)
def test_other_forms_of_the_interface_are_served_too(options: CompileOptions, tmp_path: Path) -> None:
    network = deployed(tmp_path / "project", options=options)
    firmware = build_native(network.project, tmp_path, "-DFILTERED_TRACE")
    with on_this_machine(firmware) as stream:
        report = network.run(stream, LOOKED_INTO)
    assert report.run is not None
    assert report.run.match


def test_samples_are_a_set_on_a_board_too(tmp_path: Path) -> None:
    network = deployed(tmp_path / "stateless", options=CompileOptions())
    draw = np.random.default_rng(1)
    np.savez(tmp_path / "set.npz", x=draw.normal(size=(20, 1, 8)).astype("f4"), h=np.ones((20, 1, 8), "f4"))
    with on_this_machine(build_native(network.project, tmp_path)) as stream:
        report = network.run(stream, RunOptions(inputs=tmp_path / "set.npz", reference=False))
    assert report.run is not None
    assert report.run.samples == 20
    assert report.run.match


class Shelf:
    """A laboratory's own way to a board: all that it has to bring are these two methods."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line

    def read(self, most: int, seconds: float) -> bytes:
        self.line.settimeout(max(seconds, 0.001))
        try:
            return self.line.recv(most)
        except TimeoutError:
            return b""

    def write(self, data: bytes) -> None:
        self.line.sendall(data)


def test_a_laboratory_brings_two_methods(board: Firmware) -> None:
    source = board.network.compiled.request.source
    with socket_of(board.traced) as ours:
        report = run_on_board(source, "host", Shelf(ours), CompileOptions(state=STATE), name="shelf 3")
    assert report.run is not None
    assert report.run.board is not None
    assert report.run.match
    assert report.run.board.port == "shelf 3"
