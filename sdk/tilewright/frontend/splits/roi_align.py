"""RoiAlign as standard nodes: every region is sampled at evenly spread places, and the samples of a cell are pooled.

The places of all regions are rows of one grid, so that the image is read where it lies and never copied per region; a
batch of several images is gathered by region first. As in ONNX Runtime, mode `max` takes the largest of the four
weighted neighbours of each sample, not of the interpolated samples.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.model import DType


class _Axis:
    """The samples of all regions along one axis of the image, as tensors of shape [regions, cells * samples]."""

    def __init__(self, parts: Parts, corners: tuple[str, str], size: int, cells: int, samples: int) -> None:
        self.parts, self.size, self.count = parts, size, cells * samples
        before, behind = corners
        length = parts.op("Sub", behind, before)
        if not _half_pixel(parts):
            length = parts.op("Max", length, parts.like(0, 1.0))
        steps = parts.like(0, (np.arange(self.count) + 0.5) / self.count)
        places = parts.op("Add", before, parts.op("Mul", length, steps))
        # An image ends one element outside of its border; in between counts the border.
        near = parts.op("GreaterOrEqual", places, parts.like(0, -1.0))
        far = parts.op("LessOrEqual", places, parts.like(0, float(size)))
        self.inside = parts.op("Cast", parts.op("And", near, far), to=_ELEMENT[parts.tensor(0).dtype])
        self.places = parts.op("Clip", places, parts.like(0, 0.0), parts.like(0, size - 1.0))

    def normalised(self, places: str) -> str:
        """Elements as the coordinates of GridSample, whose corners are not aligned."""
        scaled = self.parts.op("Mul", places, self.parts.like(0, 2.0 / self.size))
        return self.parts.op("Add", scaled, self.parts.like(0, 1.0 / self.size - 1.0))

    def neighbours(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """The elements before and behind every sample, each with its weight."""
        parts = self.parts
        low = parts.op("Floor", self.places)
        high = parts.op("Min", parts.op("Add", low, parts.like(0, 1.0)), parts.like(0, self.size - 1.0))
        share = parts.op("Sub", self.places, low)
        return (low, parts.op("Sub", parts.like(0, 1.0), share)), (high, share)


_ELEMENT = {DType.F32: 1, DType.F16: 10, DType.F64: 11, DType.BF16: 16}


def _half_pixel(parts: Parts) -> bool:
    default = "half_pixel" if parts.node.version >= 16 else "output_half_pixel"
    return parts.text("coordinate_transformation_mode", default) == "half_pixel"


def _roi_align(parts: Parts) -> None:
    images, channels, height, width = parts.shape(0)
    regions = parts.shape(1)[0]
    cells = parts.whole("output_height", 1), parts.whole("output_width", 1)
    samples = parts.whole("sampling_ratio", 0)
    mode = parts.text("mode", "avg")
    if parts.shape(1) != (regions, 4) or parts.shape(2) != (regions,) or mode not in ("avg", "max") or min(cells) < 1:
        raise parts.invalid("rois must be [regions, 4], batch_indices [regions], mode avg or max, the output positive")
    if samples < 1:
        why = "the rois, known at run time, decide how many samples a cell has (sampling_ratio 0)"
        raise parts.unsupported(why, "set sampling_ratio to a number, 2 is usual")
    scaled = parts.op("Mul", parts.input(1), parts.like(0, parts.number("spatial_scale", 1.0)))
    moved = parts.op("Sub", scaled, parts.like(0, 0.5)) if _half_pixel(parts) else scaled
    left, top, right, bottom = (parts.slice(moved, 1, index, index + 1) for index in range(4))
    rows = _Axis(parts, (top, bottom), height, cells[0], samples)
    columns = _Axis(parts, (left, right), width, cells[1], samples)
    image, entries = (parts.input(0), 1) if images == 1 else (parts.op("Gather", *map(parts.input, (0, 2))), regions)
    lines = regions * rows.count // entries
    inside = _outer(parts, rows.inside, columns.inside, (entries, 1, lines, columns.count), rows.count)

    def sampled(y: str, x: str, kind: str) -> str:
        grid = []
        for each, shape in (
            (columns.normalised(x), (regions, 1, columns.count, 1)),
            (rows.normalised(y), (regions, rows.count, 1, 1)),
        ):
            whole = parts.constant([regions, rows.count, columns.count, 1])
            grid.append(parts.op("Expand", parts.reshape(each, shape), whole))
        flat = parts.reshape(parts.op("Concat", *grid, axis=3), (entries, lines, columns.count, 2))
        return parts.op("GridSample", image, flat, mode=kind, padding_mode="border", align_corners=0)

    pool: dict[str, Any] = {"kernel_shape": (samples, samples), "strides": (samples, samples)}
    if mode == "avg":
        values = parts.op("Mul", sampled(rows.places, columns.places, "linear"), inside)
        pooled = parts.op("AveragePool", values, **pool)
    else:
        corners = []
        for (y, upper), (x, lower) in product(rows.neighbours(), columns.neighbours()):
            weight = _outer(parts, upper, lower, (entries, 1, lines, columns.count), rows.count)
            weighted = parts.op("Mul", sampled(y, x, "nearest"), parts.op("Mul", weight, inside))
            corners.append(weighted)
        pooled = parts.op("MaxPool", parts.op("Max", *corners), **pool)
    if entries == 1 and regions > 1:
        apart = parts.reshape(pooled, (channels, regions, *cells))
        parts.op("Transpose", apart, perm=(1, 0, 2, 3), into=parts.output(0))
    else:
        parts.reshape(pooled, (regions, channels, *cells), into=parts.output(0))


def _outer(parts: Parts, rows: str, columns: str, shape: tuple[int, ...], count: int) -> str:
    """The product of what holds for rows and for columns, [regions, rows, columns], in this shape."""
    width = shape[-1]
    regions = prod(shape) // (count * width)
    table = parts.op("Mul", parts.reshape(rows, (regions, count, 1)), parts.reshape(columns, (regions, 1, width)))
    return parts.reshape(table, shape)


SPLITS = {("", "RoiAlign"): _roi_align}
