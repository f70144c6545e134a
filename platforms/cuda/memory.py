"""Memories of an NVIDIA GPU from compute capability 8.0 on; the size is that of the smallest such data-centre part.

The arena, inputs and weights lie in HBM at fixed addresses; what a thread works on lies in caches and registers, which
the compiler and the hardware fill.
"""

from tilewright.platform import MemoryLevel, MiB

LEVELS = [MemoryLevel("hbm", size=40 * 1024 * MiB, align=256), MemoryLevel("weights", align=256, readonly=True)]
