"""Relayout: copies a tensor into another memory order."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Constant, KernelMethods, Layout, Operands
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class Loop:
    """One digit of the flat index: its extent and the element strides on both sides."""

    extent: int
    source: int
    target: int


@dataclass(frozen=True)
class RelayoutContext:
    """Loops outermost first, in the order of the target's memory."""

    elements: int
    contiguous: bool
    loops: tuple[Loop, ...]
    source: str
    target: str


@PLATFORM.kernel("Relayout", types="* -> *", layout="any", template="relayout.c.mako")
class Relayout(KernelMethods):
    """Copy of a tensor into another memory order."""

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The operand itself where it is constant."""
        call = operands.call
        return tuple(Constant("x", call.tensor(0).dtype, value.reshape(-1)) for value in call.constants.values())

    def context(self, operands: Operands) -> RelayoutContext:
        """Digits that both layouts share, each a loop."""
        call = operands.call
        source = operands.layout(call.tensor(0))
        target = operands.layout(call.outputs[0])
        if 0 in call.constants:
            source = Layout.default(call.shape(0))
        loops = _loops(source, target) if source != target else ()
        return RelayoutContext(
            elements=call.tensor(0).elements,
            contiguous=source == target,
            loops=loops,
            source=" + ".join(f"i{n} * {p.source}" for n, p in enumerate(loops)) or "0",
            target=" + ".join(f"i{n} * {p.target}" for n, p in enumerate(loops)) or "0",
        )


def _loops(source: Layout, target: Layout) -> tuple[Loop, ...]:
    digits = zip(*shared_digits(source, target), strict=True)
    return tuple(sorted((Loop(*digit) for digit in digits if digit[0] > 1), key=lambda loop: -loop.target))


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
