"""Numbers that blocked convolutions share: spatial axes, runs of output channels, weights packed by run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.platform import Array, Call


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
class Groups:
    """Channels by group: what each of `count` groups reads and computes, and the elements that its weights take."""

    count: int
    channels: int
    results: int
    weights: int

    @property
    def all_results(self) -> int:
        """Output channels of all groups."""
        return self.count * self.results


def groups_of(call: Call) -> Groups:
    """The groups of a convolution with weights [OC, IC, ...]."""
    weights, count = call.tensor(1), call.integer("group", 1)
    return Groups(count, weights.shape[1], weights.shape[0] // count, weights.elements // count)


@dataclass(frozen=True)
class Block:
    """A run of output channels that is computed with `width` accumulators per pixel, `count` times."""

    width: int
    first: int
    count: int
    weights: int


def cannot_repack(call: Call) -> str | None:
    """None for a convolution with constant weights and bias, one or two spatial axes and batch 1, or why not."""
    if 1 not in call.constants or (call.optional(2) is not None and 2 not in call.constants):
        return "weights or bias are computed at run time, the kernel repacks them at compile time"
    if len(call.shape(0)) not in (3, 4):
        return f"{len(call.shape(0)) - 2} spatial axes, the kernel handles one or two"
    if call.shape(0)[0] != 1:
        return f"batch is {call.shape(0)[0]}, the kernel handles 1"
    return None


def not_by_channel(call: Call, *, single: bool = False) -> str | None:
    """None for a convolution with a group of one result for every channel, more than one unless a `single` will do; or
    why not."""
    channels = call.shape(0)[1]
    alike = call.integer("group", 1) == channels == call.shape(1)[0]
    if alike and (single or channels > 1):
        return None
    return "the kernel handles as many groups as channels, with one result each"


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


def some_inside(h: Axis, w: Axis) -> bool:
    """Whether the windows of any block of four pixels all lie inside of the image; the last block may begin earlier."""
    pixels = [divmod(pixel, w.out) for pixel in range(h.out * w.out)]
    inside = [h.inner_first <= oh < h.inner_last and w.inner_first <= ow < w.inner_last for oh, ow in pixels]
    return any(all(inside[min(at, len(inside) - 4) :][:4]) for at in range(0, len(inside), 4))
