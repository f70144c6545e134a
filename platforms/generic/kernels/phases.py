"""ConvTranspose as plain convolutions: results a stride apart are sums over the same taps.

With stride `s`, dilation `d` and padding `begin`, tap `k` of result `o` reads input `(o + begin - k * d) / s` where
that is whole. Results whose `o + begin` leave the same rest are one phase: they share their taps.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from tilewright.operators import transposed_window
from tilewright.platform import Call


@dataclass(frozen=True)
class Phase:
    """One axis: results `first`, `first + stride`, ... `count` of them; the first reads input `begin` by the first of
    its `taps`, which are in the order of their inputs, and each result one input further."""

    first: int
    count: int
    taps: tuple[int, ...]
    begin: int


@dataclass(frozen=True)
class TransposedAxis:
    """One spatial axis: inputs, results, and the distances of results of a phase and of the inputs of its taps."""

    size: int
    out: int
    stride: int
    dilation: int
    phases: tuple[Phase, ...]


def refused(call: Call, most_groups: int = 1) -> str | None:
    """None for few groups of constant weights, one or two axes, batch 1 and taps that lie evenly, else why not."""
    if 1 not in call.constants or (call.optional(2) is not None and 2 not in call.constants):
        return "weights or bias are computed at run time, the kernel repacks them at compile time"
    if len(call.shape(0)) not in (3, 4):
        return f"{len(call.shape(0)) - 2} spatial axes, the kernel handles one or two"
    if call.shape(0)[0] != 1 or call.integer("group", 1) > most_groups:
        return f"the kernel handles batch 1 and {'one group' if most_groups == 1 else f'up to {most_groups} groups'}"
    geometry = transposed_window(call)
    if any(s > 1 and d > 1 for s, d in zip(geometry.strides, geometry.dilations, strict=True)):
        return "an axis has both stride and dilation, its taps lie unevenly"
    return None


def transposed_axes(call: Call) -> tuple[TransposedAxis, TransposedAxis]:
    """Rows and columns of a call that is not `refused`; one row where there is one axis."""
    geometry = transposed_window(call)
    parts = zip(
        call.shape(0)[2:], geometry.outs, geometry.kernel, geometry.strides, geometry.dilations, geometry.begins,
        strict=True,
    )  # fmt: skip
    axes = [_axis(*part) for part in parts]
    if len(axes) == 1:
        axes.insert(0, _axis(1, 1, 1, 1, 1, 0))
    return axes[0], axes[1]


def phases(h: TransposedAxis, w: TransposedAxis) -> tuple[tuple[Phase, Phase], ...]:
    """Phases of rows by those of columns."""
    return tuple(product(h.phases, w.phases))


def _axis(size: int, out: int, kernel: int, stride: int, dilation: int, begin: int) -> TransposedAxis:
    phases = []
    for first in range(min(stride, out)):
        taps = [k for k in reversed(range(kernel)) if (first + begin - k * dilation) % stride == 0]
        at = (first + begin - taps[0] * dilation) // stride if taps else 0
        phases.append(Phase(first, -(-(out - first) // stride), tuple(taps), at))
    return TransposedAxis(size, out, stride, dilation if stride == 1 else 1, tuple(phases))
