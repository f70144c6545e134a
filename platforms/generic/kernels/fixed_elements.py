"""Numbers in fixed point, element by element: sums, products, Sigmoid, Tanh."""

from __future__ import annotations

from tilewright.numerics import C_TYPES, StepForm, code_limits, product_exponent, step_form, sum_form
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes import context_of, read_constants, real
from tilewright.platforms.generic.kernels.nest import NestContext, nests_of, same_size
from tilewright.platforms.generic.kernels.nest_loops import Codes
from tilewright.platforms.generic.platform import PLATFORM


def moved(value: str, bits: int) -> str:
    """C of an int32_t expression times 2^bits; a number to the left is never negative in C's sense of a shift."""
    if not bits:
        return value
    return f"({value} >> {-bits})" if bits < 0 else f"(int32_t)((uint32_t){value} << {bits})"


def fixed_context(operands: Operands, text: str) -> NestContext:
    """The loops of an operator of one nest, with that expression of its operands."""
    call = operands.call
    codes = Codes(text, "acc", C_TYPES[DType.I32], *code_limits(call, call.outputs[0]))
    return context_of(operands, nests_of(real(call)), [codes], ())


class ElementMethods(KernelMethods):
    """What all of them answer alike."""

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes."""
        return read_constants(operands, nests_of(real(operands.call)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape."""
        return same_size(call)


@PLATFORM.kernel("Add", "Sub", "Mul", types="qi32, qi32 -> qi32", template="nest.c.mako", layout=("axes", "same"),
                 sources=["fixed.h"])  # fmt: skip
class FixedPairs(ElementMethods):
    """Two shifts and a sum, or the upper half of a product."""

    def cost(self, call: Call) -> float:
        """Loads, shifts and a store."""
        return 9.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> NestContext:
        """The expression of both operands."""
        call = operands.call
        if call.node.op == "Mul":
            product = "tilewright_fixed_high((int32_t)((uint32_t)e0 << 1), (int32_t)((uint32_t)e1 << 1))"
            return fixed_context(operands, moved(product, product_exponent(call)))
        form = sum_form(call)
        return fixed_context(operands, f"{moved('e0', form.left)} {'-+'[form.sign > 0]} {moved('e1', form.right)}")


def sigmoid_text(form: StepForm) -> str:
    """C of a sigmoid of `e0`, 2^30 for 1."""
    return f"tilewright_fixed_sigmoid(e0, {form.limit}, {form.room}, {form.factor})"


@PLATFORM.kernel("Sigmoid", "Tanh", types="qi32 -> qi32", template="nest.c.mako", layout=("axes", "same"),
                 sources=["fixed.h", "fixed_reciprocal.h", "fixed_power.h", "fixed_sigmoid.h"])  # fmt: skip
class FixedSigmoid(ElementMethods):
    """A power of 2 by a polynomial, and a reciprocal."""

    def cost(self, call: Call) -> float:
        """Some sixty instructions an element."""
        return 60.0 * call.outputs[0].elements

    def context(self, operands: Operands) -> NestContext:
        """The expression of the operand."""
        call = operands.call
        form = step_form(call, 2.0 if call.node.op == "Tanh" else 1.0)
        share = sigmoid_text(form)
        text = moved(f"({share} * 2 - 1073741824)" if call.node.op == "Tanh" else share, form.exponent)
        return fixed_context(operands, text)
