"""Linear interpolation of images of floats in vectors of channels, each result from its four sources."""

from __future__ import annotations

from tilewright.platform import Call, Constant, KernelMethods, Needs, Operands
from tilewright.platforms.generic.kernels.resized_floats import ResizedFloats, accepted, images_of, source_constants
from tilewright.platforms.riscv.platform import PLATFORM

LANES = 32


@PLATFORM.kernel(
    "Resize", "Upsample", types="f32, *... -> f32", template="resize_vector_f32.c.mako", layout="channels_last",
    numerics="1e-5", preference=30, requires=Needs(has=("rvv", "fpu")),
)  # fmt: skip
class ResizeVectorF32(KernelMethods):
    """Two rows are joined, then two columns, in registers alone."""

    def accepts(self, call: Call) -> str | None:
        """Images between two rows and two columns."""
        return accepted(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Sources and weights."""
        return source_constants(operands.call)

    def cost(self, call: Call) -> float:
        """Some forty instructions a pixel, and for thirty-two channels more."""
        y = call.outputs[0]
        return y.elements / y.shape[1] * (20.0 + 24.0 * -(-y.shape[1] // LANES))

    def context(self, operands: Operands) -> ResizedFloats:
        """The numbers of the layer."""
        return images_of(operands.call)
