"""The monitor's requests as typed calls: who is there, inputs in, tensors out, one inference."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tilewright.errors import BoardError, TilewrightError, UsageError
from tilewright.run.board import protocol
from tilewright.run.board.link import Link

READ_EXTRA_BYTES, WRITE_EXTRA_BYTES = 7, 12
"""Of an answer to READ and of a question to WRITE beside the data: stuffing, sequence, operation, place, check."""
LEAST_BYTES = 8
"""Of data in a frame, however bad the line is."""
TRIES, CALM = 3, 8
"""Repeats after which a smaller frame is tried, and frames that go through at once before a larger one is."""


@dataclass(frozen=True)
class Identity:
    """What the host expects on the board: the model's name and SHA-256, and the number of its compilation."""

    model: str
    sha256: str
    build: int


@dataclass(frozen=True)
class Build:
    """What a monitor tells of itself: the longest frame it takes in bytes, and what its build can do."""

    frame_bytes: int
    traced: bool
    counts_cycles: bool
    measures_stack: bool
    build: int


@dataclass(frozen=True)
class Stop:
    """Where an inference stands: at its end, or (`instruction`) right behind an instruction of the plan."""

    instruction: int | None
    cycles: int = 0
    stack_bytes: int = 0


class Monitor:
    """A session with the monitor behind a link. Every method raises BoardError where the board does not answer."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.build = Build(protocol.SHORTEST_FRAME, False, False, False, 0)
        self._data_bytes, self._calm = LEAST_BYTES, 0

    def connect(self, expected: Identity) -> None:
        """Open a session; UsageError where the board speaks another version or runs anything else than expected."""
        answer = self._ask(protocol.HELLO)
        if not answer or answer[0] != protocol.VERSION or len(answer) != 7:
            told = answer[0] if answer else "none"
            raise UsageError(
                f"the monitor at {self.link.name} speaks version {told} of its protocol",
                why=f"this release uses version {protocol.VERSION}",
                fix="write the project again with this release, build it and flash it",
            )
        _, features, frame_bytes, build = struct.unpack("<3BI", answer)
        if not protocol.SHORTEST_FRAME <= frame_bytes <= protocol.LONGEST_FRAME:
            raise _nonsense(self.link, f"frames of {frame_bytes} bytes")
        self.build = Build(
            frame_bytes, bool(features & protocol.TRACED), bool(features & protocol.CYCLES),
            bool(features & protocol.STACK), build,
        )  # fmt: skip
        self._data_bytes = frame_bytes
        self._identify(expected)

    def _identify(self, expected: Identity) -> None:
        sha256 = self.read(protocol.MODEL_SHA256, 0, 32).hex()
        if sha256 != expected.sha256:
            raise UsageError(
                f"the board at {self.link.name} runs another model",
                why=f"its SHA-256 begins with {sha256[:12]}, that of '{expected.model}' with {expected.sha256[:12]}",
                fix="flash the firmware of this model, or name the model that is on the board",
            )
        if self.build.build != expected.build:
            raise UsageError(
                f"the board at {self.link.name} runs another compilation of '{expected.model}'",
                why=f"its number is {self.build.build:08x}, this one's {expected.build:08x}",
                fix="pass the target and options that the firmware was compiled with, or compile and flash it again",
            )

    def read(self, region: int, offset: int, size_bytes: int) -> bytes:
        """Bytes of a region."""
        data = bytearray()
        while len(data) < size_bytes:
            count = min(size_bytes - len(data), self._data_bytes, self.build.frame_bytes - READ_EXTRA_BYTES)
            answer = self._transfer(protocol.READ, struct.pack("<BIB", region, offset + len(data), count), count)
            if answer is None:
                continue
            if len(answer) != count:
                raise _nonsense(self.link, f"{len(answer)} bytes where {count} were asked for")
            data += answer
        return bytes(data)

    def write(self, region: int, data: bytes) -> None:
        """Write a whole region."""
        at = 0
        while at < len(data):
            part = data[at : at + min(self._data_bytes, self.build.frame_bytes - WRITE_EXTRA_BYTES)]
            if self._transfer(protocol.WRITE, struct.pack("<BI", region, at) + part, len(part)) is not None:
                at += len(part)

    def prepare(self) -> None:
        """Begin anew: overwrite the arena, and put the state back to its first values."""
        (status,) = self._numbers("<i", self._ask(protocol.PREPARE, bytes([protocol.POISON | protocol.RESET_STATE])))
        if status != 0:
            raise TilewrightError(f"the network's reset returned the error {status}", why="0 means success")

    def run(self, *, paint: bool, pause: bool, seconds: float) -> Stop:
        """Start an inference; it ends within `seconds`, or stands behind its first instruction with `pause`."""
        flags = (protocol.PAINT if paint else 0) | (protocol.PAUSE if pause else 0)
        return self._stop(self._ask(protocol.RUN, bytes([flags]), seconds))

    def go_on(self, *, pause: bool, seconds: float) -> Stop:
        """From where the inference stands to its end, or to the next instruction."""
        return self._stop(self._ask(protocol.GO_ON, bytes([protocol.PAUSE if pause else 0]), seconds))

    def _stop(self, answer: bytes) -> Stop:
        if len(answer) == 5 and answer[0] == protocol.PAUSED:
            return Stop(*struct.unpack("<I", answer[1:]))
        if len(answer) != 13 or answer[0] != protocol.DONE:
            raise _nonsense(self.link, "an inference that neither ended nor paused")
        status, cycles, stack_bytes = struct.unpack("<iII", answer[1:])
        if status != 0:
            raise TilewrightError(f"the network returned the error {status} on the board", why="0 means success")
        return Stop(None, cycles, stack_bytes)

    def _transfer(self, operation: int, body: bytes, count: int) -> bytes | None:
        """The answer, or None where a smaller frame is to be tried; frames grow again where the line is good."""
        before = self.link.traffic.repeats
        answer = self.link.ask(operation, body, tries=0 if count <= LEAST_BYTES else TRIES)
        self._calm = self._calm + 1 if self.link.traffic.repeats == before else 0
        if answer is None:
            self._data_bytes = max(LEAST_BYTES, count // 2)
        elif self._calm >= CALM:
            self._data_bytes, self._calm = min(self.build.frame_bytes, 2 * self._data_bytes), 0
        return answer

    def _ask(self, operation: int, body: bytes = b"", seconds: float | None = None) -> bytes:
        answer = self.link.ask(operation, body, seconds=seconds)
        assert answer is not None  # it is asked until the time is over
        return answer

    def _numbers(self, form: str, answer: bytes) -> tuple[int, ...]:
        if len(answer) != struct.calcsize(form):
            raise _nonsense(self.link, f"{len(answer)} bytes where {struct.calcsize(form)} belong")
        return struct.unpack(form, answer)


def _nonsense(link: Link, what: str) -> BoardError:
    return BoardError(
        f"the monitor at {link.name} answers what no monitor says", why=what,
        fix="write the monitor again with 'compile --project monitor' of this release, and flash it",
    )  # fmt: skip
