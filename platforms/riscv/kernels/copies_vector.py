"""Moves of elements on cores with vectors, in strips that lie side by side or evenly apart on either side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from tilewright.numerics import C_TYPES, code_limits, requantisation_table, same_meaning
from tilewright.operators import unmapped
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import FINISH_KEEP
from tilewright.ops.index.nest import Access, Nest, Space
from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands, RowMoves, Tensor
from tilewright.platforms.generic.kernels import codes
from tilewright.platforms.generic.kernels.nest import nests_of, operand_names, strides_of, unread
from tilewright.platforms.generic.kernels.nest_loops import direct
from tilewright.platforms.generic.kernels.relayout import Relayout
from tilewright.platforms.riscv.kernels.elements_vector import NO_STRIP
from tilewright.platforms.riscv.kernels.strips import Strip, StripContext, StripText, strip_of
from tilewright.platforms.riscv.kernels.vector_walk import Loop, Walk, walk, walk_of
from tilewright.platforms.riscv.platform import PLATFORM

RELAYOUT = Relayout()
WIDEST = 32
"""Bits of an element that vectors of every core take."""
ROW_MOVES = RowMoves("tilewright_rvv_copy", Path(__file__).with_name("rvv_copy.h"), 20.0, 0.06)
"""Eight registers at a time."""


def copied(strips: Walk, otherwise: str = "", table: str = "") -> Strip:
    """Elements from operand to result as they are, or through a `table` of 256 codes."""
    y, x = strips.operands
    text = StripText()
    text.load("v8", "from", x)
    if table:
        if x.dtype.is_signed:
            text(f"vxor.vx v8, v8, {text.input('flip', '-128')}")
        values = text.scalar("codes", f"const {C_TYPES[y.dtype]} *", table)
        text(f"vluxei8.v v16, ({text.input('codes', values)}), v8")
    text.store("v16" if table else "v8", "to", y)
    return strip_of(strips, text, width=y.dtype.bits, otherwise=otherwise)


def _nests(call: Call) -> tuple[Nest, ...]:
    return nests_of(codes.plain_call(call))


def _source(call: Call, nest: Nest) -> Tensor | None:
    """The operand that a nest reads."""
    names = operand_names(call)
    name = nest.ins[0].tensor.name
    return call.tensor(names.index(name)) if name in names else None


def _refused(call: Call, nest: Nest) -> str | None:
    """None, or why a nest is no copy in strips."""
    moves = (nest.body.name, nest.combine.name) == ("copy", "set") and len(nest.ins) == 1 and not nest.reductions
    if not moves or nest.finish.name not in ("keep", "pad_value") or not direct(nest) or nest.after:
        return unmapped(call)[0] if not moves else "the value of the padding is computed at run time"
    out, source = nest.out.tensor, nest.ins[0].tensor
    if out.dtype is not source.dtype or not 8 <= out.dtype.bits <= WIDEST:
        return f"'{out.name}' has elements of {out.dtype.bits} bits, or of another type than its operand"
    if nest.finish.name == "pad_value" and out.dtype.bits == WIDEST and nest.finish.parameters[0] != 0:
        return "padding of 32 bits is no zero"
    return None if walk(inside(nest) or nest, {}) else NO_STRIP


def inside(nest: Nest) -> Nest | None:
    """The points of a padded copy that have an operand; None where its places are no plain steps of the loops."""
    (source,) = nest.ins
    if nest.finish.name != "pad_value":
        return None
    firsts: dict[str, int] = {}
    extents = dict(nest.space.extents)
    for sub, size in zip(source.subscripts, source.tensor.shape, strict=True):
        if not isinstance(sub, Affine) or sub.div != 1 or [step for _, step in sub.terms] not in ([], [1]):
            return None
        for name in sub.loops:
            if name in firsts:
                return None
            firsts[name] = max(0, -sub.const)
            extents[name] = min(extents[name], size - sub.const) - firsts[name]
    if min(extents.values(), default=1) < 1:
        return None
    out, into = _moved_on(nest.out, firsts), _moved_on(source, firsts)
    return replace(nest, space=Space(tuple(extents.items())), out=out, ins=(into,), finish=FINISH_KEEP)


def _moved_on(access: Access, firsts: Mapping[str, int]) -> Access:
    """The access from the first value of every loop on."""
    subs = tuple(
        sub + sum(step * firsts.get(name, 0) for name, step in sub.terms) if isinstance(sub, Affine) else sub
        for sub in access.subscripts
    )
    return replace(access, subscripts=subs)


def _filled(call: Call, nest: Nest) -> Strip:
    """A strip over all of the result that sets it to the padding's value."""
    y = call.outputs[0]
    loop = Loop("i", y.elements, (1,))
    walked = walk_of("padding", [loop], ((nest.out.tensor.name, y.dtype),))
    text = StripText()
    value = text.input("value", str(int(np.asarray(nest.finish.parameters[0]))))
    text.store("v8", "to", walked.operands[0])
    bits = y.dtype.bits
    before = (f"vsetvli %[some], zero, e{bits}, m8, ta, ma", f"vmv.v.x v8, {value}")
    return strip_of(walked, text, before, width=bits)


@PLATFORM.kernel(
    *codes.MOVES, types="*... -> *...", template="strip.c.mako", layout=("axes", "like"), sources=["rvv_copy.h"],
    preference=20, requires=Needs(has=("rvv",)),
)  # fmt: skip
class CopyVector(KernelMethods):
    """Concat, Split, Slice, Pad and kin in strips; operands of another scale pass through a table of 256 codes."""

    def accepts(self, call: Call) -> str | None:
        """Elements as they are, or codes of eight bits under another scale."""
        y = call.outputs[0]
        if call.node.clamp is not None and (y.quantisation is None or code_limits(call, y) != y.dtype.range):
            return "the result is limited, the kernel moves elements as they are"
        if call.node.op in ("Resize", "Upsample") and call.node.attributes.get("mode", "nearest") != "nearest":
            return "interpolation computes, the kernel only moves elements"
        if not all(tensor.elements for tensor in (*call.inputs, *call.outputs) if tensor is not None):
            return "a tensor has no elements"
        if not (nests := _nests(call)):
            return unmapped(call)[0]
        for nest in nests:
            if (why := _refused(call, nest)) is not None:
                return why
            source = _source(call, nest)
            if source is not None and (why := _recoded(call, source)) is not None:
                return why
        if call.node.op == "Pad" and y.quantisation is not None and (value := call.optional(2)) is not None:
            return "the value of the padding is real, the kernel moves codes" if value.dtype.is_float else None
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands as they are, and the tables of those of another scale."""
        call = operands.call
        y = call.outputs[0]
        tables = [
            Constant(f"codes_{nest.ins[0].tensor.name}", y.dtype, requantisation_table(source, y))
            for nest in _nests(call) if (source := _source(call, nest)) is not None and _other(source, y)
        ]  # fmt: skip
        return (*codes.read_constants(operands, _nests(call)), *tables)

    def context(self, operands: Operands) -> StripContext:
        """A strip for every nest."""
        call = operands.call
        strides, nests, strips = strides_of(operands), _nests(call), list[Strip]()
        tables = list[str]()
        for index, nest in enumerate(nests):
            inner, source = inside(nest), _source(call, nest)
            walked = walk(inner or nest, strides, index)
            assert walked is not None, call.node.name
            tables += walked.tables
            strips += [_filled(call, nest)] if inner is not None else []
            other = source is not None and _other(source, call.outputs[0])
            table = f"codes_{nest.ins[0].tensor.name}" if other else ""
            strips.append(copied(walked, "" if inner else _padding(nest, walked), table))
        return StripContext((*dict.fromkeys(tables), *unread(operands, nests)), tuple(strips))


def _other(source: Tensor, y: Tensor) -> bool:
    return source.quantisation is not None and y.quantisation is not None and not same_meaning(source, y)


def _recoded(call: Call, source: Tensor) -> str | None:
    y = call.outputs[0]
    if (source.quantisation is None) != (y.quantisation is None):
        return f"'{source.name}' has no codes, or the result has none"
    if _other(source, y) and (max(source.dtype.bits, y.dtype.bits) > 8 or call.node.op != "Concat"):
        return f"'{source.name}' has another scale than the result"
    return None


def _padding(nest: Nest, walked: Walk) -> str:
    """C that fills a strip of the result which has no operand."""
    if nest.finish.name != "pad_value":
        return ""
    y = walked.operands[0]
    value = int(np.asarray(nest.finish.parameters[0]))
    if y.step == 1:
        return f"tilewright_rvv_fill{y.dtype.bits}({y.pointer}, {value}, {walked.length});"
    return f"tilewright_rvv_fill{y.dtype.bits}_apart({y.pointer}, {value}, {walked.length}, {y.step});"


@PLATFORM.kernel(
    "Relayout", types="* -> *", layout="any", template="strip.c.mako", preference=20, requires=Needs(has=("rvv",))
)
class RelayoutVector(KernelMethods):
    """Copy of a tensor into another memory order, in strips."""

    row_moves = ROW_MOVES

    def accepts(self, call: Call) -> str | None:
        """Elements of 8 to 32 bits, and some of them."""
        x = call.tensor(0)
        if not 8 <= x.dtype.bits <= WIDEST:
            return f"elements have {x.dtype.bits} bits, strips take 8 to {WIDEST}"
        return None if x.elements and call.outputs[0].elements else "the tensor has no elements"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The operand itself where it is constant."""
        return RELAYOUT.constants(operands)

    def context(self, operands: Operands) -> StripContext:
        """The digits that both orders share."""
        digits = RELAYOUT.context(operands)
        loops = [Loop(f"i{n}", digit.extent, (digit.target, digit.source)) for n, digit in enumerate(digits.loops)]
        if not loops:
            loops = [Loop("i", digits.elements, (1, 1))]
        kind = operands.call.tensor(0).dtype
        walked = walk_of("copied into another order", loops, (("y", kind), ("x", kind)))
        return StripContext((), (copied(walked),))
