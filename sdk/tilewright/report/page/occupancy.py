"""Which bytes of a level are in use at which step, and which buffers have bytes in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.memory.needs import BufferReport


def bytes_in_use(buffers: Sequence[BufferReport], steps: int) -> list[int]:
    """Bytes under the buffers at every step, those that several share counted once."""
    alive: list[list[BufferReport]] = [[] for _ in range(steps)]
    for buffer in sorted(buffers, key=lambda b: b.offset):
        for step in range(buffer.first, buffer.last + 1):
            alive[step].append(buffer)
    totals = []
    for row in alive:
        total = end = 0
        for buffer in row:
            total += max(0, buffer.offset + buffer.size - max(end, buffer.offset))
            end = max(end, buffer.offset + buffer.size)
        totals.append(total)
    return totals


def overlaps(buffers: Sequence[BufferReport]) -> Iterator[tuple[int, int]]:
    """Pairs that have bytes in common at some step, the smaller first."""
    alive: list[int] = []
    for at in sorted(range(len(buffers)), key=lambda n: buffers[n].first):
        one = buffers[at]
        alive = [n for n in alive if buffers[n].last >= one.first]
        for other in alive:
            two = buffers[other]
            if one.offset < two.offset + two.size and two.offset < one.offset + one.size:
                yield (at, other) if one.size <= two.size else (other, at)
        alive.append(at)
