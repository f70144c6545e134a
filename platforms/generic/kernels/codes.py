"""Operators on quantised tensors that go element by element: pairs in integers, tables, and moves of codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    OF_PAIRS,
    ROUNDING,
    PairForm,
    code_limits,
    initialiser,
    is_fixed,
    lookup_table,
    mean_proof,
    pair_form,
    pair_text,
    real_call,
    requantisation_table,
    requantise,
    same_meaning,
    too_wide,
    window_counts,
)
from tilewright.operators import Converts, Mean, Moves, Pairwise, all_operators, names_with, unmapped
from tilewright.ops.index.loop_nest import declarations as loop_tables
from tilewright.ops.index.nest import Nest
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands, Tensor
from tilewright.platforms.generic.kernels.nest import (
    ELEMENTWISE,
    NestContext,
    Printed,
    nests_of,
    operand_names,
    same_size,
    scratch_bytes,
    scratch_pointers,
    strides_of,
    unread,
)
from tilewright.platforms.generic.kernels.nest_loops import Codes, loop_nest
from tilewright.platforms.generic.platform import PLATFORM

Q = "qi8|qu8|qi16|qu16"
BYTES = "qi8|qu8|i8|u8"
MAPPED = frozenset(o.name for o in all_operators() if o.nests is not None)
MOVES = tuple(name for name in names_with(Moves) if name in MAPPED)
PAIRS = tuple(o.name for o in all_operators() if o.codes == Pairwise(factored=True))
TABLES = (*(name for name in ELEMENTWISE if name not in ("DequantizeLinear", "Cast", "CastLike")), "Lookup")


def plain_call(call: Call) -> Call:
    """The call over plain integers of the results' type: what the index maps of a move are asked about."""
    kind = call.outputs[0].dtype

    def plain(tensor: Tensor) -> Tensor:
        return replace(tensor, quantisation=None, dtype=kind if tensor.quantisation else tensor.dtype)

    node = replace(call.node, clamp=None)
    inputs = tuple(None if t is None else plain(t) for t in call.inputs)
    return replace(call, node=node, inputs=inputs, outputs=tuple(map(plain, call.outputs)))


def real(call: Call) -> Call:
    """The call over real numbers: what the index maps of arithmetic are asked about."""
    return real_call(call, DType.F32, call.constants)


def context_of(
    operands: Operands, nests: Sequence[Nest], codes: Sequence[Codes | None], declarations: Sequence[str]
) -> NestContext:
    """The nests printed with integer arithmetic; `declarations` are the tables that it reads."""
    strides = strides_of(operands)
    loops = tuple(
        loop_nest(nest, strides, i, None, code) for i, (nest, code) in enumerate(zip(nests, codes, strict=True))
    )
    lines = (*loop_tables(loops), *declarations, *unread(operands, tuple(nests)))
    printed = Printed(tuple(nests), tuple(codes), tuple(declarations))
    return NestContext(lines, loops, printed)


def read_constants(operands: Operands, nests: Sequence[Nest]) -> tuple[Constant, ...]:
    """The constant operands that the nests read, as codes."""
    call = operands.call
    read = {access.tensor.name for nest in nests for access in (*nest.ins, *nest.after)}
    names = operand_names(call)
    return tuple(
        Constant(names[i], call.tensor(i).dtype, value.reshape(-1))
        for i, value in sorted(call.constants.items())
        if names[i] in read
    )


def pair_of(call: Call) -> PairForm | None:
    """The integer form of an Add, Sub or Mul."""
    assert call.operator is not None
    return pair_form(call.operator, call)


def without_form(call: Call) -> str | None:
    """None, or that integers cannot give what float32 does."""
    return None if pair_of(call) else "no integer form equals the float32 arithmetic on every pair of codes"


@PLATFORM.kernel(
    *PAIRS, types=f"{Q}, {Q} -> {Q}", template="nest.c.mako", layout=("axes", "same"), sources=[*OF_PAIRS],
    preference=10,
)  # fmt: skip
class PairCodes(KernelMethods):
    """Add, Sub and Mul of codes in integers, checked over every pair."""

    def accepts(self, call: Call) -> str | None:
        """An integer form must exist."""
        return without_form(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes."""
        return read_constants(operands, nests_of(real(operands.call)))

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """Every operand of the result's shape and element size."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """The form as an expression of both codes."""
        call = operands.call
        form = pair_of(call)
        assert form is not None
        word = "int64_t" if form.bits == 64 else "int32_t"
        codes = Codes(pair_text(form), "acc", C_TYPES[call.outputs[0].dtype], form.low, form.high)
        return context_of(operands, nests_of(real(call)), [replace(codes, operand_type=word)], ())


@PLATFORM.kernel(
    *TABLES, types=f"{BYTES}, *... -> {BYTES}|i16", template="nest.c.mako", layout=("axes", "same"), preference=5
)
class TableCodes(KernelMethods):
    """Any function of one code as a table of 256 results; a Lookup has one, whatever its elements mean."""

    def accepts(self, call: Call) -> str | None:
        """One operand at run time, the others constants of one element."""
        if call.node.op != "Lookup" and None in (call.tensor(0).quantisation, call.outputs[0].quantisation):
            return "its elements are plain integers, the kernel takes codes"
        for index, tensor in enumerate(call.inputs):
            if index and tensor is not None and (index not in call.constants or tensor.elements != 1):
                return f"operand {index} is no constant of one element, a table has one operand"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The table, from the lowest code on."""
        call = operands.call
        assert call.operator is not None
        return (Constant("codes", call.outputs[0].dtype, self._table(call)),)

    def _table(self, call: Call) -> Array:
        assert call.operator is not None
        if call.node.op == "QuantizeLinear":
            return requantisation_table(call.tensor(0), call.outputs[0])
        return lookup_table(call.operator, call)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The operand."""
        return same_size(call)

    def context(self, operands: Operands) -> NestContext:
        """One look-up per element."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        low, high = y.dtype.range
        lowest = x.dtype.range[0]
        index = f"e0 + {-lowest}" if lowest else "e0"
        codes = Codes(f"codes[{index}]", "acc", C_TYPES[y.dtype], low, high)
        (nest,) = (n for n in unary_nests(call))
        return context_of(operands, (nest,), [codes], ())


def unary_nests(call: Call) -> tuple[Nest, ...]:
    """The copy nest of an elementwise operator with one operand."""
    from tilewright.ops.index.nest import Space
    from tilewright.ops.index.nest import Tensor as Operand

    x = call.tensor(0)
    space = Space.of(**{f"i{axis}": size for axis, size in enumerate(x.shape)})
    loops = tuple(space)
    name = operand_names(call)[0]
    assert call.operator is not None
    return (Nest(space, Operand(call.operator.results[0], x.shape)[loops], (Operand(name, x.shape)[loops],)),)


@PLATFORM.kernel(*MOVES, types="*... -> *...", template="nest.c.mako", layout=("axes", "like"), preference=-5)
class MoveCodes(KernelMethods):
    """Moves codes; operands of another scale pass through a table of 256 codes."""

    def accepts(self, call: Call) -> str | None:
        """Quantised operands of at most eight bits where their scale is not the result's; nearest neighbours only."""
        y = call.outputs[0]
        if y.quantisation is None:
            return "the tensors are not quantised"
        if call.node.op in ("Resize", "Upsample") and call.node.attributes.get("mode", "nearest") != "nearest":
            return "interpolation computes, the kernel only moves codes"
        if call.node.op == "Pad" and call.node.attributes.get("mode", "constant") == "constant":
            value = call.optional(2)
            if value is None or value.dtype.is_float:
                return "the value of the padding is real, the kernel moves codes"
        for tensor in call.inputs:
            if tensor is not None and tensor.quantisation is not None and not same_meaning(tensor, y):
                if tensor.dtype.bits > 8 or call.node.op != "Concat":
                    return f"'{tensor.name}' has another scale than the result"
        if call.node.clamp is not None and code_limits(call, y) != y.dtype.range:
            return "the result is limited, the kernel moves codes as they are"
        if not nests_of(plain_call(call)):
            return unmapped(call)[0]
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as codes."""
        return read_constants(operands, nests_of(plain_call(operands.call)))

    def scratch(self, operands: Operands) -> int:
        """Bytes of what stands between the nests: the places of maxima in another order."""
        call = plain_call(operands.call)
        return scratch_bytes(call, nests_of(call))

    def context(self, operands: Operands) -> NestContext:
        """Copies, through a table where the scale changes."""
        call = operands.call
        nests = nests_of(plain_call(call))
        y = call.outputs[0]
        low, high = y.dtype.range
        names = operand_names(call)
        declarations, codes = scratch_pointers(call, nests), list[Codes | None]()
        for nest in nests:
            source = nest.ins[0].tensor.name
            tensor = call.tensor(names.index(source)) if source in names else y
            if same_meaning(tensor, y) or tensor.quantisation is None:
                codes.append(None)
                continue
            values = requantisation_table(tensor, y)
            text = initialiser(y.dtype, values)
            declarations.append(f"static const {C_TYPES[y.dtype]} codes_{source}[{values.size}] = {{{text}}};")
            lowest = tensor.dtype.range[0]
            codes.append(Codes(f"codes_{source}[e0 + {-lowest}]", "acc", C_TYPES[y.dtype], low, high))
        return context_of(operands, nests, codes, declarations)


@PLATFORM.kernel(
    *names_with(Mean), types=f"{Q}, i64? -> {Q}", template="nest.c.mako", layout=("axes", "like"), preference=10,
    sources=[*ROUNDING],
)  # fmt: skip
class MeanCodes(KernelMethods):
    """Means and sums of codes: exact int32 sums, one requantisation."""

    def accepts(self, call: Call) -> str | None:
        """One number of elements per mean, and a requantisation that fits."""
        counts, nests = window_counts(call), nests_of(real(call))
        if not nests:
            return unmapped(call)[0]
        if counts.size > 1 and len(nests) != 1:
            return "windows hold different numbers of elements"
        return next((why for n in counts.tolist() if (why := too_wide(mean_proof(call, int(n))))), None)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """None: the axes are in the loops."""
        return ()

    def context(self, operands: Operands) -> NestContext:
        """Sum, and requantise by the number of elements."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        zero = x.quantisation.zero_point[0]
        low, high = code_limits(call, y)
        parts = []
        for count in window_counts(call).tolist():
            form = requantise(mean_proof(call, int(count)))
            parts.append((int(count), form.c("acc")))
        finish = parts[-1][1]
        for count, text_of in parts[:-1]:
            finish = f"points == {count} ? {text_of} : {finish}"
        body = f"e0 - {zero}" if zero >= 0 else f"e0 + {-zero}"
        codes = Codes(body, finish, C_TYPES[y.dtype], low, high, pad=zero, counted=len(parts) > 1)
        (nest,) = nests_of(real(call))
        return context_of(operands, (nest,), [codes], ())


@PLATFORM.kernel(
    *names_with(Converts), types="*... -> *...", template="nest.c.mako", layout=("axes", "same"),
    sources=["difference.h"], preference=-5,
)  # fmt: skip
class BorderCodes(KernelMethods):
    """Between floats and codes, as ONNX's float32 arithmetic says."""

    def accepts(self, call: Call) -> str | None:
        """Floats on one side, codes with constant scales on the other."""
        if is_fixed(call.tensor(0)) or is_fixed(call.outputs[0]):
            return "numbers in fixed point are converted by shifts"
        floats = call.outputs[0] if call.node.op == "DequantizeLinear" else call.tensor(0)
        if floats.dtype is not DType.F32:
            return f"'{floats.name}' is {floats.type_token}, the kernel converts f32"
        return None if nests_of(border_call(call)) else unmapped(call)[0]

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Scale and zero point."""
        return read_constants(operands, nests_of(border_call(operands.call)))

    def context(self, operands: Operands) -> NestContext:
        """The operator's own nest over plain integers and floats."""
        return context_of(operands, nests_of(border_call(operands.call)), [None], ())


def border_call(call: Call) -> Call:
    """The call with its codes as plain integers."""
    inputs = tuple(None if t is None else replace(t, quantisation=None) for t in call.inputs)
    outputs = tuple(replace(t, quantisation=None) for t in call.outputs)
    constants = {i: np.asarray(v) for i, v in call.constants.items()}
    return replace(call, inputs=inputs, outputs=outputs, constants=constants)
