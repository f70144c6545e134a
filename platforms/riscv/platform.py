"""32-bit RISC-V: blocks that fill thirty-one registers; kernels for vectors and floats name the extension they need."""

from tilewright.platform import Allowance, Platform
from tilewright.platforms.generic.platform import PLATFORM as PORTABLE
from tilewright.platforms.riscv.memory import LEVELS
from tilewright.platforms.riscv.rates import RATES

PLATFORM = Platform(
    name="riscv",
    summary="32-bit RISC-V: register blocks for scalar cores, vectors where the core has them",
    memory=LEVELS,
    compute_in="ram",
    constants_in="flash",
    inherits=PORTABLE.name,
    calibrated=True,
    allowance=Allowance(8 * 1024, integer=0.24, real=0.8),
    rates=RATES,
    kernels="tilewright.platforms.riscv.kernels",
)
