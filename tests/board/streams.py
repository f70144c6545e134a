"""Streams for tests: one that damages bytes, and one that answers as a function says."""

from __future__ import annotations

import random
from collections.abc import Callable

from tilewright.run.board.framing import Frames, framed, opened
from tilewright.run.board.stream import ByteStream


class Noisy:
    """A stream of which a part of all bytes, both ways, is lost, doubled or changed."""

    def __init__(self, stream: ByteStream, seed: int, part: float = 0.1) -> None:
        self.stream, self.random, self.part = stream, random.Random(seed), part

    def damaged(self, data: bytes) -> bytes:
        result = bytearray()
        for byte in data:
            if self.random.random() >= self.part:
                result.append(byte)
                continue
            what = self.random.randrange(3)
            if what == 1:
                result += bytes([byte, byte])
            elif what == 2:
                result.append(byte ^ self.random.randrange(1, 256))
        return bytes(result)

    def read(self, most: int, seconds: float) -> bytes:
        return self.damaged(self.stream.read(most, seconds))

    def write(self, data: bytes) -> None:
        self.stream.write(self.damaged(data))


class Answering:
    """A board that answers every sound frame with what a function of sequence, operation and arguments gives."""

    def __init__(self, answer: Callable[[int, int, bytes], bytes | None]) -> None:
        self.answer, self.frames, self.waiting = answer, Frames(), b""

    def read(self, most: int, seconds: float) -> bytes:
        data, self.waiting = self.waiting[:most], self.waiting[most:]
        return data

    def write(self, data: bytes) -> None:
        for frame in self.frames.add(data):
            payload = opened(frame)
            if payload is not None and (answer := self.answer(payload[0], payload[1], payload[2:])) is not None:
                self.waiting += framed(answer)
