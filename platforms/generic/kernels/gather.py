"""Gather, GatherElements, GatherND and ReverseSequence at indices that are known at run time only."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.operators import gather_axis, sequence_axes
from tilewright.platform import Call, Constant, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import (
    INDEX,
    MOVED,
    Loop,
    address,
    constants_by_name,
    empty,
    loops,
    recoded,
    strides,
)
from tilewright.platforms.generic.platform import PLATFORM

TYPES = f"{MOVED}, {INDEX} -> {MOVED}"


def _refusal(call: Call) -> str | None:
    return empty(call) or recoded(call, 0)


@dataclass(frozen=True)
class GatherContext:
    """`outer` blocks of `size` slices of `inner` elements each, of which `taken` are copied."""

    outer: int
    taken: int
    size: int
    inner: int


@PLATFORM.kernel("Gather", types=TYPES, template="gather.c.mako", sources=["index.h", "runs.h"], preference=-25)
class Gather(KernelMethods):
    """Slices copied from where run-time indices point; an index outside takes the nearest slice."""

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return _refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Data or indices where they are constant."""
        return constants_by_name(operands, 0, 1)

    def context(self, operands: Operands) -> GatherContext:
        """Sizes before, along and after the axis."""
        call = operands.call
        axis, shape = gather_axis(call), call.shape()
        return GatherContext(prod(shape[:axis]), prod(call.shape(1)), shape[axis], prod(shape[axis + 1 :]))


@dataclass(frozen=True)
class ElementsContext:
    """Loops over the indices; `index` is an index's own address, `source` the address it points to through `at`."""

    loops: tuple[Loop, ...]
    index: str
    source: str
    size: int


@PLATFORM.kernel("GatherElements", types=TYPES, template="gather_elements.c.mako", sources=["index.h"])
class GatherElements(KernelMethods):
    """Single elements from where run-time indices point along one axis."""

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return _refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Data or indices where they are constant."""
        return constants_by_name(operands, 0, 1)

    def context(self, operands: Operands) -> ElementsContext:
        """Loops over every index."""
        call = operands.call
        axis, shape, index_shape = gather_axis(call), call.shape(), call.shape(1)
        places = ["at" if place == axis else f"i{place}" for place in range(len(shape))]
        source = [(name, step) for name, step in zip(places, strides(shape), strict=True)]
        text = " + ".join(f"{name} * {step}" for name, step in source)
        return ElementsContext(loops(index_shape), address(index_shape), text, shape[axis])


@dataclass(frozen=True)
class PlacesContext:
    """`tuples` index tuples in each of `batches`; `sizes` and `steps` of the axes they address, `inner` elements."""

    batches: int
    tuples: int
    depth: int
    sizes: str
    steps: str
    block: int
    inner: int


@PLATFORM.kernel("GatherND", types=TYPES, template="gather_nd.c.mako", sources=["index.h", "runs.h"])
class GatherND(KernelMethods):
    """Slices from where tuples of run-time indices point."""

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return _refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Data or indices where they are constant."""
        return constants_by_name(operands, 0, 1)

    def context(self, operands: Operands) -> PlacesContext:
        """Sizes of the addressed axes."""
        call = operands.call
        batch, shape, index_shape = call.integer("batch_dims", 0), call.shape(), call.shape(1)
        depth = index_shape[-1]
        addressed = slice(batch, batch + depth)
        return PlacesContext(
            prod(shape[:batch]), prod(index_shape[batch:-1]), depth, ", ".join(map(str, shape[addressed])),
            ", ".join(map(str, strides(shape)[addressed])), prod(shape[batch:]), prod(shape[batch + depth :]),
        )  # fmt: skip


@dataclass(frozen=True)
class ReverseContext:
    """`steps` along time, `batch` entries; elements between neighbours along both, `inner` elements at each place."""

    steps: int
    batch: int
    time_step: int
    batch_step: int
    inner: int


@PLATFORM.kernel("ReverseSequence", types=TYPES, template="reverse_sequence.c.mako")
class ReverseSequence(KernelMethods):
    """The first elements along time turned around; a length outside is limited to what is there."""

    def accepts(self, call: Call) -> str | None:
        """Elements are moved as they are."""
        return _refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Data or lengths where they are constant."""
        return constants_by_name(operands, 0, 1)

    def context(self, operands: Operands) -> ReverseContext:
        """Sizes of the two axes and of what lies behind them."""
        call = operands.call
        (batch, time), shape = sequence_axes(call), call.shape()
        steps = strides(shape)
        return ReverseContext(shape[time], shape[batch], steps[time], steps[batch], prod(shape[2:]))
