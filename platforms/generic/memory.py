"""Memories of a plain machine: one RAM, one flash; the target says how large they are."""

from tilewright.platform import MemoryLevel

LEVELS = [
    MemoryLevel("ram", align=16),
    MemoryLevel("flash", align=4, readonly=True),
]
