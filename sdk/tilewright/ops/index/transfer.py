"""What a loop order and a layout cost: how often an operand is loaded, and which bytes a transfer moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tilewright.ops.index.nest import Access, Box, Nest


def trips(nest: Nest, sizes: Mapping[str, int]) -> dict[str, int]:
    """Number of tiles along every loop; loops not in `sizes` stay whole."""
    return {n: -(-e // sizes.get(n, e)) for n, e in nest.space.extents.items()}


def loads(access: Access, trip_counts: Mapping[str, int], order: Sequence[str]) -> int:
    """Transfers of an operand when it is moved only if its tile changes; `order` is outermost first."""
    moving = [i for i, name in enumerate(order) if name in access.loops and trip_counts[name] > 1]
    return prod(trip_counts[name] for name in order[: moving[-1] + 1]) if moving else 1


def partial_reloads(nest: Nest, trip_counts: Mapping[str, int], order: Sequence[str]) -> int:
    """Times an unfinished total must come back: 0 if the reduction loops run inside the parallel ones."""
    return loads(nest.out, trip_counts, order) - prod(trip_counts[n] for n in nest.out.loops)


@dataclass(frozen=True)
class Transfer:
    """`run` contiguous items at `offset`, repeated over `repeats` = ((count, stride), ...), outermost first."""

    offset: int
    run: int
    repeats: tuple[tuple[int, int], ...]

    @property
    def bursts(self) -> int:
        """Number of contiguous runs."""
        return prod(count for count, _ in self.repeats)

    def commands(self, engine_dims: int) -> int:
        """Commands for an engine that repeats a run over `engine_dims - 1` strides in one go."""
        return prod(count for count, _ in self.repeats[: max(0, len(self.repeats) - engine_dims + 1)])


def transfer(box: Box, shape: Sequence[int], layout: Sequence[int] = ()) -> Transfer:
    """Transfer of `box` in items; `layout` lists the logical axes in memory order (NHWC = 0, 2, 3, 1)."""
    axes = list(layout or range(len(shape)))
    offset, run, stride = 0, 1, 1
    repeats: list[tuple[int, int]] = []
    for axis in reversed(axes):
        (low, high), size = box[axis], shape[axis]
        offset += low * stride
        count = high - low
        if run == stride:  # everything inside is whole: the run grows
            run *= count
        elif count > 1 and repeats and repeats[0][0] * repeats[0][1] == stride:  # two strides merge into one
            repeats[0] = (repeats[0][0] * count, repeats[0][1])
        elif count > 1:
            repeats.insert(0, (count, stride))
        stride *= size
    return Transfer(offset, run, tuple(repeats))
