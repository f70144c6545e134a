"""Col2Im: columns of blocks summed back into an image of any number of spatial axes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tilewright.model import Array
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import combine
from tilewright.ops.index.build import axes, operand, window
from tilewright.ops.index.nest import Nest, Space, Tensor
from tilewright.ops.operands import Arrays, given, integer_list, needs_rank, result
from tilewright.ops.operator import Call, Operator, TensorType


@dataclass(frozen=True)
class Blocks:
    """Sizes per spatial axis: image, block, number of blocks, and how blocks are placed."""

    image: tuple[int, ...]
    block: tuple[int, ...]
    count: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]


def blocks(call: Call) -> Blocks:
    """The blocks of the node; ModelError where the operand does not hold them."""
    _, rows, columns = needs_rank(call, 0, 3, "Col2Im")
    image, block = integer_list(call, 1, "the image shape"), integer_list(call, 2, "the block shape")
    rank = len(image)
    strides, dilations = call.integers("strides", (1,) * rank), call.integers("dilations", (1,) * rank)
    pads = call.integers("pads", (0,) * (2 * rank))
    if not len(block) == len(strides) == len(dilations) == rank or len(pads) != 2 * rank:
        raise call.invalid(f"image {image}, block {block}, strides, dilations and pads differ in length")
    if min((*image, *block, *strides, *dilations), default=1) < 1:
        raise call.invalid("image, block, strides and dilations must be positive")
    count = tuple(
        (image[a] + pads[a] + pads[a + rank] - dilations[a] * (block[a] - 1) - 1) // strides[a] + 1 for a in range(rank)
    )
    if min(count, default=1) < 1 or rows % prod(block) or columns != prod(count):
        raise call.invalid(f"{call.shape()} does not hold {count} blocks of {block}")
    return Blocks(image, block, count, strides, dilations, pads[:rank])


def _infer(call: Call) -> tuple[TensorType, ...]:
    grid = blocks(call)
    batch, rows, _ = call.shape()
    return (result(call, call.tensor(0).dtype, (batch, rows // prod(grid.block), *grid.image)),)


def _evaluate(call: Call, arrays: Arrays) -> tuple[Array, ...]:
    x, grid = given(arrays, 0), blocks(call)
    shape = call.outputs[0].shape
    columns = x.reshape(*shape[:2], *grid.block, *grid.count)
    y = np.zeros(shape, x.dtype)
    for offset in product(*map(range, grid.block)):
        source, target = [], []
        for axis, tap in enumerate(offset):
            places = np.arange(grid.count[axis]) * grid.strides[axis] + tap * grid.dilations[axis]
            places -= grid.begins[axis]
            inside = (places >= 0) & (places < grid.image[axis])
            source.append(np.flatnonzero(inside))
            target.append(places[inside])
        every: tuple[Any, ...] = (slice(None), slice(None))
        y[(*every, *np.ix_(*target))] += columns[(*every, *offset)][(*every, *np.ix_(*source))]
    return (y,)


def _nests(call: Call) -> tuple[Nest, ...]:
    (kind,), grid = _infer(call), blocks(call)
    if 0 in kind.shape:
        return ()
    space = Space.of(n=kind.shape[0], c=kind.shape[1], **axes("b", grid.count), **axes("k", grid.block))
    n, c, *rest = space
    places, taps = rest[: len(grid.count)], rest[len(grid.count) :]
    row, column = c, Affine()
    for tap, size in zip(taps, grid.block, strict=True):
        row = row * size + tap
    for place, size in zip(places, grid.count, strict=True):
        column = column * size + place
    image = window(places, taps, grid.strides, grid.dilations, grid.begins)
    x, y = operand(call.tensor(0), "x"), Tensor("y", kind.shape, kind.dtype)
    return (Nest(space, y[n, c, *image], (x[n, row, column],), combine=combine("add")),)


OPERATORS = (Operator("Col2Im", _infer, _evaluate, ("x", "image_shape", "block_shape"), nests=_nests),)
