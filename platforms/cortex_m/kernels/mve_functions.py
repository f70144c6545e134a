"""Sigmoid, Tanh, Erf and their kin, and Softmax, on floats in vectors of four: no call of the library."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import literal, softmax_axis
from tilewright.platform import Call, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.functions_f32 import FunctionsF32
from tilewright.platforms.generic.kernels.softmax_f32 import SoftmaxF32, lines_refused
from tilewright.platforms.generic.kernels.softmax_i8 import Line

FOUR = 4
SCALAR, ROWS = FunctionsF32(), SoftmaxF32()


@dataclass(frozen=True)
class FunctionContext:
    """How many elements, the function's name, and C of the numbers that it takes."""

    elements: int
    function: str
    numbers: tuple[str, ...]


@PLATFORM.kernel(
    "Sigmoid", "Swish", "Tanh", "Erf", "Gelu", "Elu", "Selu", types="f32 -> f32", template="mve_functions.c.mako",
    layout=("axes", "same"), sources=["mve.h", "mve_functions.h"], numerics="1e-6", preference=40,
    requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class FunctionsMve(KernelMethods):
    """The functions of the scalar kernel by the same polynomials."""

    def accepts(self, call: Call) -> str | None:
        """What the scalar kernel accepts."""
        return SCALAR.accepts(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result may lie where the operand lay."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Some forty-four instructions for four elements."""
        return 11.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> FunctionContext:
        """The numbers and the function's name."""
        body = operands.call.nests[0].body
        numbers = tuple(literal(DType.F32, float(p)) for p in body.parameters)
        return FunctionContext(operands.call.outputs[0].elements, body.name, numbers)


@dataclass(frozen=True)
class SoftmaxContext:
    """Lines of so many elements, `x_step` and `y_step` from one to the next."""

    lines: tuple[Line, ...]
    length: int
    x_step: int
    y_step: int


@PLATFORM.kernel(
    "Softmax", types="f32 -> f32", template="mve_softmax.c.mako", layout=("axes", "same"),
    sources=["mve.h", "mve_functions.h"], numerics="1e-6", preference=40, requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class SoftmaxFloatMve(KernelMethods):
    """Softmax on floats over any axis: what lies apart is gathered."""

    def accepts(self, call: Call) -> str | None:
        """Lines of any axis, with four elements at least."""
        if (why := lines_refused(call)) is not None:
            return why
        length = call.shape(0)[softmax_axis(call)]
        return None if length >= FOUR else f"lines of {length} elements, vectors take four"

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Each element is read for the last time just before its result is written."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """Some forty-eight instructions for four elements, and those of a line."""
        length = call.shape(0)[softmax_axis(call)]
        return call.outputs[0].elements / length * (12.0 * length + 60.0)

    def context(self, operands: Operands) -> SoftmaxContext:
        """The numbers of the lines."""
        numbers = ROWS.context(operands)
        return SoftmaxContext(numbers.lines, numbers.length, numbers.x_step, numbers.y_step)
