"""The platform ${name}: its memories; its kernels declare themselves in `${name}.kernels`."""

from tilewright.platform import MemoryLevel, Platform

PLATFORM = Platform(
    name="${name}",
    summary="portable C, and kernels of its own",
    memory=[
        MemoryLevel("ram", align=16),
        MemoryLevel("flash", align=4, readonly=True),
    ],
    compute_in="ram",
    constants_in="flash",
    inherits="generic",
    kernels="${name}.kernels",
)
