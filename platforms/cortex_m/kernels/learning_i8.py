"""Layers on codes with weights of the run time, and layers taken back in integers, on cores with the DSP extension."""

from tilewright.numerics import ROUNDING
from tilewright.platform import Needs
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import code_descent, learnt_i8

OWN = "../../cortex_m/kernels"
"""Sources lie beside the portable classes, or on the way from there."""
DUAL = Needs(has=("dsp",))
LEARNT = [f"{OWN}/dsp.h", "products_f32.h", "learnt_i8.h", f"{OWN}/learnt_dsp.h", *ROUNDING]
TAKEN_BACK = [
    f"{OWN}/dsp.h", "products_f32.h", *ROUNDING, "whole_steps.h", "code_move.h", f"{OWN}/code_blocks_dsp.h",
    "code_descent.h",
]  # fmt: skip

PLATFORM.kernel(
    "Conv", types=learnt_i8.TYPES, template="learnt_i8.c.mako", layout=("axes", "channels_last"),
    sources=LEARNT, preference=12, requires=DUAL,
)(learnt_i8.LearntConvI8)  # fmt: skip
PLATFORM.kernel(
    "Gemm", "MatMul", types=learnt_i8.TYPES, template="learnt_i8.c.mako", sources=LEARNT, preference=4, requires=DUAL
)(learnt_i8.LearntI8)
PLATFORM.kernel(
    "CodeDescent", types=code_descent.TYPES, template="code_descent.c.mako", sources=TAKEN_BACK, preference=2,
    requires=DUAL,
)(code_descent.CodeDescent)  # fmt: skip
PLATFORM.kernel(
    "CodeDescent", types=code_descent.TYPES, template="code_descent.c.mako", sources=TAKEN_BACK,
    layout=("same", "same"), preference=7, requires=DUAL,
)(code_descent.CodeDescentInPlace)  # fmt: skip
PLATFORM.kernel(
    "Conv", types=learnt_i8.TYPES, template="learnt_depthwise_i8.c.mako", layout=("axes", "channels_last"),
    sources=["plane_i8.h", *ROUNDING], preference=15, requires=DUAL,
)(learnt_i8.LearntDepthwiseI8)  # fmt: skip
PLATFORM.kernel(
    "CodeDescent", types=code_descent.TYPES, template="code_depthwise.c.mako", layout=("same", "same"), preference=10,
    sources=code_descent.DEPTHWISE, requires=DUAL,
)(code_descent.CodeDescentDepthwise)  # fmt: skip
