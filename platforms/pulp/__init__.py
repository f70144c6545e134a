"""A cluster of small RISC-V cores with a fast memory of its own, filled by DMA."""
