"""DynamicQuantizeLinear: the range of a tensor measured at run time, then its codes."""

from __future__ import annotations

from tilewright.ops.index.loop_nest import Loop, LoopNest, Loops
from tilewright.platform import Call, KernelMethods, Operands
from tilewright.platforms.generic.kernels.nest import NestContext
from tilewright.platforms.generic.platform import PLATFORM


@PLATFORM.kernel(
    "DynamicQuantizeLinear", types="f32 -> u8, f32, u8", template="nest.c.mako", layout="default", numerics="exact",
    sources=["nearest.h"],
)  # fmt: skip
class DynamicCodes(KernelMethods):
    """Two passes: extremes, then codes; scale and zero point as ONNX computes them in float32."""

    def accepts(self, call: Call) -> str | None:
        """All three results must be wanted."""
        return None if len(call.outputs) == 3 else "scale or zero point is not used, the kernel writes both"

    def context(self, operands: Operands) -> NestContext:
        """The two loops over the elements."""
        size = operands.call.tensor(0).elements
        body = (
            "float low = 0.0f;",
            "float high = 0.0f;",
            Loops((Loop("i", size),), ("low = x[i] < low ? x[i] : low;", "high = x[i] > high ? x[i] : high;")),
            "const float step = (high > low ? high - low : 1.0f) / 255.0f;",
            "float zero = -low / step;",
            "zero = zero > 0.0f ? zero : 0.0f;",
            "zero = tilewright_nearest(zero < 255.0f ? zero : 255.0f);",
            "const float most = 255.0f - zero;",
            "scale[0] = step;",
            "zero_point[0] = (uint8_t)(int32_t)zero;",
            Loops(
                (Loop("i", size, parallel=True),),
                (
                    "float steps = x[i] / step;",
                    "steps = steps > -zero ? steps : -zero; /* the limits are whole, so they may come first */",
                    "steps = steps < most ? steps : most;",
                    "y[i] = (uint8_t)(int32_t)(tilewright_nearest(steps) + zero);",
                ),
            ),
        )
        return NestContext((), (LoopNest("extremes with 0, scale, zero point, codes", body),))
