"""Linear interpolation of images of floats: two rows are joined in scratch, then two columns for each result."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.blocks_f32 import REGISTERS
from tilewright.platforms.generic.kernels.resized_floats import ResizedFloats, accepted, images_of, source_constants

TEMPLATE, TYPES = "resize_f32.c.mako", "f32, *... -> f32"


@dataclass(frozen=True)
class ResizeContext:
    """The extents of images, and the function that joins rows or columns."""

    extent: ResizedFloats
    joined: str


def scratch_of(call: Call) -> int:
    """Bytes of two rows as one."""
    shape = call.shape()
    return 4 * shape[1] * shape[3]


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
        return accepted(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Sources and weights."""
        return source_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """Two rows as one."""
        return scratch_of(operands.call)

    def cost(self, call: Call) -> float:
        """Some six instructions a sum, thirty a pixel."""
        y = call.outputs[0]
        return 6.0 * joins(call) + 30.0 * y.elements / y.shape[1]

    def context(self, operands: Operands) -> ResizeContext:
        """The numbers of the layer."""
        return ResizeContext(images_of(operands.call), "tilewright_fpu_joined")


@PLATFORM.kernel(
    "Resize", "Upsample", types=TYPES, template=TEMPLATE, layout="channels_last",
    sources=[REGISTERS, "mve.h", "resize_float_mve.h"], numerics="1e-5", preference=40,
    requires=Needs(has=("mve", "fpu")),
)  # fmt: skip
class ResizeFloatMve(KernelMethods):
    """Four sums in a vector."""

    def accepts(self, call: Call) -> str | None:
        """Images between two rows and two columns."""
        return accepted(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Sources and weights."""
        return source_constants(operands.call)

    def scratch(self, operands: Operands) -> int:
        """Two rows as one."""
        return scratch_of(operands.call)

    def cost(self, call: Call) -> float:
        """Some two instructions a sum, thirty a pixel."""
        y = call.outputs[0]
        return 2.0 * joins(call) + 30.0 * y.elements / y.shape[1]

    def context(self, operands: Operands) -> ResizeContext:
        """The numbers of the layer."""
        return ResizeContext(images_of(operands.call), "tilewright_mve_joined")
