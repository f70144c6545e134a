"""Fused chains of nests: the tile that each producer must compute for the last one's tile."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.ops.index.affine import Affine, Tile
from tilewright.ops.index.nest import Box, Nest


def producer_tile(producer: Nest, needed: Box) -> Tile:
    """Smallest tile of the producer that writes all of `needed`; its reduction loops stay whole.

    ValueError where one loop moves two axes of the result (a diagonal).
    """
    moving = producer.space.moving
    tile, moved = producer.space.whole(), set[str]()
    for sub, (low, high) in zip(producer.out.subscripts, needed, strict=True):
        assert isinstance(sub, Affine)
        first, last = low - sub.const, high - 1 - sub.const
        for name, coeff in sorted(sub.terms, key=lambda item: -abs(item[1])):
            if name not in moving:
                continue
            if name in moved:
                raise ValueError(f"{producer.out} writes a diagonal: '{name}' moves two axes")
            moved.add(name)
            if coeff < 0 or name not in producer.parallel:
                break  # leave this and the inner digits whole
            lo, hi = max(first // coeff, 0), min(last // coeff, moving[name] - 1)
            if _spills(producer, sub, coeff):
                break
            tile[name] = lo, hi + 1
            if lo != hi:
                break  # the inner digits wrap: whole
            first, last = first - lo * coeff, last - lo * coeff
    return tile


def _spills(producer: Nest, sub: Affine, coeff: int) -> bool:
    """True where the digits inside `coeff` reach beyond it, so that two outer steps write the same element."""
    moving = producer.space.moving
    inner = [(n, c) for n, c in sub.terms if n in moving and abs(c) < abs(coeff)]
    return any(c < 0 for _, c in inner) or sum(c * (moving[n] - 1) for n, c in inner) >= coeff


def hull(boxes: Sequence[Box]) -> Box | None:
    """Smallest box that holds all boxes; empty ones are skipped. None where nothing is left."""
    solid = [box for box in boxes if all(low < high for low, high in box)]
    if not solid:
        return None
    return tuple((min(lo for lo, _ in axis), max(hi for _, hi in axis)) for axis in zip(*solid, strict=True))


def chain_tiles(chain: Sequence[Nest], last: Tile) -> list[Tile]:
    """Tile of every nest of a chain that the last one's tile needs (halo recomputed); empty where it needs nothing.

    ValueError where a nest writes something that no later nest reads: such a chain has several results.
    """
    tiles = [last]
    needed: dict[str, list[Box]] = {}
    for consumer, producer in zip(chain[:0:-1], chain[-2::-1], strict=True):
        if all(low < high for low, high in tiles[0].values()):
            for access in (*consumer.ins, *consumer.after):
                needed.setdefault(access.tensor.name, []).append(access.footprint(tiles[0]).box)
        name = producer.out.tensor.name
        if all(name != a.tensor.name for nest in chain for a in (*nest.ins, *nest.after)):
            raise ValueError(f"the chain has several results: nothing in it reads '{name}'")
        box = hull(needed.get(name, []))
        tiles.insert(0, producer_tile(producer, box) if box else {n: (0, 0) for n in producer.space.extents})
    return tiles
