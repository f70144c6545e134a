"""Memories of Siracusa: those of a PULP cluster, and the weight memory beside the accelerator.

Nothing is copied from or to the weight memory while a network runs: what loads the image fills it, and only the
accelerator reads it.
"""

from tilewright.platform import KiB, MemoryLevel, MiB
from tilewright.platforms.pulp.memory import LEVELS as CLUSTER

WEIGHTS = "wmem"
LEVELS = [
    MemoryLevel("l1", size=256 * KiB, align=8, section=".l1"),
    *(level for level in CLUSTER if level.name != "l1"),
    MemoryLevel(WEIGHTS, size=4 * MiB, align=32, section=".wmem"),
]
