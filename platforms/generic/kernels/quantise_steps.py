"""QuantizeLinear of floats on cores without a float unit: how many of at most 255 steps lie at or below the element.

A code grows with the real value, so it is told by the smallest float of every code. These are found here, by bisection
with the operator's own arithmetic. Floats compare as integers once those below zero are turned round: eight
comparisons of integers per element, exact as they stand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tilewright.numerics import C_TYPES, code_limits, quantise, the_quantisation
from tilewright.platform import Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.overlap import gap_bytes
from tilewright.platforms.generic.platform import PLATFORM

STEPS = 255
NEVER = 0x7FFFFFFF
"""More than any float's place in the order."""
LOWEST, HIGHEST = -0x7F800001, 0x7F800000
"""Places of minus and plus infinity."""


@dataclass(frozen=True)
class StepsContext:
    """The code of an element is `low` plus the steps at or below it."""

    elements: int
    code_type: str
    low: int


def refusal(call: Call) -> str | None:
    """None for one scale that grows, codes of eight bits and elements to work on; else why not."""
    y = call.outputs[0]
    meaning = y.quantisation
    if y.dtype.bits != 8:
        return f"codes have {y.dtype.bits} bits, the kernel finds eight"
    if meaning is None or len(meaning.scale) != 1 or meaning.scale[0] <= 0:
        return "the kernel has one scale for all elements, above zero"
    return None if y.elements else "the tensor has no elements"


def steps(call: Call) -> Constant:
    """Of every code but the lowest the place of its smallest float; `NEVER` behind them."""
    y = call.outputs[0]
    meaning = the_quantisation(y)
    low, high = code_limits(call, y)
    codes = np.arange(low + 1, high + 1)
    before = np.full(codes.size, LOWEST - 1, np.int64)
    reached = np.full(codes.size, HIGHEST + 1, np.int64)
    while (reached - before > 1).any():
        middle = (before + reached) // 2
        with np.errstate(all="ignore"):
            now = quantise(_floats(middle), meaning, y.dtype)
        before, reached = np.where(now >= codes, before, middle), np.where(now >= codes, middle, reached)
    values = np.full(STEPS, NEVER, np.int32)
    values[: codes.size] = np.where(reached > HIGHEST, NEVER, reached)
    return Constant("steps", DType.I32, values)


def _floats(places: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The floats at these places of their order."""
    word = places.astype(np.int32)
    return np.where(word < 0, word ^ NEVER, word).astype(np.int32).view(np.float32)


@PLATFORM.kernel(
    "QuantizeLinear", types="f32, *... -> qi8|qu8", template="quantise_steps.c.mako", layout=("axes", "same"),
    sources=["steps.h"], preference=6, requires=Needs(lacks=("fpu",)),
)  # fmt: skip
class QuantiseSteps(KernelMethods):
    """Codes of floats by comparing integers."""

    def accepts(self, call: Call) -> str | None:
        """One scale and codes of eight bits."""
        return refusal(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The smallest float of every code but the first."""
        return (steps(operands.call),)

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Codes may alias anything: each is written after its float was read."""
        at = np.arange(operands.call.tensor(0).elements, dtype=np.int64)
        return ((0, 0, gap_bytes(at + 1, at * 4, reads_before_writing=True)),)

    def cost(self, call: Call) -> float:
        """Eight comparisons of some six instructions."""
        return 55.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> StepsContext:
        """Elements and the lowest code."""
        y = operands.call.outputs[0]
        return StepsContext(y.elements, C_TYPES[y.dtype], code_limits(operands.call, y)[0])
