"""DFT and STFT as plain sums over a table of angles, in double precision."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from tilewright.operators import dft_axis, dft_length, frames
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import c_type, constants_by_name, empty, unread
from tilewright.platforms.generic.kernels.transform_f32 import refused
from tilewright.platforms.generic.platform import PLATFORM

_REALS = "f32|f64"


def _angles(length: int) -> tuple[Constant, Constant]:
    """Cosines and sines of every multiple of one turn divided by `length`."""
    turns: Array = np.arange(length) * (2 * np.pi / length)
    return Constant("cosines", DType.F64, np.cos(turns), 8), Constant("sines", DType.F64, np.sin(turns), 8)


def _faster(call: Call) -> str | None:
    """A sum over all points takes tens of times as long, so that its smaller scratch is no reason for it."""
    return None if refused(call) else "a fast transform takes it"


@dataclass(frozen=True)
class DftContext:
    """`rows` transforms `inner` apart: `given` points of `parts` numbers to `bins` points of `parts_out`."""

    outer: int
    inner: int
    given: int
    taken: int
    parts: int
    length: int
    bins: int
    parts_out: int
    inverse: bool
    mirrored: bool
    c_type: str
    unread: tuple[str, ...]


@PLATFORM.kernel("DFT", types=f"{_REALS}, i64? , i64? -> {_REALS}", template="dft.c.mako", numerics="1e-6")
class Dft(KernelMethods):
    """Forward or inverse, one-sided or whole."""

    def accepts(self, call: Call) -> str | None:
        """Known axis and length, and what fast transforms do not take."""
        return "the result is limited" if call.node.clamp else empty(call) or _faster(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The table of angles."""
        call = operands.call
        return (*constants_by_name(operands, 0), *_angles(dft_length(call, dft_axis(call))))

    def cost(self, call: Call) -> float:
        """Every bin sums every point, in double precision."""
        return 50.0 * call.outputs[0].elements * call.shape()[dft_axis(call)]

    def context(self, operands: Operands) -> DftContext:
        """Sizes around the axis."""
        call = operands.call
        shape, y, axis = call.shape(), call.outputs[0].shape, dft_axis(call)
        length, inverse = dft_length(call, axis), bool(call.integer("inverse", 0))
        mirrored = inverse and bool(call.integer("onesided", 0))
        return DftContext(
            outer=prod(shape[:axis]), inner=prod(shape[axis + 1 : -1]), given=shape[axis],
            taken=min(shape[axis], length // 2 + 1 if mirrored else length), parts=shape[-1], length=length,
            bins=y[axis], parts_out=y[-1], inverse=inverse, mirrored=mirrored, c_type=c_type(call.outputs[0]),
            unread=unread(call, 0),
        )  # fmt: skip


@dataclass(frozen=True)
class StftContext:
    """`count` frames of `length` points every `step` of `samples`, `bins` of each kept."""

    batch: int
    samples: int
    parts: int
    step: int
    length: int
    count: int
    bins: int
    window: bool
    c_type: str
    unread: tuple[str, ...]


@PLATFORM.kernel(
    "STFT", types=f"{_REALS}, i32|i64, {_REALS}?, i32|i64? -> {_REALS}", template="stft.c.mako", numerics="1e-6"
)
class Stft(KernelMethods):
    """A transform of every frame."""

    def accepts(self, call: Call) -> str | None:
        """Known frames, and what fast transforms do not take."""
        return "the result is limited" if call.node.clamp else empty(call) or _faster(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """A constant window and the table of angles."""
        _, length, _ = frames(operands.call)
        return (*constants_by_name(operands, 0, 2), *_angles(length))

    def cost(self, call: Call) -> float:
        """Every bin sums every point of its frame, in double precision."""
        return 50.0 * call.outputs[0].elements * frames(call)[1]

    def context(self, operands: Operands) -> StftContext:
        """Sizes of signal and frames."""
        call = operands.call
        step, length, count = frames(call)
        batch, samples, parts = call.shape()
        return StftContext(
            batch, samples, parts, step, length, count, call.outputs[0].shape[2], call.optional(2) is not None,
            c_type(call.outputs[0]), unread(call, 0, 2),
        )  # fmt: skip
