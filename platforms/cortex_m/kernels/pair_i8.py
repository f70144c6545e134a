"""Add and Sub of codes of one shape: one product and sum per operand, in integers, checked over every pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilewright.platform import Call, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.codes import pair_of, same_size


@dataclass(frozen=True)
class PairWork(Work):
    """Results by fours; calls."""

    fours: float
    calls: float


TYPES = "qi8, qi8 -> qi8"


@dataclass(frozen=True)
class PairContext:
    """`(a * left + b * right + addend) >> shift`, limited, over `elements` codes in one run."""

    left: int
    right: int
    addend: int
    shift: int
    low: int
    high: int
    elements: int


class PairMethods(KernelMethods):
    """What both kernels answer alike; they differ in their C and its prices."""

    _prices: ClassVar[PairWork]

    def accepts(self, call: Call) -> str | None:
        """Two operands of the result's shape at run time, and a sum in 32 bits."""
        if call.constants or any(t is None or t.shape != call.outputs[0].shape for t in call.inputs):
            return "the kernel adds operands of one shape"
        form = pair_of(call)
        if form is None or form.product or form.bits != 32:
            return "no 32-bit sum equals the float32 arithmetic on every pair of codes"
        return None

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Either operand."""
        return same_size(call)

    def cost(self, call: Call) -> float:
        """Results by fours, and the call."""
        return PairWork(fours=call.outputs[0].elements / 4, calls=1).priced(self._prices)

    def context(self, operands: Operands) -> PairContext:
        """The factors of the form."""
        form = pair_of(operands.call)
        assert form is not None
        return PairContext(
            form.left, form.right, form.addend, form.shift, form.low, form.high, operands.call.outputs[0].elements
        )


@PLATFORM.kernel(
    "Add", "Sub", types=TYPES, template="pair_i8.c.mako", layout="same", sources=["dsp.h"], preference=20,
    requires=Needs(has=("dsp",)),
)  # fmt: skip
class PairDsp(PairMethods):
    """Sums of codes with saturation in one instruction, four at a time."""

    _prices = PairWork(fours=34.0, calls=0.0)


@PLATFORM.kernel(
    "Add", "Sub", types=TYPES, template="pair_mve.c.mako", layout="same", sources=["mve.h"], preference=40,
    requires=Needs(has=("mve",)),
)  # fmt: skip
class PairMve(PairMethods):
    """Sums of codes in vectors of four."""

    _prices = PairWork(fours=11.2, calls=77.0)
