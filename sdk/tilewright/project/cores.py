"""Which boards a generated library is for, in the words of the ecosystems that ask: Arduino and PlatformIO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ANY = ("*",)


@dataclass(frozen=True)
class Boards:
    """Names of Arduino's architectures and of PlatformIO's platforms."""

    architectures: tuple[str, ...]
    platforms: tuple[str, ...]


ARM = Boards(
    ("apollo3", "mbed", "mbed_edge", "mbed_giga", "mbed_nano", "mbed_nicla", "mbed_opta", "mbed_portenta",
     "mbed_rp2040", "nRF5", "nrf52", "renesas_portenta", "renesas_uno", "rp2040", "sam", "samd", "stm32", "teensy"),
    ("atmelsam", "freescalekinetis", "infineonxmc", "maxim32", "nordicnrf51", "nordicnrf52", "nxpimxrt", "nxplpc",
     "raspberrypi", "renesas-ra", "siliconlabsefm32", "ststm32", "teensy", "titiva"),
)  # fmt: skip
RISCV = Boards(("ch32v", "esp32"), ("espressif32", "gd32v", "sifive"))
WIDE = Boards(
    tuple(sorted({*ARM.architectures, *RISCV.architectures, "esp8266"}, key=str.lower)),
    tuple(sorted({*ARM.platforms, *RISCV.platforms, "espressif8266", "native"})),
)
"""Every core whose `int` has 32 bits and whose `double` has 64."""
_OF_COMPILER = {"arm": ARM, "riscv32": RISCV, "riscv64": RISCV}
"""By the first word of a cross compiler's name."""


def boards_for(compilers: Sequence[str], wide_core: bool) -> Boards:
    """The boards whose compiler takes the code: those of the target's own cross compiler, else all.

    `wide_core` leaves out the cores with an `int` of 16 bits, on which this code stops the compiler.
    """
    for compiler in compilers:
        if (boards := _OF_COMPILER.get(compiler.partition("-")[0])) is not None:
            return boards
    return WIDE if wide_core else Boards(ANY, ANY)
