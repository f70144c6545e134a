"""Linear interpolation of images of codes between two rows and two columns with weights of any length.

Two rows are joined first, some channels at a time, in scratch: unsigned codes by weights of at most 24 bits fit 32.
Sums of two joined columns have 64 bits, and are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from tilewright.numerics import (
    C_TYPES,
    ROUNDING,
    Requantiser,
    ResizeForm,
    interpolates,
    requantise,
    resize_form,
    resize_proof,
    the_quantisation,
    too_wide,
)
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.codes_resize import form_of
from tilewright.platforms.generic.kernels.resize_linear_i8 import AXES, taps_of
from tilewright.platforms.generic.platform import PLATFORM

MOST_CHANNELS = 16
"""Channels whose joined rows lie in scratch at a time."""
MOST_CODE = 255


@dataclass(frozen=True)
class JoinedContext:
    """`images` of `rows` x `columns` results of `channels`, `at_once` of them joined at a time.

    `flip` makes unsigned codes, whose sum with a row's weights `a`, `b` and a column's `p`, `q` has `offset` taken off;
    `shift` bits of the sum are rounded off, ties to even.
    """

    x_type: str
    y_type: str
    images: int
    image: int
    rows: int
    columns: int
    channels: int
    source_columns: int
    at_once: int
    flip: str
    offset: str
    shift: int
    requantise: Requantiser


def shares(call: Call, form: ResizeForm) -> tuple[tuple[Array, Array], ...]:
    """Positions and weights of rows and of columns."""
    return tuple(taps_of(form, axis, call.outputs[0].shape[axis]) for axis in AXES)


def _refused(call: Call, form: ResizeForm) -> str | None:
    if any(each.axis not in AXES or each.positions.shape[1] > 2 for each in form.axes):
        return "the kernel interpolates between two rows and two columns"
    (_, rows), (_, columns) = shares(call, form)
    if min(rows.min(initial=0), columns.min(initial=0)) < 0:
        return "a weight is below zero"
    if MOST_CODE * int(rows.sum(axis=1).max(initial=0)) >= 1 << 32:
        return "joined rows do not fit 32 bits"
    return None


def offset_text(call: Call, form: ResizeForm, zero: int) -> str:
    """What the zero point adds to a sum; rounded weights may add up to a little more or less than one whole."""
    wholes = [np.unique(weights.sum(axis=1)) for _, weights in shares(call, form)]
    if zero == 0 or all(whole.size == 1 for whole in wholes):
        return f"{zero * prod(int(whole.max(initial=0)) for whole in wholes)}LL"
    return f"(int64_t)((uint64_t)(a + b) * (p + q)) * {zero}"


@PLATFORM.kernel(
    "Resize", "Upsample", types="qi8|qu8, *... -> qi8|qu8", template="resize_joined_i8.c.mako", layout="channels_last",
    sources=["saturate.h", *ROUNDING], preference=14,
)  # fmt: skip
class ResizeJoinedI8(KernelMethods):
    """Images scaled by any factor: rows joined once, then columns, in 64 bits."""

    def accepts(self, call: Call) -> str | None:
        """An interpolation of images between two rows and two columns."""
        if not interpolates(call) or len(call.shape()) != 4:
            return "the kernel interpolates images"
        form = resize_form(call)
        if form is None:
            return "it extrapolates"
        return _refused(call, form) or too_wide(resize_proof(call, form))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """For every row of results where its two sources begin, for every column which they are, and their weights."""
        call = operands.call
        shape = call.shape()
        steps = (shape[1] * shape[3], min(shape[1], MOST_CHANNELS))
        made: list[Constant] = []
        pairs = shares(call, form_of(call))
        for name, (positions, weights), step in zip(("row", "column"), pairs, steps, strict=True):
            made.append(Constant(f"{name}_places", DType.I32, positions.reshape(-1) * step))
            made.append(Constant(f"{name}_weights", DType.I32, weights.reshape(-1)))
        return tuple(made)

    def scratch(self, operands: Operands) -> int:
        """A joined row of some channels, four bytes for a code."""
        shape = operands.call.shape()
        return 4 * min(shape[1], MOST_CHANNELS) * shape[3]

    def cost(self, call: Call) -> float:
        """Some thirty instructions per result, what a pixel takes, and eight for a code of a joined row."""
        x, y = call.tensor(0), call.outputs[0]
        joined = y.shape[0] * y.shape[1] * y.shape[2] * x.shape[3]
        return 30.0 * y.elements + 20.0 * y.elements / max(1, y.shape[1]) + 8.0 * joined

    def context(self, operands: Operands) -> JoinedContext:
        """The numbers of the layer."""
        call = operands.call
        form, x, y = form_of(call), call.tensor(0), call.outputs[0]
        unsigned = x.dtype is DType.U8
        zero = the_quantisation(x).zero_point[0] + (0 if unsigned else 128)
        return JoinedContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            images=y.shape[0],
            image=x.elements // max(x.shape[0], 1),
            rows=y.shape[2],
            columns=y.shape[3],
            channels=y.shape[1],
            source_columns=x.shape[3],
            at_once=min(y.shape[1], MOST_CHANNELS),
            flip="" if unsigned else " ^ 0x80",
            offset=offset_text(call, form, zero),
            shift=form.bits - form.kept,
            requantise=requantise(resize_proof(call, form)),
        )
