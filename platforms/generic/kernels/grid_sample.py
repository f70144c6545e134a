"""GridSample: an image read at run-time positions, in any number of spatial axes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.operators import grid_sampling
from tilewright.platform import Call, Constant, DType, KernelMethods, Operands
from tilewright.platforms.generic.kernels.elements import (
    FLOATS,
    PLAIN,
    as_element,
    as_real,
    constants_by_name,
    empty,
    strides,
)
from tilewright.platforms.generic.kernels.nest_expressions import computing
from tilewright.platforms.generic.platform import PLATFORM

_TAPS = {"nearest": 1, "linear": 2, "cubic": 4}


@dataclass(frozen=True)
class SampleContext:
    """Sizes and strides of the spatial axes, points of the grid, and the mode's number of taps on each axis."""

    real: str
    f: str
    batch: int
    channels: int
    points: int
    pixels: int
    rank: int
    sizes: str
    steps: str
    taps: int
    combinations: int
    mode: str
    padding: str
    aligned: bool
    dtype: DType
    grid_dtype: DType

    def position_of(self, element: str) -> str:
        """The value of an element of the grid."""
        return as_real(self.grid_dtype, element, self.real)

    def pixel_of(self, element: str) -> str:
        """The value of an element of the image."""
        return as_real(self.dtype, element, self.real)

    def element_of(self, value: str) -> str:
        """A computed value as an element."""
        return as_element(self.dtype, value)


@PLATFORM.kernel("GridSample", types=f"{PLAIN}, {FLOATS} -> {PLAIN}", template="grid_sample.c.mako", numerics="1e-4")
class GridSample(KernelMethods):
    """Positions are computed in float; one that is not finite lies far outside, as in PyTorch."""

    def accepts(self, call: Call) -> str | None:
        """Floats as results."""
        if not call.outputs[0].dtype.is_float:
            return f"the result is {call.outputs[0].dtype.value}, the kernel interpolates floats"
        return "the result is limited" if call.node.clamp else empty(call)

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """Image or grid where they are constant."""
        return constants_by_name(operands, 0, 1)

    def cost(self, call: Call) -> float:
        """Every tap of every result."""
        mode, _, _ = grid_sampling(call)
        return 4.0 * call.outputs[0].elements * float(_TAPS[mode] ** (len(call.shape()) - 2))

    def context(self, operands: Operands) -> SampleContext:
        """Sizes of image and grid."""
        call = operands.call
        mode, padding, aligned = grid_sampling(call)
        shape, wide = call.shape(), computing(call.tensor(0).dtype).bits == 64
        spatial = shape[2:]
        return SampleContext(
            real="double" if wide else "float", f="" if wide else "f", batch=shape[0],
            channels=shape[1], points=prod(call.shape(1)[1:-1]), pixels=prod(spatial), rank=len(spatial),
            sizes=", ".join(map(str, spatial)), steps=", ".join(map(str, strides(spatial))), taps=_TAPS[mode],
            combinations=_TAPS[mode] ** len(spatial), mode=mode, padding=padding, aligned=aligned,
            dtype=call.tensor(0).dtype, grid_dtype=call.tensor(1).dtype,
        )  # fmt: skip
