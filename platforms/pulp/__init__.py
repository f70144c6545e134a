"""A cluster of small RISC-V cores with a fast memory of its own, filled by DMA."""

PUBLIC = (
    "memory", "platform", "kernels.block_asm", "kernels.conv_i8", "kernels.dense_i8", "kernels.listing",
    "kernels.windows",
)  # fmt: skip
"""Modules of which other platforms import names."""
