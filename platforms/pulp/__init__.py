"""A cluster of small RISC-V cores with a fast memory of its own, filled by DMA."""

PUBLIC = ("memory", "platform")
"""Modules of which other platforms import names."""
