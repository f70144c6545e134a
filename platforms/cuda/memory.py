"""Memories of an NVIDIA GPU from compute capability 8.0 on; sizes are those of the smallest such data-centre part.

The arena, inputs and weights lie in HBM at fixed addresses; the caches and registers hold what a thread works on.
"""

from tilewright.platform import Copy, KiB, MemoryLevel, MiB

LEVELS = [
    MemoryLevel("hbm", size=40 * 1024 * MiB, align=256, section="cudaMalloc", bytes_per_cycle=1100.0),
    MemoryLevel("weights", align=256, section="cudaMalloc", readonly=True, bytes_per_cycle=1100.0),
    MemoryLevel("l2", size=40 * MiB, align=128, section="cache", bytes_per_cycle=4000.0),
    MemoryLevel("shared", size=164 * KiB, align=16, section="__shared__", bytes_per_cycle=128.0),
    MemoryLevel("registers", size=256 * KiB, align=4, section="registers", bytes_per_cycle=512.0),
]
COPIES = [
    Copy("hbm", "l2", ranks=1, setup_cycles=500, bytes_per_cycle=1100.0, asynchronous=True),
    Copy("l2", "shared", ranks=5, setup_cycles=200, bytes_per_cycle=64.0, asynchronous=True),
    Copy("shared", "registers", ranks=1, setup_cycles=25, bytes_per_cycle=128.0),
]
