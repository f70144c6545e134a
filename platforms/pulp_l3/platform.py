"""PULP with L3: constants rest there; they are kept in L1 or L2 where they fit, and streamed to L2 where not."""

from tilewright.platform import Copy, MemoryLevel, MiB, Platform
from tilewright.platforms.pulp.memory import COPIES, LEVELS
from tilewright.platforms.pulp.platform import PLATFORM as CLUSTER

PLATFORM = Platform(
    name="pulp_l3",
    summary="PULP clusters with weights in L3, copied to L2 once or before every run of their layer",
    memory=[*LEVELS, MemoryLevel("l3", size=8 * MiB, align=8, readonly=True)],
    copies=[*COPIES, Copy("l3", "l2", setup_cycles=200, bytes_per_cycle=1.0)],
    compute_in="l1",
    constants_in="l3",
    inherits=CLUSTER.name,
    cores=CLUSTER.cores,
    tile_costs=CLUSTER.tile_costs,
    rates=CLUSTER.rates,
)
