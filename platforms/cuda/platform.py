"""NVIDIA GPUs: the plan as one self-contained .cu file, replayed as a CUDA graph, or run by a stand-in on any machine.

A kernel of this platform computes one element of its result; one thread takes one element. Whatever it has no kernel
for runs in a single thread by the portable kernel of `generic`: right, not fast.
"""

from tilewright.platform import Platform
from tilewright.platforms.cuda.memory import LEVELS
from tilewright.platforms.generic.platform import PLATFORM as GENERIC

PLATFORM = Platform(
    name="cuda",
    summary="NVIDIA GPUs from compute capability 8.0 on, by graph capture and replay",
    memory=LEVELS,
    compute_in="hbm",
    constants_in="weights",
    inherits=GENERIC.name,
    emitter="tilewright.platforms.cuda.emit",
    supports=(),
    sweeps=True,
    kernels="tilewright.platforms.cuda.kernels",
)
