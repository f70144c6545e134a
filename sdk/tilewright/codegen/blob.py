"""Weights outside of the generated code: the layout of a region's blob, and its bytes.

A blob is a header of 32 bytes, little endian, and the payload: u32 magic, u32 format, u32 payload bytes, u32 CRC-32 of
the payload, u64 identity, u32 region, u32 CRC-32 of the 28 bytes before. The identity is a hash of the tool's
version, the generated code and the payload's layout: a blob fits the code that reads it as meant, whatever its values.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.codegen.c_types import C_TYPES, packed, raw_bytes
from tilewright.plan.plan import ExecutionPlan
from tilewright.version import VERSION

MAGIC = 0x42575754  # "TWWB"
FORMAT = 1
HEADER_BYTES = 32
PIECE_ALIGN = 16


@dataclass(frozen=True)
class WeightRegion:
    """A region whose constants are not compiled into flash.

    `identifier` is its name in C. `mapped`: the code reads them from the caller's blob; else they lie in RAM and begin
    with the values that they were compiled with. `frozen` are the plan's frozen slots in order.
    """

    name: str
    identifier: str
    mapped: bool
    frozen: tuple[int, ...]


@dataclass(frozen=True)
class Piece:
    """One constant in a payload."""

    slot: int
    array: str
    c_type: str
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class Blob:
    """The payload of a region; `pointer` is the C expression that shows it where it is mapped."""

    index: int
    name: str
    identifier: str
    mapped: bool
    pointer: str
    pieces: tuple[Piece, ...]
    payload_bytes: int

    @property
    def size_bytes(self) -> int:
        """Bytes of the whole blob."""
        return HEADER_BYTES + self.payload_bytes

    @property
    def weight_bytes(self) -> int:
        """Bytes of the constants without what aligns them."""
        return sum(piece.size_bytes for piece in self.pieces)


def lay_out(plan: ExecutionPlan, regions: Sequence[WeightRegion], context: bool = False) -> tuple[Blob, ...]:
    """The blobs of the regions, one constant after the other, aligned; with `context` an instance points to them."""
    blobs = []
    for index, region in enumerate(regions):
        pieces, at = [], 0
        for slot in region.frozen:
            constant = plan.frozen_slots[slot].constant
            size = packed(constant.dtype, constant.values).nbytes
            pieces.append(Piece(slot, f"{plan.name}_c{slot}", C_TYPES[constant.dtype], at, size))
            at += -(-size // PIECE_ALIGN) * PIECE_ALIGN
        pointer = f"context->blob_{index}" if context else f"{plan.name}_blob_{index}"
        blobs.append(Blob(index, region.name, region.identifier, region.mapped, pointer, tuple(pieces), at))
    return tuple(blobs)


def constant_texts(plan: ExecutionPlan, blobs: Sequence[Blob]) -> dict[int, str]:
    """C expressions for the addresses of constants that lie in a caller's blob, by frozen slot."""
    return {
        piece.slot: f"(const {piece.c_type} *)(const void *)({blob.pointer} + {piece.offset})"
        for blob in blobs
        if blob.mapped
        for piece in blob.pieces
    }


def identity(code: Sequence[str], blob: Blob) -> int:
    """What ties a blob to the code that reads it."""
    layout = ";".join(f"{p.c_type} {p.offset} {p.size_bytes}" for p in blob.pieces)
    text = "\0".join([VERSION, *code, f"{blob.index} {blob.mapped} {layout}"])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def blob_bytes(plan: ExecutionPlan, blob: Blob, known: int) -> bytes:
    """The file of a region: header and the constants' bytes as they lie in memory."""
    payload = bytearray(blob.payload_bytes)
    for piece in blob.pieces:
        constant = plan.frozen_slots[piece.slot].constant
        raw = raw_bytes(constant.dtype, constant.values)
        payload[piece.offset : piece.offset + len(raw)] = raw
    head = struct.pack("<4IQI", MAGIC, FORMAT, len(payload), zlib.crc32(payload), known, blob.index)
    return head + struct.pack("<I", zlib.crc32(head)) + bytes(payload)
