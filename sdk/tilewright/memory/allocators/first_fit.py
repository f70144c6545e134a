"""First fit: each item in turn goes to the lowest place that its placed rivals leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilewright.memory.packing import Packing

UNPLACED = -1


def lowest_place(packing: Packing, offsets: Sequence[int], index: int) -> int:
    """The lowest aligned offset in units for one item, given the offsets of placed items (UNPLACED for others)."""
    item = packing.items[index]
    if item.pinned is not None:
        return item.pinned
    taken = [(at + low, at + high) for other, low, high in packing.rivals[index] if (at := offsets[other]) >= 0]
    taken.sort()
    align, place = item.align, 0
    for low, high in taken:
        if place <= low:
            break
        if place < high:
            place = high if align == 1 else -(-high // align) * align
    return place


def first_fit(packing: Packing, order: Iterable[int], limit: int | None = None) -> list[int] | None:
    """Offsets in units of all items placed in this order, pinned ones first.

    None as soon as one reaches beyond `limit` bytes.
    """
    offsets = [UNPLACED if item.pinned is None else item.pinned for item in packing.items]
    for index in order:
        if offsets[index] >= 0:
            continue
        place = lowest_place(packing, offsets, index)
        if limit is not None and packing.top(packing.items[index], place) > limit:
            return None
        offsets[index] = place
    return offsets
