"""Linear interpolation of images of floats: two rows are joined in scratch, then two columns for each result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilewright.operators import folded_taps, resizing
from tilewright.platform import Array, Call, Constant, DType, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS

AXES = (2, 3)
TEMPLATE, TYPES = "resize_f32.c.mako", "f32, *... -> f32"


@dataclass(frozen=True)
class ResizeContext:
    """`images` of `rows` x `columns` results of `channels`, from images of `image` elements."""

    images: int
    image: int
    rows: int
    columns: int
    channels: int
    source_columns: int
    joined: str


def taps_of(call: Call, axis: int) -> tuple[Array, Array] | None:
    """The first of two sources of every result, and both weights; None where there are more, or one alone."""
    taps = resizing(call).taps(axis)
    if taps is None or taps.outside.any():
        return None
    first, weights = folded_taps(taps, call.shape()[axis])
    return (np.array(first, np.int32), weights) if weights.shape[1] == 2 else None


class ResizeF32:
    """Enlarging an image along rows and columns."""

    def accepts(self, call: Call) -> str | None:
        """Images between two rows and two columns."""
        if len(call.shape()) != 4 or call.node.clamp is not None or not call.outputs[0].elements:
            return "the kernel interpolates images, without an activation behind"
        if resizing(call).mode != "linear" or call.shape()[:2] != call.outputs[0].shape[:2]:
            return "the kernel interpolates rows and columns linearly"
        if any(taps_of(call, axis) is None for axis in AXES):
            return "the kernel takes two rows and two columns for each result"
        return None

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """For every row and column of results where its two sources begin, and their weights."""
        call = operands.call
        shape, made = call.shape(), list[Constant]()
        for name, axis, step in zip(("row", "column"), AXES, (shape[1] * shape[3], shape[1]), strict=True):
            taps = taps_of(call, axis)
            assert taps is not None, "it is accepted"
            made.append(Constant(f"{name}_places", DType.I32, taps[0] * np.int32(step)))
            made.append(Constant(f"{name}_weights", DType.F32, taps[1].reshape(-1)))
        return tuple(made)

    def scratch(self, operands: Operands) -> int:
        """Two rows as one."""
        shape = operands.call.shape()
        return 4 * shape[1] * shape[3]

    def context(self, call: Call, joined: str) -> ResizeContext:
        """The numbers of the layer."""
        x, y = call.tensor(0), call.outputs[0]
        return ResizeContext(
            y.shape[0], x.elements // x.shape[0], y.shape[2], y.shape[3], y.shape[1], x.shape[3], joined
        )


BOTH = ResizeF32()


def joins(call: Call) -> float:
    """Elements that are the sum of two: results, and what joined rows have for each row of results."""
    y = call.outputs[0]
    return y.elements * (1.0 + call.shape()[3] / max(1, y.shape[3]))


@PLATFORM.kernel(
    "Resize", "Upsample", types=TYPES, template=TEMPLATE, layout="channels_last", sources=[REGISTERS, "resize_fpu.h"],
    numerics="1e-5", preference=20, requires=Needs(has=("fpu",)),
)  # fmt: skip
class ResizeFpu(KernelMethods):
    """Four sums a turn."""

    def accepts(self, call: Call) -> str | None:
        """Images between two rows and two columns."""
        return BOTH.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Sources and weights."""
        return BOTH.constants(operands)

    def scratch(self, operands: Operands) -> int:
        """Two rows as one."""
        return BOTH.scratch(operands)

    def cost(self, call: Call) -> float:
        """Some six instructions a sum, thirty a pixel."""
        y = call.outputs[0]
        return 6.0 * joins(call) + 30.0 * y.elements / y.shape[1]

    def context(self, operands: Operands) -> ResizeContext:
        """The numbers of the layer."""
        return BOTH.context(operands.call, "tilewright_fpu_joined")


@PLATFORM.kernel(
    "Resize", "Upsample", types=TYPES, template=TEMPLATE, layout="channels_last",
    sources=[REGISTERS, "mve.h", "resize_float_mve.h"], numerics="1e-5", preference=40,
    requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class ResizeFloatMve(KernelMethods):
    """Four sums in a vector."""

    def accepts(self, call: Call) -> str | None:
        """Images between two rows and two columns."""
        return BOTH.accepts(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Sources and weights."""
        return BOTH.constants(operands)

    def scratch(self, operands: Operands) -> int:
        """Two rows as one."""
        return BOTH.scratch(operands)

    def cost(self, call: Call) -> float:
        """Some two instructions a sum, thirty a pixel."""
        y = call.outputs[0]
        return 2.0 * joins(call) + 30.0 * y.elements / y.shape[1]

    def context(self, operands: Operands) -> ResizeContext:
        """The numbers of the layer."""
        return BOTH.context(operands.call, "tilewright_mve_joined")
