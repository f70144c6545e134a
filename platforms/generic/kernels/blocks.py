"""Numbers that blocked convolutions share: spatial axes, runs of output channels, weights packed by run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array


@dataclass(frozen=True)
class Axis:
    """One spatial axis: extents, window, and the range of outputs whose whole window lies inside the input."""

    size: int
    out: int
    kernel: int
    stride: int
    dilation: int
    pad: int
    inner_first: int
    inner_last: int
    x_stride: int


@dataclass(frozen=True)
class Block:
    """A run of output channels that is computed with `width` accumulators per pixel, `count` times."""

    width: int
    first: int
    count: int
    weights: int


def axis(size: int, out: int, kernel: int, stride: int, dilation: int, pad: int, x_stride: int) -> Axis:
    """The axis with its range of inner outputs."""
    first = min(out, -(-pad // stride))
    reach = size + pad - dilation * (kernel - 1) - 1
    last = max(first, min(out, reach // stride + 1 if reach >= 0 else 0))
    return Axis(size, out, kernel, stride, dilation, pad, first, last, x_stride)


def joined(h: Axis, w: Axis) -> tuple[Axis, Axis]:
    """A pointwise convolution sees its rows as one long row, so that blocks of pixels fill."""
    pointwise = h.kernel * w.kernel * h.stride * w.stride == 1 and (h.out, w.out) == (h.size, w.size)
    if not pointwise or h.pad or w.pad or (h.size > 1 and h.x_stride != w.size * w.x_stride):
        return h, w
    one = axis(1, 1, 1, 1, 1, 0, h.x_stride * h.size)
    return one, axis(h.size * w.size, h.size * w.size, 1, 1, 1, 0, w.x_stride)


def channel_blocks(channels: int, per_channel: int, width: int) -> tuple[Block, ...]:
    """Whole blocks of `width` channels and one block of what remains."""
    count, rest = divmod(channels, width)
    blocks = [Block(width, 0, count, 0)] if count else []
    if rest:
        blocks.append(Block(rest, count * width, 1, count * width * per_channel))
    return tuple(blocks)


def pack_weights(weights: Array, width: int) -> Array:
    """[OC, IC, KH, KW] to blocks [OC/width][KH][KW][IC][width], the remainder with a width of its own."""
    channels = weights.shape[0]
    moved = weights.transpose(2, 3, 1, 0)
    parts = [
        np.ascontiguousarray(moved[..., at : min(at + width, channels)]).reshape(-1) for at in range(0, channels, width)
    ]
    return np.concatenate(parts)
