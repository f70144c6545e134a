"""Memories of a PULP cluster: L1 (TCDM) beside the cores, L2 for everything else, DMA between them.

The figures of the DMA are those of the mchan engine as GVSoC models it: 8 bytes per cycle and about 18 cycles to
start, and 90 for the controller to read a command from L2 and give it to the engine.
"""

from tilewright.platform import Copy, KiB, MemoryLevel

LEVELS = [
    MemoryLevel("l1", size=64 * KiB, align=8, section=".l1", bytes_per_cycle=4.0),
    MemoryLevel("l2", size=1536 * KiB, align=8, section=".l2", bytes_per_cycle=0.3),
]
COPIES = [
    Copy("l2", "l1", "", ranks=2, setup_cycles=110, burst_cycles=1, bytes_per_cycle=8.0, asynchronous=True),
    Copy("l1", "l2", "", ranks=2, setup_cycles=110, burst_cycles=1, bytes_per_cycle=8.0, asynchronous=True),
]
