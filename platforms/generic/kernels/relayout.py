"""Relayout: copies a tensor into another memory order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tilewright.numerics import times
from tilewright.platform import Constant, KernelMethods, Layout, Operands, Shape
from tilewright.platforms.generic.platform import PLATFORM

MOST_MOVES = 4
"""Turns of an innermost loop that are written out, as those over the colours of an image."""


@dataclass(frozen=True)
class Loop:
    """One digit of the flat index: its extent and the element strides on both sides."""

    extent: int
    source: int
    target: int


@dataclass(frozen=True)
class RelayoutContext:
    """Loops outermost first, in the order of the target's memory, and the place of their turn on either side; those
    that stay loops, and the places in target and source that an innermost turn moves between."""

    elements: int
    contiguous: bool
    loops: tuple[Loop, ...]
    source: str
    target: str
    counted: tuple[Loop, ...]
    moves: tuple[tuple[str, str], ...]


@PLATFORM.kernel("Relayout", types="* -> *", layout="any", template="relayout.c.mako")
class Relayout(KernelMethods):
    """Copy of a tensor into another memory order; of some rows of it where the result has fewer than the operand."""

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The operand itself where it is constant."""
        call = operands.call
        return tuple(Constant("x", call.tensor(0).dtype, value.reshape(-1)) for value in call.constants.values())

    def context(self, operands: Operands) -> RelayoutContext:
        """Digits that both layouts share, each a loop."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        source, target = operands.layout(x), operands.layout(y)
        if 0 in call.constants:
            source = Layout.default(x.shape)
        some = x.shape != y.shape
        loops = _axes(x.shape, y.shape, source, target) if some else _loops(source, target) if source != target else ()
        last = loops[-1] if len(loops) > 1 and loops[-1].extent <= MOST_MOVES else Loop(1, 0, 0)
        counted = loops[: len(loops) - (last.extent > 1)]
        return RelayoutContext(
            elements=x.elements,
            contiguous=source == target and not some,
            loops=loops,
            source=_place(loops, "source", 0),
            target=_place(loops, "target", 0),
            counted=counted,
            moves=tuple(
                (_place(counted, "target", n * last.target), _place(counted, "source", n * last.source))
                for n in range(last.extent)
            ),
        )


def _place(loops: tuple[Loop, ...], side: Literal["source", "target"], offset: int) -> str:
    """C of an element's place so far behind the one of the loops' counters."""
    terms = [times(f"i{n}", loop.source if side == "source" else loop.target) for n, loop in enumerate(loops)]
    return " + ".join([*terms, *([str(offset)] if offset or not terms else [])])


def _loops(source: Layout, target: Layout) -> tuple[Loop, ...]:
    digits = zip(*shared_digits(source, target), strict=True)
    return _outermost_first(Loop(*digit) for digit in digits)


def _axes(whole: Shape, rows: Shape, source: Layout, target: Layout) -> tuple[Loop, ...]:
    """One loop for each axis of the result; the operand has those of the whole tensor."""
    x, y = source.axis_strides(whole), target.axis_strides(rows)
    assert x is not None
    assert y is not None
    return _outermost_first(itertools.starmap(Loop, zip(rows, x, y, strict=True)))


def _outermost_first(loops: Iterable[Loop]) -> tuple[Loop, ...]:
    return tuple(sorted((loop for loop in loops if loop.extent > 1), key=lambda loop: -loop.target))


def shared_digits(a: Layout, b: Layout) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Digits fine enough for both layouts, with the element stride of each in either memory."""
    fine_a, fine_b = a.refine(b.digits), b.refine(a.digits)
    assert fine_a is not None
    assert fine_b is not None
    assert fine_a[0] == fine_b[0]
    return fine_a[0], _strides(*fine_a), _strides(*fine_b)


def _strides(digits: tuple[int, ...], order: tuple[int, ...]) -> tuple[int, ...]:
    strides, stride = [0] * len(digits), 1
    for digit in reversed(order):
        strides[digit] = stride
        stride *= digits[digit]
    return tuple(strides)
