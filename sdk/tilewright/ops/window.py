"""Sliding windows of convolutions and pools: kernel, strides, dilations and padding, and what they cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tilewright.model import Array, Shape
from tilewright.ops.index.fast import last_axes


@dataclass(frozen=True)
class Window:
    """One entry per spatial axis. `begins` and `ends` are the declared padding; `outs` the sizes of the result."""

    kernel: Shape
    strides: Shape
    dilations: Shape
    begins: Shape
    ends: Shape
    outs: Shape

    def taps(self) -> Iterator[tuple[int, ...]]:
        """All positions inside the kernel, the last axis fastest."""
        return product(*(range(k) for k in self.kernel))


def within(steps: Shape, spans: Sequence[int]) -> Shape:
    """Steps no longer than what they walk over: of one window, or one tap, the step to the next means nothing."""
    return tuple(min(step, max(1, span)) for step, span in zip(steps, spans, strict=True))


def reaching(window: Window, sizes: Shape) -> Window:
    """The window without the taps at its ends that see padding only, wherever it stands over an input of `sizes`."""
    axes = [_reaching(*axis) for axis in zip(sizes, *_per_axis(window), strict=True)]
    kernel, begins, ends = zip(*axes, strict=True) if axes else ((), (), ())
    return replace(window, kernel=kernel, begins=begins, ends=ends)


def _reaching(
    size: int, kernel: int, stride: int, dilation: int, begin: int, end: int, out: int
) -> tuple[int, int, int]:
    first = max(0, (begin - (out - 1) * stride) // dilation)
    last = max(first, min(kernel - 1, (begin + size - 1) // dilation))
    before = begin - first * dilation
    return last - first + 1, before, max(0, (out - 1) * stride + (last - first) * dilation + 1 - before - size)


def _per_axis(window: Window) -> tuple[Shape, ...]:
    return window.kernel, window.strides, window.dilations, window.begins, window.ends, window.outs


def covered(window: Window, sizes: Shape, *, padding: bool) -> Array:
    """How many elements every window covers, [*outs]; `padding` counts those of the declared padding too."""
    total: Array = np.ones((), np.int64)
    for size, kernel, stride, dilation, begin, end, out in zip(sizes, *_per_axis(window), strict=True):
        low, high = (-begin, size + end) if padding else (0, size)
        at = np.arange(out, dtype=np.int64) * stride - begin
        first, last = np.maximum(0, -((at - low) // dilation)), np.minimum(kernel - 1, (high - 1 - at) // dilation)
        total = total[..., None] * np.maximum(0, last - first + 1)
    return total


def padded(x: Array, window: Window, value: float | int) -> Array:
    """The input with `value` around it, as far as the last window reaches; the two first axes are batch and channel."""
    reach = [
        (o - 1) * s + d * (k - 1) + 1
        for o, s, d, k in zip(window.outs, window.strides, window.dilations, window.kernel, strict=True)
    ]
    pads = [(b, max(0, r - b - n)) for b, r, n in zip(window.begins, reach, x.shape[2:], strict=True)]
    if not any(map(any, pads)):
        return x
    return np.pad(x, [(0, 0), (0, 0), *pads], constant_values=value)


def tap_view(source: Array, window: Window, tap: Sequence[int]) -> Array:
    """What every window of a padded input sees at one position of the kernel; no copy."""
    parts = zip(tap, window.dilations, window.strides, window.outs, strict=True)
    return last_axes(source, *(slice(t * d, t * d + (o - 1) * s + 1, s) for t, d, s, o in parts))


def window_view(source: Array, window: Window) -> Array:
    """All windows of a padded input: [n, c, *kernel, *outs]; no copy."""
    rank = len(window.kernel)
    steps = source.strides[2:]
    inner = [step * d if k > 1 else 0 for step, d, k in zip(steps, window.dilations, window.kernel, strict=True)]
    outer = [step * s if o > 1 else 0 for step, s, o in zip(steps, window.strides, window.outs, strict=True)]
    shape = (*source.shape[:2], *window.kernel, *window.outs)
    assert source.ndim == rank + 2
    return np.lib.stride_tricks.as_strided(source, shape, (*source.strides[:2], *inner, *outer), writeable=False)
