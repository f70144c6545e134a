"""Memories of a PULP cluster: L1 (TCDM) beside the cores, L2 for everything else, DMA between them.

The figures are those of the mchan engine and of the ninth core as GVSoC models them: 8 bytes per cycle each way, a
cycle between runs, and what the core takes to read commands and tables from L2, where a load takes 15 cycles. They fit
237 layers of four networks, kernels taken as measured: off by -2 % of what layers take beside their kernels, 180 cycles
a layer. `ci/bench pulp_depth` prints how far whole networks are off.
"""

from tilewright.platform import Copy, KiB, MemoryLevel, TileCosts

LEVELS = [
    MemoryLevel("l1", size=64 * KiB, align=8, section=".l1"),
    MemoryLevel("l2", size=1536 * KiB, align=8, bytes_per_cycle=0.3),
]
COPIES = [
    Copy("l2", "l1", ranks=2, setup_cycles=30, burst_cycles=1, bytes_per_cycle=8.0, asynchronous=True),
    Copy("l1", "l2", ranks=2, setup_cycles=30, burst_cycles=1, bytes_per_cycle=8.0, asynchronous=True),
]
TILES = TileCosts(layer=350, tile=90, tile_beside=110, kernel=60, both_ways=True, doubt=0.02, turn=60)
