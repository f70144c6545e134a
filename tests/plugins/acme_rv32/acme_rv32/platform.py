# mypy: ignore-errors
"""Acme RV32: one RV32IMC core with a dot product of four bytes, SRAM and flash."""

from tilewright.platform import KiB, MemoryLevel, MiB, Platform

PLATFORM = Platform(
    name="acme_rv32",
    summary="Acme RV32IMC with dot4",
    memory=[
        MemoryLevel("sram", size=512 * KiB, align=16),
        MemoryLevel("flash", size=2 * MiB, align=4, readonly=True),
    ],
    compute_in="sram",
    constants_in="flash",
    inherits="generic",
    kernels="acme_rv32.kernels",
)
