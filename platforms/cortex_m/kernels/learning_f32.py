"""Float convolutions with weights of the run time, and products taken back, on cores with a floating-point unit."""

from tilewright.platform import Needs
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels import (
    conv_gathered_f32,
    conv_rows_f32,
    descent,
    descent_depthwise,
    descent_pair,
    pooled_conv,
    vector_product_f32,
)

OWN = "../../cortex_m/kernels"
BLOCKS = [
    "registers_f32.h", *(f"{OWN}/{header}" for header in ("fpu.h", "product_fpu.h", "blocks_fpu.h")), "products_f32.h",
]  # fmt: skip
"""Sources lie beside the portable classes, or on the way from there."""
TAKEN_BACK = [*BLOCKS, "runs_f32.h", "descent_slopes.h", "descent.h"]

PLATFORM.kernel(
    "Conv", types=conv_gathered_f32.TYPES, template="conv_gathered_f32.c.mako", layout=("default", "default"),
    sources=[*BLOCKS, "gathered_f32.h"], numerics="1e-5", preference=15, requires=Needs(has=("fpu",)),
)(conv_gathered_f32.ConvGatheredF32)  # fmt: skip
PLATFORM.kernel(
    "Conv", types=conv_gathered_f32.TYPES, template="conv_rows_f32.c.mako", layout=("default", "default"),
    sources=[*BLOCKS, "gathered_f32.h", "runs_f32.h", "rows_f32.h"], numerics="1e-5", preference=17,
    requires=Needs(has=("fpu",)),
)(conv_rows_f32.ConvRowsF32)  # fmt: skip
PLATFORM.kernel(
    "MatMul", types=vector_product_f32.TYPES, template="vector_product_f32.c.mako", layout=("default", "default"),
    sources=BLOCKS[:4], numerics="1e-5", preference=25, requires=Needs(has=("fpu",)),
)(vector_product_f32.VectorProductF32)  # fmt: skip
PLATFORM.kernel(
    "Descent", types=descent.TYPES, template="descent.c.mako", sources=TAKEN_BACK,
    numerics="1e-4", preference=10, requires=Needs(has=("fpu",)),
)(descent.Descent)  # fmt: skip
PLATFORM.kernel(
    "Descent", types=descent.TYPES, template="descent.c.mako", sources=TAKEN_BACK,
    numerics="1e-4", layout=("same", "same"), preference=15, requires=Needs(has=("fpu",)),
)(descent.DescentInPlace)  # fmt: skip
PLATFORM.kernel(
    "Descent", types=descent.TYPES, template="descent_depthwise.c.mako", sources=["registers_f32.h"], numerics="1e-4",
    layout=("default", "default"), preference=20, requires=Needs(has=("fpu",)),
)(descent_depthwise.DescentDepthwise)  # fmt: skip
PLATFORM.kernel(
    "DescentPair", types=descent_pair.TYPES, template="descent_pair.c.mako",
    sources=[*TAKEN_BACK, "gathered_f32.h"], numerics="1e-4", layout=("default", "default"),
    preference=10, requires=Needs(has=("fpu",)),
)(descent_pair.DescentPair)  # fmt: skip
PLATFORM.kernel(
    "PooledConv", types=pooled_conv.TYPES, template="pooled_conv.c.mako", layout=("default", "default"),
    sources=[*BLOCKS, "gathered_f32.h"], numerics="1e-5", preference=10, requires=Needs(has=("fpu",)),
)(pooled_conv.PooledConv)  # fmt: skip
