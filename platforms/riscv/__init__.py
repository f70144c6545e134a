"""The platform `riscv`."""
