"""Linear interpolation of images of codes between two rows and two columns, two channels in a word.

Weights of both axes together are small where an image is enlarged by two or four, so that the sums of two channels fit
the halves of one 32-bit word. Two rows are joined first, some channels at a time, in scratch.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from tilewright.platforms.generic.platform import PLATFORM

AXES = (2, 3)
MOST_BITS = 8
"""Of all weights together: 255 times their sum stays below 2^16."""
MOST_CHANNELS = 16
"""Channels whose joined rows lie in scratch at a time."""


@dataclass(frozen=True)
class ResizeContext:
    """`images` of `rows` x `columns` results of `channels`, `at_once` of them joined at a time; `flip` makes unsigned
    codes, whose sum has `offset` taken off."""

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
    offset: int
    requantise: Requantiser


def _refused(form: ResizeForm) -> str | None:
    if any(each.axis not in AXES or each.positions.shape[1] > 2 for each in form.axes):
        return "the kernel interpolates between two rows and two columns"
    if form.bits > MOST_BITS or form.kept < form.bits:
        return f"its weights have {form.bits} bits, the kernel adds up in sixteen"
    return None


def taps_of(form: ResizeForm, axis: int, size: int) -> tuple[Array, Array]:
    """Positions and weights of the two sources of each result; an axis that stays has one, with the weight 1."""
    for each in form.axes:
        if each.axis == axis:
            missing = ((0, 0), (0, 2 - each.positions.shape[1]))
            return np.pad(each.positions, missing), np.pad(each.weights, missing)
    places = np.arange(size)
    return np.stack([places, places], axis=1), np.stack([np.ones_like(places), np.zeros_like(places)], axis=1)


def at_once(channels: int) -> int:
    """Channels that are joined at a time, whole fours."""
    return min(channels - channels % 4, MOST_CHANNELS)


@PLATFORM.kernel(
    "Resize", "Upsample", types="qi8|qu8, *... -> qi8|qu8", template="resize_linear_i8.c.mako", layout="channels_last",
    sources=["saturate.h", *ROUNDING], preference=15,
)  # fmt: skip
class ResizeLinearI8(KernelMethods):
    """Enlarging by two and its like: weights that are short binary fractions."""

    def accepts(self, call: Call) -> str | None:
        """An interpolation of images with short weights."""
        if not interpolates(call) or len(call.shape()) != 4:
            return "the kernel interpolates images"
        form = resize_form(call)
        if form is None:
            return "it extrapolates"
        return _refused(form) or too_wide(resize_proof(call, form))

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """For every row of results where its two sources begin, for every column which they are, and their weights."""
        call = operands.call
        form, shape = form_of(call), call.shape()
        steps = (shape[1] * shape[3], 1)
        made: list[Constant] = []
        for name, axis, step in zip(("row", "column"), AXES, steps, strict=True):
            positions, weights = taps_of(form, axis, call.outputs[0].shape[axis])
            made.append(Constant(f"{name}_places", DType.I32, positions.reshape(-1) * step))
            made.append(Constant(f"{name}_weights", DType.I32, weights.reshape(-1)))
        return tuple(made)

    def scratch(self, operands: Operands) -> int:
        """Two joined rows of some channels, two bytes for a code."""
        shape = operands.call.shape()
        return 2 * at_once(shape[1]) * shape[3]

    def cost(self, call: Call) -> float:
        """Some thirteen instructions per result, and what a pixel takes."""
        y = call.outputs[0]
        return 13.0 * y.elements + 30.0 * y.elements / y.shape[1]

    def context(self, operands: Operands) -> ResizeContext:
        """The numbers of the layer."""
        call = operands.call
        form, x, y = form_of(call), call.tensor(0), call.outputs[0]
        unsigned = x.dtype is DType.U8
        return ResizeContext(
            x_type=C_TYPES[x.dtype],
            y_type=C_TYPES[y.dtype],
            images=y.shape[0],
            image=x.elements // max(x.shape[0], 1),
            rows=y.shape[2],
            columns=y.shape[3],
            channels=y.shape[1],
            source_columns=x.shape[3],
            at_once=at_once(y.shape[1]),
            flip="" if unsigned else " ^ 0x80",
            offset=(the_quantisation(x).zero_point[0] + (0 if unsigned else 128)) << form.bits,
            requantise=requantise(resize_proof(call, form)),
        )
