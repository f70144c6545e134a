"""Images of codes that are interpolated between two rows and two columns: extents, sources and weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.numerics import C_TYPES, ResizeForm, interpolates, resize_form
from tilewright.platform import Array, Call, Constant, DType
from tilewright.platforms.generic.kernels.codes_resize import form_of

AXES = (2, 3)
MOST_CHANNELS = 16
"""Channels whose joined rows lie in scratch at a time."""


@dataclass(frozen=True)
class ResizedImages:
    """`images` of `rows` x `columns` results of `channels`, from images of `image` codes in rows of `source_columns`;
    `at_once` channels are joined at a time."""

    x_type: str
    y_type: str
    images: int
    image: int
    rows: int
    columns: int
    channels: int
    source_columns: int
    at_once: int


def images_of(call: Call, at_once: int) -> ResizedImages:
    """The extents of a layer."""
    x, y = call.tensor(0), call.outputs[0]
    return ResizedImages(
        x_type=C_TYPES[x.dtype],
        y_type=C_TYPES[y.dtype],
        images=y.shape[0],
        image=x.elements // max(x.shape[0], 1),
        rows=y.shape[2],
        columns=y.shape[3],
        channels=y.shape[1],
        source_columns=x.shape[3],
        at_once=at_once,
    )


def refused(call: Call) -> str | None:
    """None for an interpolation of images between two rows and two columns, which `form_of` then gives."""
    if not interpolates(call) or len(call.shape()) != 4:
        return "the kernel interpolates images"
    form = resize_form(call)
    if form is None:
        return "it extrapolates"
    if any(each.axis not in AXES or each.positions.shape[1] > 2 for each in form.axes):
        return "the kernel interpolates between two rows and two columns"
    return None


def sources(call: Call) -> tuple[tuple[Array, Array], ...]:
    """Positions and weights of the two sources of every row of results, and of every column."""
    form = form_of(call)
    return tuple(_taps(form, axis, call.outputs[0].shape[axis]) for axis in AXES)


def _taps(form: ResizeForm, axis: int, size: int) -> tuple[Array, Array]:
    """An axis that stays has one source, with the weight 1."""
    for each in form.axes:
        if each.axis == axis:
            missing = ((0, 0), (0, 2 - each.positions.shape[1]))
            return np.pad(each.positions, missing), np.pad(each.weights, missing)
    places = np.arange(size)
    return np.stack([places, places], axis=1), np.stack([np.ones_like(places), np.zeros_like(places)], axis=1)


def source_constants(call: Call, column_step: int) -> tuple[Constant, ...]:
    """For every row of results where its two sources begin, for every column which they are, `column_step` apart, and
    their weights."""
    shape = call.shape()
    made: list[Constant] = []
    steps = (shape[1] * shape[3], column_step)
    for name, (positions, weights), step in zip(("row", "column"), sources(call), steps, strict=True):
        made.append(Constant(f"{name}_places", DType.I32, positions.reshape(-1) * step))
        made.append(Constant(f"{name}_weights", DType.I32, weights.reshape(-1)))
    return tuple(made)


def unsigned_zero(zero_point: int, dtype: DType) -> tuple[str, int]:
    """What makes an unsigned code of one in C, and the zero point among those."""
    return ("", zero_point) if dtype is DType.U8 else (" ^ 0x80", zero_point + 128)
