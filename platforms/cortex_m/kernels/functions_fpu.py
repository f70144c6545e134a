"""Sigmoid, Tanh, Erf and kin on floats by a single-precision unit: a quotient of polynomials, or an exponential."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import literal
from tilewright.platform import Call, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS
from tilewright.platforms.generic.kernels.functions_f32 import FunctionsF32

PORTABLE = FunctionsF32()
INSTRUCTIONS = {
    "sigmoid": 17.6, "swish": 18.1, "tanh": 14.6, "erf": 18.3, "gelu": 19.6, "gelu_tanh": 20.6, "exp": 16.6,
    "mish": 22.1, "softplus": 28.6, "elu": 23.2, "selu": 23.2,
}  # fmt: skip
"""Of an element, by the names of `tilewright.ops.index.body`."""


@dataclass(frozen=True)
class FunctionContext:
    """How many elements, the function's name, and of Elu and Selu half the slope above zero and the depth below, C."""

    elements: int
    function: str
    ends: tuple[str, ...]


@PLATFORM.kernel(
    "Sigmoid", "Swish", "Tanh", "Erf", "Gelu", "Exp", "Mish", "Softplus", "Elu", "Selu", types="f32 -> f32",
    template="functions_fpu.c.mako", layout=("axes", "same"), sources=[REGISTERS, "functions_fpu.h"], numerics="1e-6",
    preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class FunctionsFpu(KernelMethods):
    """Four elements a turn; within 3.6e-7 of the true value, relative to it, where that is 2e-33 or more; sums of Gelu
    within that of one.
    """

    def accepts(self, call: Call) -> str | None:
        """What the portable kernel accepts, Swish of the operand as it is."""
        if call.node.op == "Swish" and call.real("alpha", 1.0) != 1.0:
            return "the operand is multiplied before, the portable kernel does that"
        return PORTABLE.accepts(call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result may lie where the operand lay."""
        return ((0, 0),)

    def cost(self, call: Call) -> float:
        """The elements, and some hundred instructions where the last block is not full."""
        elements = call.outputs[0].elements
        return self._each(call) * elements + (110.0 if elements % 4 else 30.0)

    def _each(self, call: Call) -> float:
        return INSTRUCTIONS[call.nests[0].body.name]

    def context(self, operands: Operands) -> FunctionContext:
        """The number of elements, the function's name and its ends."""
        body, ends = operands.call.nests[0].body, tuple[str, ...]()
        if body.name in ("elu", "selu"):
            depth, slope = (*map(float, body.parameters), 1.0)[:2]
            ends = literal(DType.F32, 0.5 * slope), literal(DType.F32, depth * slope)
        return FunctionContext(operands.call.outputs[0].elements, body.name, ends)
