"""The kernels of `cortex_m`; each module declares its own."""
