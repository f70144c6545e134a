"""Integer depthwise convolution on cores with the DSP extension: four channels of two pixels at once, no planes.

A word of four inputs is two words of halves, and so is one of four weights; each product is a multiply of halves.
Nothing is gathered, so that a single row costs no more than one of many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from tilewright.numerics import C_TYPES, accumulator
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands, Work
from tilewright.platforms.cortex_m.kernels import matrix_i8
from tilewright.platforms.cortex_m.kernels.depthwise_i8 import OFFSET, TYPES, Coding, DepthwiseDsp, coding
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import conv_i8 as portable
from tilewright.platforms.generic.kernels import depthwise_i8 as portable_depthwise
from tilewright.platforms.generic.kernels.blocks import Axis

PLANES = DepthwiseDsp()
WIDEST = 1 << 15
"""Weights from here on have no place in a half."""
UNROLLED = 9
"""Taps that stand one behind the other; of larger windows those of a row."""


@dataclass(frozen=True)
class FoursWork(Work):
    """Taps of two pixels, words of their inputs, pairs of pixels, taps of pixels at the border, such pixels, words of
    weights in a row, and results whose codes are limited or have a shift of their own.
    """

    taps: float
    inputs: float
    pairs: float
    edge_taps: float
    edges: float
    words: float
    coded: float


BYTES = FoursWork(taps=9.3, inputs=3.1, pairs=45.0, edge_taps=15.6, edges=40.0, words=4.0, coded=8.2)
HALVES = replace(BYTES, inputs=2.1)
"""Instructions for one unit of each kind of work, for codes of eight bits and of sixteen."""
WORTH, WORTH_SMALL, SMALL = 1.05, 1.15, 128
"""The kernel is taken where planes need so many times its instructions: more below so many results of a channel, where
their estimate is high."""
ROLLED = 1.4
"""Taps at the border of a large window take as many times more."""


@dataclass(frozen=True)
class FoursContext:
    """Every number of one layer: pixels run along `p`; `inner` and `inner_rows` are those whose window leaves
    no border, an even number of them. `taps` are those of a row in the order of `tap_order`.

    `order` names the channels of the halves of the two words of inputs; a group has `table_words`, of which
    those of the weights come last, behind `columns` of four channels each; where they are `packed` to bytes, a group is
    copied to scratch and they become halves there.
    """

    x_type: str
    y_type: str
    unsigned: bool
    halves: bool
    flip: int
    y_bits: int
    p: Axis
    q: Axis
    y_p: int
    y_q: int
    channels: int
    zero_point: int
    inner: tuple[int, int]
    inner_rows: tuple[int, int]
    taps: tuple[tuple[int, bool], ...]
    order: tuple[tuple[int, int], tuple[int, int]]
    columns: int
    packed: bool
    table_words: int
    unrolled: bool
    coding: Coding


def inner_of(along: Axis) -> tuple[int, int]:
    """First result whose window begins inside of the operand, and the one behind the last whose window ends there."""
    first = min(along.out, -(-along.pad // along.stride))
    last = (along.size + along.pad - 1 - (along.kernel - 1) * along.dilation) // along.stride + 1
    return first, max(first, min(along.out, last))


def oriented(call: Call) -> tuple[Axis, Axis, bool]:
    """(axis of the pairs, other axis, True where pairs run along columns)."""
    h, w = matrix_i8.axes_of(call)
    (h_first, h_last), (w_first, w_last) = inner_of(h), inner_of(w)
    return (h, w, False) if w_last - w_first < 2 <= h_last - h_first else (w, h, True)


def tap_order(along: Axis) -> tuple[tuple[int, bool], ...]:
    """Taps of a row, and whether the tap before read for the second pixel what this one needs for the first."""
    order: list[tuple[int, bool]] = []
    step = along.stride // along.dilation if along.stride % along.dilation == 0 else along.kernel
    for first in range(min(step, along.kernel)):
        order += [(tap, tap > first) for tap in range(first, along.kernel, step)]
    return tuple(order)


def pixels(call: Call) -> tuple[int, int]:
    """Pairs of pixels with whole windows, and single pixels."""
    p, q, _ = oriented(call)
    (first, last), (top, bottom) = inner_of(p), inner_of(q)
    pairs = (bottom - top) * ((last - first) // 2)
    return pairs, p.out * q.out - 2 * pairs


def work(call: Call) -> FoursWork:
    """The work of one call."""
    p, q, _ = oriented(call)
    groups, taps = -(-call.shape(0)[1] // 4), p.kernel * q.kernel
    words = q.kernel * sum(1 if held else 2 for _, held in tap_order(p))
    pairs, edges = pixels(call)
    rolled = taps > UNROLLED
    return FoursWork(
        taps=groups * pairs * (taps + 0.5 * q.kernel * rolled),
        inputs=groups * pairs * words,
        pairs=groups * pairs,
        edge_taps=groups * edges * taps * (ROLLED if rolled else 1.0),
        edges=groups * edges,
        words=groups * q.out * (taps + 4.0),
        coded=4.0 * groups * p.out * q.out * (coding(call).limited or coding(call).own),
    )


def halves_of(call: Call) -> bool:
    """True where inputs have 16 bits."""
    return call.tensor(0).dtype.bits == 16


def order_of(call: Call) -> tuple[tuple[int, int], tuple[int, int]]:
    """Channels of the halves of two words: `sxtb16` takes every other byte."""
    return ((0, 1), (2, 3)) if halves_of(call) else ((0, 2), (1, 3))


def is_packed(call: Call) -> bool:
    """True where weights lie in flash as bytes."""
    return not matrix_i8.needs_more_bits(portable.weights_of(call)[0])


def packed_weights(weights: Array, order: tuple[tuple[int, int], tuple[int, int]]) -> Array:
    """[groups, words] of [groups, 4, taps]: a word of bytes for a tap, or two of halves where a weight is wide."""
    (a, b), (c, d) = order
    if matrix_i8.needs_more_bits(weights):
        both = [weights[:, low] & 0xFFFF | (weights[:, high] & 0xFFFF) << 16 for low, high in order]
        return np.asarray(np.stack(both, axis=2).reshape(len(weights), -1), np.uint32)
    shifts = np.asarray([8 * byte for byte in range(4)])[None, :, None]
    return np.asarray(((weights[:, [a, c, b, d]] & 0xFF) << shifts).sum(axis=1), np.uint32)


@PLATFORM.kernel(
    "Conv", types=TYPES, template="depthwise_fours.c.mako", layout="channels_last",
    sources=["dsp.h", "halves.h", "depthwise_i8.h", "depthwise_fours.h"], preference=29, requires=Needs(has=("dsp",)),
)  # fmt: skip
class DepthwiseFours(KernelMethods):
    """Integer depthwise convolution of any stride and dilation straight from its operand."""

    def accepts(self, call: Call) -> str | None:
        """Four channels and more, one result each, a plain requantisation."""
        if (why := portable_depthwise.accepts(call)) is not None:
            return why
        if call.shape(0)[1] < 4:
            return "the kernel computes four channels at once"
        if (reach := int(np.abs(portable.weights_of(call)[0].astype(np.int64)).max())) >= WIDEST:
            return f"a weight of {reach}, the kernel takes those below {WIDEST}"
        if (why := matrix_i8.refusal_of_both(call, with_constant=True)) is not None:
            return why
        small = call.outputs[0].elements < SMALL * call.outputs[0].shape[1]
        if PLANES.accepts(call) is None and PLANES.cost(call) < (WORTH_SMALL if small else WORTH) * self.cost(call):
            return "planes of pairs take about as many instructions, or fewer"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Per group of four channels starts, multipliers, addends and shifts where channels differ, and weights."""
        call = operands.call
        weights = portable.weights_of(call)[0].astype(np.int64)
        count = len(weights)
        plain = weights.reshape(count, -1)
        p, q, along_columns = oriented(call)
        if not along_columns:
            plain = plain.reshape(count, p.kernel, q.kernel).transpose(0, 2, 1).reshape(count, -1)
        table = matrix_i8.channel_table(call, count)
        start = np.broadcast_to(accumulator(call).start, (count,)).astype(np.int64)
        if call.tensor(0).dtype is DType.U16:
            start = start + OFFSET * plain.sum(axis=1)
        table[:, 0] = (start & 0xFFFFFFFF).astype(np.uint32)
        firsts = np.minimum(np.arange(0, count, 4), count - 4)
        fours = firsts[:, None] + np.arange(4)
        header = table[fours].transpose(0, 2, 1).reshape(len(firsts), -1)
        values = np.concatenate([header, packed_weights(plain[fours], order_of(call))], axis=1)
        return Constant("table", DType.U32, values.reshape(-1)), matrix_i8.codes_constant(call)

    def scratch(self, operands: Operands) -> int:
        """A group of four channels whose weights are halves."""
        call = operands.call
        taps = math.prod(portable.weights_of(call)[0].shape[2:])
        return 16 * (4 if coding(call).own else 2) + 8 * taps if is_packed(call) else 0

    def overlap(self, operands: Operands) -> tuple[tuple[int, int, int], ...]:
        """Rows are written after all that later ones read, where pixels run along columns."""
        return portable_depthwise.depthwise_overlap(operands) if oriented(operands.call)[2] else ()

    def cost(self, call: Call) -> float:
        """Work at the prices of its kinds."""
        return work(call).priced(HALVES if halves_of(call) else BYTES)

    def context(self, operands: Operands) -> FoursContext:
        """The numbers of the layer."""
        call = operands.call
        x, y = call.tensor(0), call.outputs[0]
        assert x.quantisation is not None
        p, q, along_columns = oriented(call)
        row = (p.out if along_columns else q.out) * y.shape[1]
        codes, packed = coding(call), is_packed(call)
        columns = 4 if codes.own else 2
        first, last = inner_of(p)
        return FoursContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            unsigned=x.dtype is DType.U8,
            halves=halves_of(call),
            flip=OFFSET | OFFSET << 16 if x.dtype is DType.U16 else 0,
            y_bits=y.dtype.bits,
            p=p,
            q=q,
            y_p=y.shape[1] if along_columns else row,
            y_q=row if along_columns else y.shape[1],
            channels=x.shape[1],
            zero_point=x.quantisation.zero_point[0],
            inner=(first, last - (last - first) % 2),
            inner_rows=inner_of(q),
            taps=tap_order(p),
            order=order_of(call),
            columns=columns,
            packed=packed,
            table_words=4 * columns + p.kernel * q.kernel * (1 if packed else 2),
            unrolled=p.kernel * q.kernel <= UNROLLED,
            coding=codes,
        )
