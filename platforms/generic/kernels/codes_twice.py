"""Functions of one or two codes with the two roundings of TensorFlow Lite Micro, for what no table or factors hold."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.numerics import (
    C_TYPES,
    Addition,
    Distance,
    Quotient,
    Twice,
    channel_axis,
    clip_steps,
    code_limits,
    curve_factor,
    curve_points,
    element_rules,
    element_twice_unknown,
    minus,
    requantisation,
    root_rule,
    rounds_twice,
    split_bias,
    the_quantisation,
    wide_nests,
    wide_rule,
    wraps,
)
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes import Q, context_of, read_constants, real, unary_nests
from tilewright.platforms.generic.kernels.codes_sums import centred_text, loop_text, products
from tilewright.platforms.generic.kernels.conv_i8 import weights_of
from tilewright.platforms.generic.kernels.nest import NestContext, nests_of, operand_names, same_size
from tilewright.platforms.generic.kernels.nest_loops import Codes
from tilewright.platforms.generic.platform import PLATFORM


def rounded(rule: Twice, total: str) -> str:
    """C expression of the rounded product of an int32_t expression."""
    multiplier = rule.multiplier << max(rule.shift, 0)
    number = str(multiplier) if multiplier < 1 << 31 else f"INT64_C({multiplier})"
    return f"tilewright_rounded_twice({total}, {number}, {max(-rule.shift, 0)})"


def steps_text(call: Call) -> str:
    """The result less its zero point, of the codes e0 and e1."""
    zeros = [
        the_quantisation(tensor).zero_point[0] for tensor in call.inputs if tensor is not None and tensor.quantisation
    ]
    codes = [minus(f"e{place}", zero) for place, zero in enumerate(zeros)]
    if call.node.op in ("Max", "Min"):
        return f"({codes[0]}) {'>' if call.node.op == 'Max' else '<'} ({codes[1]}) ? {codes[0]} : {codes[1]}"
    if call.node.op == "Clip":
        low, high = clip_steps(call)
        return f"({codes[0]}) < {low} ? {low} : ({codes[0]}) > {high} ? {high} : {codes[0]}"
    if call.node.op == "Abs" and call.tensor(0).quantisation == call.outputs[0].quantisation:
        return f"({codes[0]}) < 0 ? -({codes[0]}) : {codes[0]}"
    match element_rules(call):
        case Addition() | Distance() as rules:
            left, right = (
                rounded(rule, f"({code}) * {1 << rules.bits}")
                for rule, code in zip((rules.left, rules.right), codes, strict=True)
            )
            if isinstance(rules, Distance):
                return rounded(rules.total, f"tilewright_squared({left} - {right})")
            return rounded(rules.total, f"{left} {'+' if rules.sign > 0 else '-'} {right}")
        case Quotient(rule):
            return f"tilewright_quotient_twice({', '.join(codes)}, {rule.multiplier}, {rule.shift})"
        case (rise, fall):
            return f"{codes[0]} < 0 ? {rounded(fall, multiplied(codes))} : {rounded(rise, codes[0])}"
        case rule if call.node.op == "Relu":
            return f"({codes[0]}) < 0 ? 0 : {rounded(rule, codes[0])}"
        case rule if call.node.op == "Abs":
            return rounded(rule, f"(({codes[0]}) < 0 ? -({codes[0]}) : {codes[0]})")
        case rule:
            return rounded(rule, multiplied(codes))


def multiplied(codes: Sequence[str]) -> str:
    """C expression of the product of one expression or two."""
    return " * ".join(f"({code})" for code in codes) if len(codes) > 1 else codes[0]


@PLATFORM.kernel(
    "Add", "Sub", "Mul", "Max", "Min", "PRelu", "SquaredDifference", types=f"{Q}, {Q} -> {Q}",
    template="nest.c.mako", layout=("axes", "same"), sources=["twice.h"], preference=7,
)  # fmt: skip
class PairTwice(KernelMethods):
    """Functions of two codes as the reference kernels do them, in 64 bits; the larger or smaller of two codes."""

    def accepts(self, call: Call) -> str | None:
        """Codes of that contract."""
        return element_twice_unknown(call) if rounds_twice(call) else "its codes are exact, the kernel rounds twice"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes."""
        return read_constants(operands, nests_of(real(operands.call)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The operator's own loops around the roundings."""
        return context_of(operands, nests_of(real(operands.call)), [_codes(operands.call)], ())


@PLATFORM.kernel(
    "LeakyRelu", "QuantizeLinear", "Relu", "Clip", "Abs", types="qi8|qi16|qi32, *... -> qi8|qi16|qi32",
    template="nest.c.mako", layout=("axes", "same"), sources=["twice.h"], preference=7,
)  # fmt: skip
class ElementTwice(KernelMethods):
    """Functions of codes of sixteen bits and more, and under another scale; codes of eight have tables."""

    def accepts(self, call: Call) -> str | None:
        """Codes of that contract."""
        if call.tensor(0).dtype is DType.I8 and call.outputs[0].dtype is DType.I8:
            return "a table has its codes"
        return element_twice_unknown(call) if rounds_twice(call) else "its codes are exact, the kernel rounds twice"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: multipliers and shifts stand in the expression."""
        return ()

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand, where its elements have the result's size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """One expression of each code."""
        return context_of(operands, unary_nests(operands.call), [_codes(operands.call)], ())


@PLATFORM.kernel(
    "Sigmoid", "Tanh", types="qi16 -> qi16", template="nest.c.mako", layout=("axes", "same"),
    sources=["curve_twice.h"], preference=7,
)  # fmt: skip
class CurveTwice(KernelMethods):
    """Sigmoid and tanh of codes of sixteen bits, by lines between 256 points."""

    def accepts(self, call: Call) -> str | None:
        """Codes of that contract."""
        return element_twice_unknown(call) if rounds_twice(call) else "its codes are exact, the kernel takes lines"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The points of the sigmoid."""
        return (Constant("points", DType.U16, curve_points()),)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The code in the steps of the points, then the curve."""
        call = operands.call
        multiplier, shift = curve_factor(the_quantisation(call.tensor(0)).scale[0])
        step = f"(e0 * {multiplier} + {1 << shift >> 1}) >> {shift}" if shift else f"e0 * {multiplier}"
        text = f"tilewright_{call.node.op.lower()}16(points, {step})"
        low, high = code_limits(call, call.outputs[0])
        return context_of(operands, unary_nests(call), [Codes(text, "acc", "int16_t", low, high)], ())


@PLATFORM.kernel(
    "Conv", types="qi16, qi16, i32? -> qi8", template="nest.c.mako", layout=("axes", "like"), sources=["twice.h"],
    preference=-6,
)  # fmt: skip
class WrappedSums(KernelMethods):
    """Sums of products that may leave 32 bits wrap around there, as those of the reference kernels do."""

    def accepts(self, call: Call) -> str | None:
        """One multiplier, constant weights and bias."""
        if not wraps(call):
            return "its sums do not wrap around"
        places = (1,) if call.optional(2) is None else (1, 2)
        if len(requantisation(call).rules) > 1 or any(place not in call.constants for place in places):
            return "it has multipliers by channel, or weights of the run time"
        return None if len(nests_of(products(call))) == 1 else "it is no one loop nest"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Weights and bias; multiplier and shift stand in the expression."""
        call = operands.call
        values, dtype = weights_of(call)
        start = Constant("start", DType.I32, split_bias(call)[0])
        return (Constant(operand_names(call)[1], dtype, values.reshape(-1)), start)

    def context(self, operands: Operands) -> NestContext:
        """Loops over unsigned numbers."""
        call = operands.call
        (nest,), y = nests_of(products(call)), call.outputs[0]
        zero = the_quantisation(y).zero_point[0]
        (rule,) = requantisation(call).rules
        assert isinstance(rule, Twice), call.node.name
        total = f"(int32_t)(acc + (uint32_t)start[{loop_text(nest, channel_axis(call))}])"
        body = f"(uint32_t){centred_text(call, 0, 'e0')} * (uint32_t)e1"
        codes = Codes(f"{body}", f"{rounded(rule, total)} + {zero}", C_TYPES[y.dtype], *code_limits(call, y),
                      total_type="uint32_t")  # fmt: skip
        return context_of(operands, (nest,), [codes], ())


@PLATFORM.kernel(
    "Div", types="qi8, qi8 -> qi8", template="nest.c.mako", layout=("axes", "same"),
    sources=["softmax_twice.h", "rounded_over.h", "quotient_twice.h"], preference=7,
)  # fmt: skip
class QuotientTwice(KernelMethods):
    """Quotients of codes by the inverse of the divisor."""

    def accepts(self, call: Call) -> str | None:
        """Codes of that contract."""
        return element_twice_unknown(call) if rounds_twice(call) else "its codes are exact, the kernel rounds twice"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes."""
        return read_constants(operands, nests_of(real(operands.call)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The operator's own loops around the quotient."""
        return context_of(operands, nests_of(real(operands.call)), [_codes(operands.call)], ())


@PLATFORM.kernel(
    "InverseRoots", types="qi16 -> qi16", template="nest.c.mako", layout=("axes", "same"),
    sources=["twice.h", "inverse_root.h"], preference=5,
)  # fmt: skip
class InverseRoots(KernelMethods):
    """Inverse roots of codes of 16 bits, by steps of Newton."""

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: multiplier and shift stand in the expression."""
        return ()

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """One expression of each code, which has no zero point."""
        call = operands.call
        rule = root_rule(the_quantisation(call.tensor(0)), the_quantisation(call.outputs[0]))
        multiplier, (low, high) = rule.multiplier << max(rule.shift, 0), call.outputs[0].dtype.range
        text = f"tilewright_inverse_root(e0, INT64_C({multiplier}), {max(-rule.shift, 0)}, {high})"
        return context_of(operands, unary_nests(call), [Codes(text, "acc", "int16_t", low, high)], ())


@PLATFORM.kernel(
    "WideMatMul", types="qi16, qi16 -> qi16", template="nest.c.mako", layout=("axes", "same"), sources=["twice.h"],
    preference=5,
)  # fmt: skip
class WideMatMul(KernelMethods):
    """Products of codes of 16 bits, whose sums have 64."""

    def accepts(self, call: Call) -> str | None:
        """One loop nest."""
        return None if len(wide_nests(call)) == 1 else "it is no one loop nest"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes."""
        return read_constants(operands, wide_nests(operands.call))

    def context(self, operands: Operands) -> NestContext:
        """The product's own loops around sums of 64 bits."""
        call = operands.call
        y = call.outputs[0]
        multiplier, right = wide_rule(*(the_quantisation(tensor) for tensor in (call.tensor(0), call.tensor(1), y)))
        finish = f"(int32_t)((acc * {multiplier} + INT64_C({1 << (right - 1)})) >> {right})"
        codes = Codes("(int64_t)e0 * e1", finish, C_TYPES[y.dtype], *y.dtype.range, total_type="int64_t")
        return context_of(operands, wide_nests(call), [codes], ())


def _codes(call: Call) -> Codes:
    y = call.outputs[0]
    zero = the_quantisation(y).zero_point[0]
    text = steps_text(call)
    return Codes(f"({text}) + {zero}" if zero else text, "acc", C_TYPES[y.dtype], *code_limits(call, y))
