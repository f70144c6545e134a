"""Functions of codes on cores with vectors: sums and products of two in integers, tables of 256 results."""

from __future__ import annotations

from dataclasses import replace

from tilewright.numerics import C_TYPES, PairForm
from tilewright.ops.index.nest import Nest
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels import codes
from tilewright.platforms.generic.kernels.nest import nests_of, operand_names, same_size, strides_of, unread
from tilewright.platforms.riscv.kernels.strips import StripContext, StripText, strip_of
from tilewright.platforms.riscv.kernels.vector_walk import Operand, Walk, walk
from tilewright.platforms.riscv.platform import PLATFORM

NO_STRIP = "no loop is left for vectors"
LOOPS = codes.TableCodes()


@PLATFORM.kernel(
    *codes.PAIRS, types=f"{codes.Q}, {codes.Q} -> {codes.Q}", template="strip.c.mako", layout=("axes", "same"),
    preference=30, requires=Needs(has=("rvv",)),
)  # fmt: skip
class PairVector(KernelMethods):
    """Add, Sub and Mul of codes in integers of 32 bits, in vectors."""

    def accepts(self, call: Call) -> str | None:
        """An integer form of 32 bits must exist."""
        form = codes.pair_of(call)
        if form is None or form.bits != 32:
            return "no factors of 32 bits are right for every pair of codes"
        return None if _walk(call, Operands(call)) else NO_STRIP

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes."""
        return codes.read_constants(operands, nests_of(codes.real(operands.call)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> StripContext:
        """The form on lanes of 32 bits."""
        call = operands.call
        form, strips = codes.pair_of(call), _walk(call, operands)
        assert form is not None
        assert strips is not None
        return StripContext(strips.tables, (strip_of(strips, pair_text(strips, form)),))


def _walk(call: Call, operands: Operands) -> Walk | None:
    """The only nest of a pair, over codes in the place of real numbers."""
    nests = nests_of(codes.real(call))
    return as_codes(call, nests[0], operands) if len(nests) == 1 else None


def as_codes(call: Call, nest: Nest, operands: Operands) -> Walk | None:
    """The walk of a nest over real numbers, its operands with the types that lie in memory."""
    walked = walk(nest, strides_of(operands))
    if walked is None:
        return None
    kinds = dict(zip(operand_names(call), call.inputs, strict=False)) | {walked.operands[0].name: call.outputs[0]}
    known = ((one, kinds.get(one.name)) for one in walked.operands)
    typed = tuple(one if tensor is None else replace(one, dtype=tensor.dtype) for one, tensor in known)
    return replace(walked, operands=typed)


def pair_text(strips: Walk, form: PairForm) -> StripText:
    """The instructions of the form; an operand that stands still along a strip is a scalar."""
    y, a, b = strips.operands
    text = StripText()
    odd = 1 << form.shift if form.ties == "odd" else 0
    word = _product(text, a, b, form) if form.product else _sum(text, a, b, form)
    addend = f"{word} + {form.addend + odd}" if word else str(form.addend + odd)
    if addend != "0":
        text(f"vadd.vx v8, v8, {text.input('addend', addend)}")
    if form.shift:
        if form.ties == "up":
            text(f"vsra.vi v8, v8, {form.shift}")
        else:
            text("csrwi vxrm, 1", f"vssra.vi v8, v8, {form.shift}")
        if odd:
            text("vadd.vi v8, v8, -1")
    text.limited("v8", y.dtype, form.low, form.high)
    text.store("v8", "y", y)
    return text


def _sum(text: StripText, a: Operand, b: Operand, form: PairForm) -> str:
    """`a * left + b * right` in v8; C of what a scalar adds."""
    moving = [(name, one, factor) for name, one, factor in (("a", a, form.left), ("b", b, form.right)) if one.step]
    still = [(name, one, factor) for name, one, factor in (("a", a, form.left), ("b", b, form.right)) if not one.step]
    for register, (name, one, factor) in zip(("v8", "v16"), moving, strict=False):
        text.whole(register, name, one)
        if register == "v8":
            text(f"vmul.vx v8, v8, {text.input(f'{name}_factor', str(factor))}")
        else:
            text(f"vmacc.vx v8, {text.input(f'{name}_factor', str(factor))}, v16")
    words = [f"{text.scalar(f'{name}0', 'int32_t', one.element)} * {factor}" for name, one, factor in still]
    return " + ".join(words)


def _product(text: StripText, a: Operand, b: Operand, form: PairForm) -> str:
    """`(a - a_zero) * (b - b_zero) * left` in v8; nothing is added."""
    factors = [str(form.left)]
    registers = iter(("v8", "v16"))
    for name, one, zero in (("a", a, form.zero_points[0]), ("b", b, form.zero_points[1])):
        if one.step:
            register = next(registers)
            text.whole(register, name, one)
            if zero:
                text(f"vadd.vx {register}, {register}, {text.input(f'{name}_zero', str(-zero))}")
        else:
            factors.append(f"({text.scalar(f'{name}0', 'int32_t', one.element)} + {-zero})")
    if a.step and b.step:
        text("vmul.vv v8, v8, v16")
    text(f"vmul.vx v8, v8, {text.input('factor', ' * '.join(factors))}")
    return ""


@PLATFORM.kernel(
    *codes.TABLES, types=f"{codes.BYTES}, *... -> {codes.BYTES}", template="strip.c.mako", layout=("axes", "same"),
    preference=25, requires=Needs(has=("rvv",)),
)  # fmt: skip
class TableVector(KernelMethods):
    """Any function of one code as a table of 256 results, looked up lane by lane."""

    def accepts(self, call: Call) -> str | None:
        """What the loops accept, along a loop that is left for vectors."""
        refused = LOOPS.accepts(call)
        return refused or (None if walk(codes.unary_nests(call)[0], {}) else NO_STRIP)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The table, from the lowest code on."""
        return LOOPS.constants(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand."""
        return same_size(call)

    def context(self, operands: Operands) -> StripContext:
        """The code as an index of its byte."""
        call = operands.call
        (nest,) = codes.unary_nests(call)
        strips = as_codes(call, nest, operands)
        assert strips is not None
        y, x = strips.operands
        text = StripText()
        text.load("v8", "x", x)
        if x.dtype.is_signed:
            text(f"vxor.vx v8, v8, {text.input('flip', '-128')}")
        table = text.scalar("codes", f"const {C_TYPES[y.dtype]} *", "codes")
        text(f"vluxei8.v v16, ({text.input('codes', table)}), v8")
        text.store("v16", "y", y)
        return StripContext(tuple(unread(operands, (nest,))), (strip_of(strips, text, width=8),))
