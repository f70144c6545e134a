"""The platform `riscv`."""

PUBLIC = ("memory", "platform")
"""Modules of which other platforms import names."""
