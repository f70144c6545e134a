"""Portable C99, no intrinsics: runs everywhere, every other platform may inherit from it."""

from tilewright.platform import Platform
from tilewright.platforms.generic.memory import LEVELS
from tilewright.platforms.generic.rates import RATES

PLATFORM = Platform(
    name="generic",
    summary="portable C99 for any core with a C compiler",
    memory=LEVELS,
    compute_in="ram",
    constants_in="flash",
    rates=RATES,
    kernels="tilewright.platforms.generic.kernels",
)
