"""The kernels of `riscv`; each module declares its own."""
