"""Arm Cortex-M: one platform for every core; each kernel names the extensions that its instructions need.

Cores without them (M0, M3) take the portable kernels in blocks that fit sixteen registers.
"""

from tilewright.platform import Allowance, Platform
from tilewright.platforms.cortex_m.memory import LEVELS
from tilewright.platforms.cortex_m.rates import RATES
from tilewright.platforms.generic.platform import PLATFORM as PORTABLE

PLATFORM = Platform(
    name="cortex_m",
    summary="Arm Cortex-M0 to M55: DSP and Helium kernels where the core has them",
    memory=LEVELS,
    compute_in="ram",
    constants_in="flash",
    inherits=PORTABLE.name,
    calibrated=True,
    allowance=Allowance(10 * 1024, integer=0.32, real=0.8, stack_bytes=2048),
    rates=RATES,
    kernels="tilewright.platforms.cortex_m.kernels",
)
