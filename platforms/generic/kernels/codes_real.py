"""Exactly rounded functions of two codes in float32, for the pairs whose integer form does not exist."""

from __future__ import annotations

from tilewright.numerics import C_TYPES, code_limits, literal, minus, rounds_twice, the_quantisation
from tilewright.operators import unmapped
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes import Q, context_of, read_constants, real, unary_nests
from tilewright.platforms.generic.kernels.nest import NestContext, nests_of, same_size
from tilewright.platforms.generic.kernels.nest_expressions import body_text, local
from tilewright.platforms.generic.kernels.nest_loops import Codes
from tilewright.platforms.generic.platform import PLATFORM

ROUNDED_TWICE = "its codes are rounded twice, the kernel computes in float32"


def real_operand(call: Call, index: int) -> str:
    """Operand `index` as a float expression over its code.

    The product is exact in double and rounded by the cast, so no compiler can fuse it with the sum behind it.
    """
    tensor = call.tensor(index)
    name = local(index)
    if tensor.quantisation is None:
        return name
    zero, scale = tensor.quantisation.zero_point[0], tensor.quantisation.scale[0]
    return f"(float)((double)({minus(name, zero, '.0f')}) * {literal(DType.F64, scale)})"


def quantising(call: Call, text: str) -> Codes:
    """The codes of a float expression."""
    y = call.outputs[0]
    meaning = the_quantisation(y)
    zero, step = meaning.zero_point[0], literal(DType.F32, meaning.scale[0])
    low, high = y.dtype.range
    steps = f"fminf(fmaxf(rintf(({text}) / {step}), {low - zero}.0f), {high - zero}.0f)"
    code = f"(int32_t){steps} + {zero}"
    return Codes(code, "acc", C_TYPES[y.dtype], *code_limits(call, y), operand_type="float")


@PLATFORM.kernel(
    "QuantizeLinear", "Relu", types="qi16|qu16, *... -> qi8|qu8|qi16|qu16", template="nest.c.mako",
    layout=("axes", "same"),
)  # fmt: skip
class RequantiseReal(KernelMethods):
    """Codes of sixteen bits under another scale, or without what is below 0; those of eight pass through a table."""

    def accepts(self, call: Call) -> str | None:
        """Exact codes."""
        return ROUNDED_TWICE if rounds_twice(call) else None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: scales and zero points stand in the expression."""
        return ()

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand, where its elements have the result's size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The code's real value, quantised anew."""
        call = operands.call
        value = real_operand(call, 0)
        codes = quantising(call, f"fmaxf({value}, 0.0f)" if call.node.op == "Relu" else value)
        return context_of(operands, unary_nests(call), [codes], ())


@PLATFORM.kernel(
    "Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu", types=f"{Q}|f32, {Q}|f32 -> {Q}", template="nest.c.mako",
    layout=("axes", "same"), preference=0,
)  # fmt: skip
class RealCodes(KernelMethods):
    """Dequantise, operate and quantise in float32, bit by bit as ONNX says."""

    def accepts(self, call: Call) -> str | None:
        """Operators whose float32 result has one right rounding."""
        if rounds_twice(call):
            return ROUNDED_TWICE
        return None if len(nests_of(real(call))) == 1 else unmapped(call)[0]

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as they are."""
        return read_constants(operands, nests_of(real(operands.call)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The operator's own expression between conversions."""
        call = operands.call
        (nest,) = nests_of(real(call))
        kinds = [access.tensor.dtype for access in nest.ins]
        parts = [real_operand(call, index) for index in range(len(call.inputs))]
        body = body_text(nest.body.name, kinds, DType.F32, nest.body.parameters, parts)
        assert body is not None  # of two operands, so it has no steps
        y = call.outputs[0]
        meaning = the_quantisation(y)
        zero, step = meaning.zero_point[0], literal(DType.F32, meaning.scale[0])
        low, high = y.dtype.range
        steps = f"fminf(fmaxf(rintf(({body.value}) / {step}), {low - zero}.0f), {high - zero}.0f)"
        codes = Codes(
            f"(int32_t){steps} + {zero}", "acc", C_TYPES[y.dtype], *code_limits(call, y), operand_type="float"
        )
        return context_of(operands, (nest,), [codes], ())
