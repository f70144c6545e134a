"""DynamicQuantizeLinear: the range of a tensor measured at run time, then its codes."""

from __future__ import annotations

from tilewright.ops.index.loop_nest import Loop, LoopNest, Loops
from tilewright.platform import Call, KernelMethods, Operands
from tilewright.platforms.generic.kernels.nest import NestContext
from tilewright.platforms.generic.platform import PLATFORM


@PLATFORM.kernel(
    "DynamicQuantizeLinear", types="f32 -> u8, f32, u8", template="nest.c.mako", layout="default", numerics="exact"
)
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
            Loops((Loop("i", size),), ("low = fminf(low, x[i]);", "high = fmaxf(high, x[i]);")),
            "const float step = (high > low ? high - low : 1.0f) / 255.0f;",
            "const float zero = rintf(fminf(fmaxf(-low / step, 0.0f), 255.0f));",
            "scale[0] = step;",
            "zero_point[0] = (uint8_t)zero;",
            Loops(
                (Loop("i", size, parallel=True),),
                ("y[i] = (uint8_t)fminf(fmaxf(rintf(x[i] / step) + zero, 0.0f), 255.0f);",),
            ),
        )
        return NestContext((), (LoopNest("extremes with 0, scale, zero point, codes", body),))
