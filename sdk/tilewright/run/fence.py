"""The software fence: the bytes that every plan instruction may read and write, as the compiler declares them.

In the simulator the plugin holds every load and store of the model against it. On the host the address sanitizer
poisons all other bytes of the guarded objects while an instruction runs (it cannot tell a read from a write there),
and a copy taken before shows every byte that changed without leave, with or without the sanitizer.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from tilewright.run.image import STATE, Image, arena_range, arena_symbol, locate, state_range

EVERYTHING = 0xFFFFFFFF


@dataclass(frozen=True)
class FenceRange:
    """Bytes that one plan instruction may touch: `offset` in bytes into `symbol`, by default the arena."""

    instruction: int
    tensor: str
    offset: int
    size_bytes: int
    writes: bool
    symbol: str = ""


@dataclass(frozen=True)
class FenceMap:
    """All ranges, and the layer names by plan instruction. Every symbol that a range names is guarded as a whole.

    What is guarded is closed to an instruction but for its own ranges; all other memory is checked only against the
    target's map: code and constants are read-only, nothing lies outside the image's sections and its stack.
    """

    ranges: tuple[FenceRange, ...]
    layers: tuple[str, ...] = field(default=())

    def layer(self, instruction: int) -> str:
        """Name of a layer for messages; empty outside of all layers."""
        return self.layers[instruction] if 0 <= instruction < len(self.layers) else ""


@dataclass(frozen=True)
class PlacedRange:
    """A range at its address; `instruction` is EVERYTHING for a guarded object as a whole."""

    instruction: int
    address: int
    size_bytes: int
    writes: bool
    tensor: str


def place(image: Image, fence: FenceMap) -> tuple[PlacedRange, ...]:
    """The guarded objects, then all ranges by instruction. TilewrightError where the image lacks what is written."""
    arena = arena_symbol(image)
    names = sorted({entry.symbol or arena for entry in fence.ranges} | {arena})
    placed = list[PlacedRange]()
    if STATE in names:
        names.remove(STATE)
        placed.append(PlacedRange(EVERYTHING, *state_range(image), False, "state"))
    for name in names:
        symbol = image.elf.symbol(name)
        if symbol is not None:
            at, size = arena_range(image) if name == arena else (symbol.address, symbol.size_bytes)
            placed.append(PlacedRange(EVERYTHING, at, size, False, name))
    for entry in sorted(fence.ranges, key=lambda r: r.instruction):
        if entry.symbol not in ("", STATE) and not entry.writes and image.elf.symbol(entry.symbol) is None:
            continue  # a constant that nothing reads: the linker has dropped it
        address = locate(image, entry.symbol, entry.offset, entry.size_bytes)
        placed.append(PlacedRange(entry.instruction, address, entry.size_bytes, entry.writes, entry.tensor))
    return tuple(placed)


def guard_file(image: Image, fence: FenceMap) -> bytes:
    """The ranges as the host's test image reads them."""
    ranges = place(image, fence)
    rows = (struct.pack("<2I2Q", r.instruction, int(r.writes), r.address, r.size_bytes) for r in ranges)
    return struct.pack("<2I", len(ranges), 0) + b"".join(rows)


def nearest(ranges: tuple[PlacedRange, ...], instruction: int, address: int) -> tuple[PlacedRange, int] | None:
    """The range of an instruction that lies nearest to an address, and the distance in bytes.

    0 inside, positive behind its end (1 is the first byte past it), negative before its start.
    """
    best: tuple[PlacedRange, int] | None = None
    for entry in ranges:
        if entry.instruction != instruction or not entry.size_bytes:
            continue
        end = entry.address + entry.size_bytes
        gap = address - entry.address if address < entry.address else max(0, address - end + 1)
        if best is None or abs(gap) < abs(best[1]):
            best = (entry, gap)
    return best
