"""How a nest is walked in vectors: one loop in strips of lanes, the others around it in C.

The loop of the strips is the one along which most lanes lie side by side; neighbouring loops that all operands walk as
one are one. Loops that a table, a division or the edge of a tensor asks about stay around the strips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Access, Nest
from tilewright.platform import DType
from tilewright.platforms.generic.kernels.nest_address import Address, Addresses, Strides, sum_text

APART = 4
"""Lanes that lie apart count as so many fewer."""


@dataclass(frozen=True)
class Operand:
    """A tensor of the nest: the C of the element of the strip's first lane, and elements from lane to lane."""

    name: str
    dtype: DType
    place: str
    step: int

    @property
    def pointer(self) -> str:
        """C of the address of the first lane."""
        return self.name if self.place == "0" else f"{self.name} + {self.place}"

    @property
    def element(self) -> str:
        """C of the first lane's element."""
        return f"{self.name}[{self.place}]"


@dataclass(frozen=True)
class Walk:
    """Loops around strips of `length` lanes, loops over what is reduced, conditions of points, operands with the result
    first, and the tables that places are read from."""

    comment: str
    loops: tuple[tuple[str, int], ...]
    reduced: tuple[tuple[str, int], ...]
    guards: tuple[str, ...]
    length: int
    operands: tuple[Operand, ...]
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Loop:
    """A loop: its name, its extent, and how many elements each tensor moves on in a step."""

    name: str
    extent: int
    steps: tuple[int, ...]


def walk(nest: Nest, strides: Strides, index: int = 0) -> Walk | None:
    """The walk of a nest; None where an operand has no memory, or no loop is left for strips."""
    if any(access.tensor.iota or access.tensor.values or access.tensor.dtype.bits < 8 for access in nest.operands):
        return None
    if any(access.margin for access in nest.operands):
        return None
    addressed = Addresses(nest, strides, index, None)
    addresses = [addressed.address(access) for access in nest.operands]
    around = {name for access in nest.operands for name in _asked(access, nest)}
    extents = nest.space.moving
    parallel = [_loop(name, extents, addresses) for name in extents if name in nest.parallel]
    merged = _merged(sorted(parallel, key=lambda loop: -abs(loop.steps[0])), around)
    strip = max((loop for loop in merged if loop.name not in around), key=_lanes, default=None)
    if strip is None:
        return None
    outer = [loop for loop in merged if loop is not strip]
    inner = [_loop(name, extents, addresses) for name in nest.reductions]
    guards = [guard for access in nest.operands for guard in addressed.guards(access)]
    operands = tuple(
        Operand(access.tensor.name, access.tensor.dtype, _place(address, place, (*outer, *inner)), strip.steps[place])
        for place, (access, address) in enumerate(zip(nest.operands, addresses, strict=True))
    )
    return Walk(
        str(nest), tuple((loop.name, loop.extent) for loop in outer), tuple((loop.name, loop.extent) for loop in inner),
        tuple(dict.fromkeys(guards)), strip.extent, operands,
        tuple(table.declaration for table in addressed.tables.values()),
    )  # fmt: skip


def walk_of(comment: str, loops: Sequence[Loop], tensors: Sequence[tuple[str, DType]]) -> Walk:
    """The walk of loops, outermost first, each with the steps of the tensors, the result first."""
    merged = _merged(loops, set())
    strip = max(merged, key=_lanes, default=Loop("i", 1, (1,) * len(tensors)))
    outer = [loop for loop in merged if loop is not strip]
    start = Address((), 0, ())
    operands = tuple(
        Operand(name, dtype, _place(start, place, outer), strip.steps[place])
        for place, (name, dtype) in enumerate(tensors)
    )
    around = tuple((loop.name, loop.extent) for loop in outer)
    return Walk(comment, around, (), (), strip.extent, operands, ())


def _asked(access: Access, nest: Nest) -> set[str]:
    """Loops of an access that a table, a division or the edge of its tensor asks about."""
    whole = nest.space.whole()
    loops: set[str] = set()
    for sub, size in zip(access.subscripts, access.tensor.shape, strict=True):
        low, high = sub.hull(whole)
        if not isinstance(sub, Affine) or sub.div != 1 or low < 0 or high > size:
            loops |= set(sub.loops)
    return loops


def _loop(name: str, extents: Mapping[str, int], addresses: Sequence[Address]) -> Loop:
    return Loop(name, extents[name], tuple(dict(address.terms).get(name, 0) for address in addresses))


def _merged(loops: Sequence[Loop], around: set[str]) -> list[Loop]:
    """Neighbours that all operands walk as one are one."""
    merged: list[Loop] = []
    for loop in loops:
        before = merged[-1] if merged else None
        free = before is not None and loop.name not in around and before.name not in around
        if before is not None and free and before.steps == tuple(loop.extent * step for step in loop.steps):
            merged[-1] = Loop(loop.name, before.extent * loop.extent, loop.steps)
        else:
            merged.append(loop)
    return merged


def _lanes(loop: Loop) -> float:
    """What a loop is worth as that of the strips."""
    beside = loop.steps[0] == 1 and all(step in (0, 1) for step in loop.steps)
    return float(loop.extent if beside else loop.extent / APART)


def _place(address: Address, place: int, loops: Sequence[Loop]) -> str:
    terms = [
        loop.name if loop.steps[place] == 1 else f"{loop.name} * {loop.steps[place]}"
        for loop in loops if loop.steps[place]
    ]  # fmt: skip
    return sum_text([*terms, *address.looked_up], address.const)
