"""Softmax on floats: the largest of a line, exponentials by a polynomial, their sum, one reciprocal a line."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.numerics import softmax_axis
from tilewright.platform import Call, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.exponential_f32 import Exponential, exponential
from tilewright.platforms.generic.kernels.float_text import ATTRIBUTE
from tilewright.platforms.generic.kernels.softmax_i8 import Line, lines_of, strides
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class SoftmaxF32Context:
    """Extents and the exponential's numbers."""

    attribute: str
    lines: tuple[Line, ...]
    length: int
    x_step: int
    y_step: int
    exponential: Exponential


def lines_refused(call: Call) -> str | None:
    """None where there are elements to work on, and no activation is behind."""
    if call.node.clamp is not None:
        return "an activation is fused behind it, the kernel has none"
    if not call.outputs[0].elements or not call.shape(0):
        return "the tensor has no elements, or no axes"
    return None


@PLATFORM.kernel(
    "Softmax", types="f32 -> f32", template="softmax_f32.c.mako", layout=("axes", "same"),
    sources=["vectorised.h", "functions.h"], numerics="1e-6", preference=5, requires=Needs(has=("fpu",)),
)  # fmt: skip
class SoftmaxF32(KernelMethods):
    """Softmax on floats without the library."""

    def accepts(self, call: Call) -> str | None:
        """The last axis is summed, there are elements to work on, and no activation is behind."""
        if (why := lines_refused(call)) is not None:
            return why
        if prod(call.shape(0)[softmax_axis(call) + 1 :]) > 1:
            return "elements of a line do not lie side by side, which takes longer on cores with vectors"
        return None

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each element is read for the last time just before its result is written."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Some forty-five instructions per element."""
        return 45.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> SoftmaxF32Context:
        """The numbers of the lines."""
        call = operands.call
        axis, shape = softmax_axis(call), call.shape(0)
        x, y = (strides(operands, tensor.name, shape) for tensor in (call.tensor(0), call.outputs[0]))
        lines = lines_of(shape, axis, x, y)
        return SoftmaxF32Context(ATTRIBUTE, lines, shape[axis], x[axis], y[axis], exponential())
