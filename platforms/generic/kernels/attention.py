"""Attention row by row with whatever its index maps cannot say, and RotaryEmbedding at run-time positions."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.numerics import loaded, stored
from tilewright.operators import AttentionHeads, attention_heads, attention_scale, rotary_heads
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import (
    FLOATS,
    as_element,
    as_real,
    c_type,
    constants_by_name,
    empty,
    strides,
    unread,
)
from tilewright.platforms.generic.kernels.nest_expressions import computing, literal
from tilewright.platforms.generic.platform import PLATFORM


@dataclass(frozen=True)
class AttentionContext:
    """Sizes, what is present, and the mask's element strides (0 where it is broadcast)."""

    size: AttentionHeads
    group: int
    real: str
    f: str
    c_type: str
    root: str
    cap: str
    mask: bool
    mask_is_bool: bool
    mask_steps: tuple[int, int, int]
    mask_keys: int
    lengths: bool
    causal: bool
    left: int
    right: int
    present_key: bool
    present_value: bool
    scores: bool
    mode: int
    unread: tuple[str, ...]
    dtype: DType
    mask_dtype: DType

    def real_of(self, element: str) -> str:
        """The value of an element, in the type in which scores are computed."""
        return as_real(self.dtype, element, self.real)

    def mask_of(self, element: str) -> str:
        """The value of an element of the mask."""
        return as_real(self.mask_dtype, element, self.real)

    def element_of(self, value: str) -> str:
        """A computed value as an element."""
        return as_element(self.dtype, value)


@PLATFORM.kernel(
    "Attention", template="attention.c.mako", numerics="1e-4", preference=-25,
    types=f"{FLOATS}, {FLOATS}, {FLOATS}, {FLOATS}|bool?, {FLOATS}?, {FLOATS}?, i64? "
    f"-> {FLOATS}, {FLOATS}?, {FLOATS}?, {FLOATS}?",
)  # fmt: skip
class AttentionRows(KernelMethods):
    """One row of scores at a time: any mask, past, window and run-time lengths, which are limited to the keys."""

    def accepts(self, call: Call) -> str | None:
        """Anything but a limited result."""
        return "the result is limited" if call.node.clamp else empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Constant operands."""
        return constants_by_name(operands, *range(len(operands.call.inputs)))

    def scratch(self, operands: Operands) -> int:
        """One row of scores."""
        return attention_heads(operands.call).keys * computing(operands.call.tensor(0).dtype).bits // 8

    def cost(self, call: Call) -> float:
        """Two products for each score."""
        size = attention_heads(call)
        return 2.0 * size.batch * size.query_heads * size.queries * size.keys * (size.depth + size.value_depth)

    def context(self, operands: Operands) -> AttentionContext:
        """Sizes and strides."""
        call = operands.call
        size, q = attention_heads(call), call.tensor(0)
        kind = computing(q.dtype)
        mask = call.optional(3)
        cap = call.real("softcap", 0.0)
        present = call.present
        return AttentionContext(
            size=size, group=size.query_heads // size.key_heads, real="double" if kind.bits == 64 else "float",
            f="" if kind.bits == 64 else "f", c_type=c_type(q), root=literal(kind, attention_scale(call, size.depth)),
            cap=literal(kind, cap) if cap > 0 else "", mask=mask is not None,
            mask_is_bool=mask is not None and mask.dtype is DType.BOOL, mask_steps=mask_steps(call),
            mask_keys=mask.shape[-1] if mask is not None else 0, lengths=call.optional(6) is not None,
            causal=bool(call.integer("is_causal", 0)), left=call.integer("left_window_size", -1),
            right=call.integer("right_window_size", -1), present_key=1 in present, present_value=2 in present,
            scores=3 in present, mode=call.integer("qk_matmul_output_mode", 0),
            unread=unread(call, *range(7)), dtype=q.dtype, mask_dtype=q.dtype if mask is None else mask.dtype,
        )  # fmt: skip


def mask_steps(call: Call) -> tuple[int, int, int]:
    """Element strides of the mask along batch, heads and queries; 0 along an axis that it lacks or repeats."""
    mask = call.optional(3)
    if mask is None:
        return 0, 0, 0
    shape = (1,) * (4 - len(mask.shape)) + mask.shape
    batch, head, row, _ = (step if size > 1 else 0 for size, step in zip(shape, strides(shape), strict=True))
    return batch, head, row


@dataclass(frozen=True)
class RotaryContext:
    """Sizes and element strides of batch, step and head; `half` pairs of every head turn.

    `positions` is the length of the cache that run-time positions look up, 0 where every step has angles of its own.
    """

    batch: int
    steps: int
    heads: int
    depth: int
    turned: int
    half: int
    positions: int
    batch_step: int
    step_step: int
    head_step: int
    pairs: bool
    real: str
    dtype: DType
    angle_dtype: DType

    def real_of(self, element: str) -> str:
        """The value of an element."""
        return loaded(self.dtype, element)

    def angle_of(self, element: str) -> str:
        """The value of an element of a cache."""
        return loaded(self.angle_dtype, element)

    def element_of(self, value: str) -> str:
        """A computed value as an element."""
        return stored(self.dtype, value)


@PLATFORM.kernel(
    "RotaryEmbedding", types=f"{FLOATS}, {FLOATS}, {FLOATS}, i64|i32? -> {FLOATS}", template="rotary.c.mako",
    sources=["index.h", "each_rounded.h"], numerics="1e-5", preference=-25,
)  # fmt: skip
class RotaryAtPositions(KernelMethods):
    """Pairs turned by angles that run-time positions look up; a position outside the cache takes the nearest."""

    def accepts(self, call: Call) -> str | None:
        """Anything but a limited result."""
        return "the result is limited" if call.node.clamp else empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Caches where they are constant."""
        return constants_by_name(operands, 0, 1, 2, 3)

    def context(self, operands: Operands) -> RotaryContext:
        """Sizes and strides."""
        call = operands.call
        shape, (count, depth, turned) = call.shape(), rotary_heads(call)
        steps, packed = shape[-2], len(shape) == 3
        return RotaryContext(
            batch=shape[0], steps=steps, heads=count, depth=depth, turned=turned, half=turned // 2,
            positions=call.shape(1)[0] if call.optional(3) is not None else 0, batch_step=steps * count * depth,
            step_step=count * depth if packed else depth,
            head_step=depth if packed else steps * depth, pairs=bool(call.integer("interleaved", 0)),
            real="double" if call.tensor(0).dtype is DType.F64 else "float", dtype=call.tensor(0).dtype,
            angle_dtype=call.tensor(1).dtype,
        )  # fmt: skip
