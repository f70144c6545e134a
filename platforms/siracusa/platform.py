"""Siracusa: the kernels of a PULP cluster, and those of N-EUREKA, which computes while the cores requantise."""

from dataclasses import replace

from tilewright.platform import Engine, Platform
from tilewright.platforms.pulp.platform import PLATFORM as CLUSTER
from tilewright.platforms.siracusa.memory import LEVELS, WEIGHTS
from tilewright.platforms.siracusa.rates import RATES

TOGETHER = 8
"""Layers that may run as one: they are short beside what begins one, and 256 KiB hold what is between them."""
PLATFORM = Platform(
    name="siracusa",
    summary="PULP clusters with N-EUREKA: convolutions as jobs of the accelerator, codes made by eight cores",
    memory=LEVELS,
    copies=CLUSTER.copies,
    compute_in="l1",
    constants_in="l2",
    inherits=CLUSTER.name,
    cores=CLUSTER.cores,
    tile_costs=replace(CLUSTER.tile_costs, together=TOGETHER),
    rates=RATES,
    engines=[
        Engine("cores", "eight cores of the cluster"),
        Engine("neureka", "N-EUREKA: 1x1, 3x3 and depthwise 3x3 convolutions of codes, sums of 32 bits", WEIGHTS),
    ],
    kernels="tilewright.platforms.siracusa.kernels",
)
