"""PULP: eight cores compute tiles in L1 while a ninth drives the DMA. What has no tiled kernel runs from L2 on it."""

from tilewright.platform import Platform
from tilewright.platforms.generic.platform import PLATFORM as PORTABLE
from tilewright.platforms.pulp.memory import COPIES, LEVELS, TILES
from tilewright.platforms.pulp.rates import RATES

PLATFORM = Platform(
    name="pulp",
    summary="PULP clusters: int8 kernels on eight cores over tiles in L1, copied by DMA from L2",
    memory=LEVELS,
    copies=COPIES,
    compute_in="l1",
    constants_in="l2",
    inherits=PORTABLE.name,
    cores=8,
    tile_costs=TILES,
    rates=RATES,
    kernels="tilewright.platforms.pulp.kernels",
)
