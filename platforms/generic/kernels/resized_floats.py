"""Images of floats that are interpolated between two rows and two columns: extents, sources and weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.operators import folded_taps, resizing
from tilewright.platform import Array, Call, Constant, DType

AXES = (2, 3)


@dataclass(frozen=True)
class ResizedFloats:
    """`images` of `rows` x `columns` results of `channels`, from images of `image` elements."""

    images: int
    image: int
    rows: int
    columns: int
    channels: int
    source_columns: int


def taps_of(call: Call, axis: int) -> tuple[Array, Array] | None:
    """The first of two sources of every result, and both weights; None where there are more, or one alone."""
    taps = resizing(call).taps(axis)
    if taps is None or taps.outside.any():
        return None
    first, weights = folded_taps(taps, call.shape()[axis])
    return (np.array(first, np.int32), weights) if weights.shape[1] == 2 else None


def accepted(call: Call) -> str | None:
    """None for images between two rows and two columns, or why the call is none."""
    if len(call.shape()) != 4 or call.node.clamp is not None or not call.outputs[0].elements:
        return "the kernel interpolates images, without an activation behind"
    if resizing(call).mode != "linear" or call.shape()[:2] != call.outputs[0].shape[:2]:
        return "the kernel interpolates rows and columns linearly"
    if any(taps_of(call, axis) is None for axis in AXES):
        return "the kernel takes two rows and two columns for each result"
    return None


def source_constants(call: Call) -> tuple[Constant, ...]:
    """For every row and column of results where its two sources begin, and their weights."""
    shape, made = call.shape(), list[Constant]()
    for name, axis, step in zip(("row", "column"), AXES, (shape[1] * shape[3], shape[1]), strict=True):
        taps = taps_of(call, axis)
        assert taps is not None, "it is accepted"
        made.append(Constant(f"{name}_places", DType.I32, taps[0] * np.int32(step)))
        made.append(Constant(f"{name}_weights", DType.F32, taps[1].reshape(-1)))
    return tuple(made)


def images_of(call: Call) -> ResizedFloats:
    """The extents of a layer."""
    x, y = call.tensor(0), call.outputs[0]
    return ResizedFloats(y.shape[0], x.elements // x.shape[0], y.shape[2], y.shape[3], y.shape[1], x.shape[3])
