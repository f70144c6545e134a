"""Frames on a stream of bytes: COBS between zeros, and a CRC-32 at the end."""

from __future__ import annotations

import zlib

from tilewright.run.board.protocol import CHECK_BYTES, HEAD_BYTES, LONGEST_FRAME


def stuffed(payload: bytes) -> bytes:
    """The payload without zeros, as blocks that begin with their length; at most 253 bytes."""
    return b"".join(bytes([len(block) + 1]) + block for block in payload.split(b"\0"))


def unstuffed(frame: bytes) -> bytes | None:
    """What was stuffed; None where it is no frame."""
    blocks, at = list[bytes](), 0
    while at < len(frame):
        end = at + frame[at]
        if frame[at] == 0 or end > len(frame):
            return None
        blocks.append(frame[at + 1 : end])
        at = end
    return b"\0".join(blocks)


def framed(payload: bytes) -> bytes:
    """The bytes on the line, with the zero that ends them."""
    return stuffed(payload + zlib.crc32(payload).to_bytes(CHECK_BYTES, "little")) + b"\0"


def opened(frame: bytes) -> bytes | None:
    """The payload of what stood between two zeros; None where it is damaged or no frame."""
    if len(frame) > LONGEST_FRAME:
        return None
    payload = unstuffed(frame)
    if payload is None or len(payload) < HEAD_BYTES + CHECK_BYTES:
        return None
    body, check = payload[:-CHECK_BYTES], payload[-CHECK_BYTES:]
    return body if zlib.crc32(body) == int.from_bytes(check, "little") else None


class Frames:
    """Cuts what comes in at its zeros."""

    def __init__(self) -> None:
        self._open = b""

    def add(self, data: bytes) -> list[bytes]:
        """What these bytes complete, without the zeros; of what is too long for a frame only the beginning is held."""
        *complete, last = (self._open + data).split(b"\0")
        self._open = last[: LONGEST_FRAME + 1]
        return [frame for frame in complete if frame]
