"""The portable depthwise tile, for cores with a floating-point unit."""

from tilewright.platform import Needs
from tilewright.platforms.cortex_m.platform import PLATFORM
from tilewright.platforms.generic.kernels.depthwise_tile_f32 import DepthwiseTileF32

PLATFORM.kernel(
    "Conv", types="f32, f32, f32? -> f32", template="depthwise_tile_f32.c.mako", layout="channels_last",
    sources=["registers_f32.h"], numerics="1e-5", preference=22, requires=Needs(has=("fpu",)),
)(DepthwiseTileF32)  # fmt: skip
