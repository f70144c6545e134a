"""Frames and ports by themselves: what is stuffed comes back, hostile answers are refused, failures are sentences."""

from __future__ import annotations

import os
import random
import socket
import struct
import threading
from dataclasses import replace

import pytest
from board.streams import Answering
from tilewright.errors import BoardError, TilewrightError
from tilewright.run.board import protocol
from tilewright.run.board.framing import Frames, framed, opened, unstuffed
from tilewright.run.board.link import Link
from tilewright.run.board.monitor import Identity, Monitor
from tilewright.run.board.ports import open_port

HERE = Identity("net", "ab" * 32, 0x12345678)


def test_what_is_framed_is_opened_and_nothing_else() -> None:
    draw = random.Random(3)
    for _ in range(500):
        payload = bytes(draw.choice((0, 0, 1, 254, 255, draw.randrange(256))) for _ in range(draw.randrange(2, 120)))
        frame = framed(payload)
        assert frame.count(b"\0") == 1
        assert opened(frame[:-1]) == payload
        damaged = bytearray(frame[:-1])
        damaged[draw.randrange(len(damaged))] ^= draw.randrange(1, 256)
        assert opened(bytes(damaged)) is None
        opened(draw.randbytes(draw.randrange(300)))
    assert unstuffed(b"\x05abc") is None
    # the usual check value of CRC-32, of the text "123456789", is 0xcbf43926
    assert framed(b"123456789") == b"\x0e123456789\x26\x39\xf4\xcb\0"


def test_a_board_that_never_ends_a_frame_takes_no_memory() -> None:
    frames = Frames()
    for _ in range(100):
        assert frames.add(b"\x01" * 4096) == []
    assert len(frames.add(b"\0")[0]) <= protocol.LONGEST_FRAME + 1


def _told(sequence: int, operation: int, body: bytes) -> bytes:
    return bytes([sequence, operation | protocol.ANSWER]) + body


def _monitor(hello: bytes, sha256: str = HERE.sha256) -> Monitor:
    def answer(sequence: int, operation: int, body: bytes) -> bytes:
        if operation == protocol.HELLO:
            return _told(sequence, operation, hello)
        if operation == protocol.READ:
            _, offset, count = struct.unpack("<BIB", body)
            return _told(sequence, operation, bytes.fromhex(sha256)[offset : offset + count])
        return _told(sequence, operation, b"\x07" * 200)

    return Monitor(Link(Answering(answer), "port 1", 0.1))


@pytest.mark.parametrize(
    ("hello", "sha256", "message"),
    [
        (struct.pack("<3BI", 9, 0, 64, 0x12345678), HERE.sha256, "the monitor at port 1 speaks version 9 of its "
         "protocol: this release uses version 1; write the project again with this release, build it and flash it"),
        (b"", HERE.sha256, "the monitor at port 1 speaks version none of its protocol: this release uses version 1; "
         "write the project again with this release, build it and flash it"),
        (struct.pack("<3BI", 1, 0, 64, 0x12345678), "cd" * 32, "the board at port 1 runs another model: its SHA-256 "
         "begins with cdcdcdcdcdcd, that of 'net' with abababababab; flash the firmware of this model, or name the "
         "model that is on the board"),
        (struct.pack("<3BI", 1, 0, 64, 0x12345679), HERE.sha256, "the board at port 1 runs another compilation of "
         "'net': its number is 12345679, this one's 12345678; pass the target and options that the firmware was "
         "compiled with, or compile and flash it again"),
        (struct.pack("<3BI", 1, 0, 3, 0x12345678), HERE.sha256, "the monitor at port 1 answers what no monitor says: "
         "frames of 3 bytes; write the monitor again with 'compile --project monitor' of this release, and flash it"),
    ],
)  # fmt: skip
def test_another_firmware_is_told_before_anything_is_sent(hello: bytes, sha256: str, message: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        _monitor(hello, sha256).connect(HERE)
    assert str(caught.value) == message
    assert caught.value.code == (6 if isinstance(caught.value, BoardError) else 2)


def test_answers_of_any_length_are_errors_and_not_crashes() -> None:
    monitor = _monitor(struct.pack("<3BI", 1, 7, 254, HERE.build))
    monitor.connect(HERE)
    with pytest.raises(BoardError):
        monitor.run(paint=False, pause=False, seconds=0.1)
    with pytest.raises(BoardError):
        monitor.prepare()
    with pytest.raises(BoardError, match="bytes where 40 were asked for"):
        monitor.read(protocol.MODEL_SHA256, 0, 40)


class Late(Answering):
    """A board of which an answer to an earlier question comes before the one to the question at hand."""

    stale = b""

    def write(self, data: bytes) -> None:
        super().write(data)
        self.waiting = self.stale + self.waiting


def test_a_late_answer_to_another_question_is_not_taken() -> None:
    stream = Late(_told)
    link = Link(stream, "port 1", 0.5)
    assert link.ask(protocol.READ, b"first") == b"first"
    stream.stale = framed(_told(1, protocol.READ, b"first"))
    assert link.ask(protocol.READ, b"second") == b"second"


class Deaf(Link):
    """A link on which no question for more than some bytes is answered in time."""

    def __init__(self, most: int) -> None:
        super().__init__(Answering(_told), "port 1", 0.1)
        self.most, self.counts = most, list[int]()

    def ask(self, operation: int, body: bytes = b"", *, tries: int = 0, seconds: float | None = None) -> bytes | None:
        self.counts.append(body[-1])
        assert len(self.counts) < 20, "it asks for ever"
        self.traffic.repeats += body[-1] > self.most
        return None if tries and body[-1] > self.most else bytes(body[-1])


def test_a_noisy_line_gets_smaller_frames() -> None:
    link = Deaf(10)
    monitor = Monitor(link)
    monitor.build, monitor._data_bytes = replace(monitor.build, frame_bytes=64), 64
    assert monitor.read(protocol.MODEL_SHA256, 0, 40) == bytes(40)
    assert link.counts[:4] == [40, 20, 10, 10]


def test_nobody_and_somebody_else_are_told_apart() -> None:
    silent, other = Answering(lambda *_: None), Answering(lambda *_: None)
    other.waiting = b"login: " * 1000
    for stream, message in (
        (silent, "no board answers at port 1: nothing came for 0.1 s; check the cable and the port, reset the board, "
         "and that its firmware calls the monitor"),
        (other, "the board at port 1 does not speak the monitor's protocol: 7000 bytes came, and none were a frame; "
         "check --baud, and that the firmware calls the monitor of this project"),
    ):  # fmt: skip
        with pytest.raises(BoardError) as caught:
            Monitor(Link(stream, "port 1", 0.1)).connect(HERE)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("port", "baud", "message"),
    [
        ("/nowhere/ttyACM0", 115200, "--port /nowhere/ttyACM0 cannot be opened: No such file or directory; plug the "
         "board in and look for the name of its port"),
        ("tcp://localhost:x", 115200, "--port tcp://localhost:x: it names no host and port; write tcp://localhost:19021"),
        (__file__, 115200, f"--port {__file__}: it is not a serial device; name one such as /dev/ttyACM0"),
        ("/dev/null", 115200, "--port /dev/null: it is not a serial device: Inappropriate ioctl for device; name "
         "one such as /dev/ttyACM0"),
    ],
)  # fmt: skip
def test_ports_that_cannot_be_opened(port: str, baud: int, message: str) -> None:
    with pytest.raises(TilewrightError) as caught, open_port(port, baud):
        pass
    assert str(caught.value) == message


def test_a_port_that_goes_away_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=lambda: server.accept()[0].close())
        thread.start()
        with open_port(f"tcp://127.0.0.1:{server.getsockname()[1]}") as stream:
            with pytest.raises(BoardError, match="the connection to the board at port 1 broke off: "):
                Monitor(Link(stream, "port 1", 2)).connect(HERE)
        thread.join()


def test_a_terminal_is_a_port_of_eight_bits() -> None:
    ours, theirs = os.openpty()
    every = bytes(range(256))
    try:
        with open_port(os.ttyname(theirs), 9600) as stream:
            os.write(ours, every)
            assert stream.read(256, 1) == every
            stream.write(every)
            assert os.read(ours, 256) == every
            assert stream.read(1, 0.01) == b""
    finally:
        os.close(ours)
        os.close(theirs)
