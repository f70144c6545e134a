"""Cores in QEMU: counted and fenced by our plugin where QEMU takes it, else counted by the core's own counter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.run.counts import Counts
from tilewright.run.fence import FenceMap
from tilewright.run.image import Image
from tilewright.run.plugin import ARGUMENTS, RESULT, plugin_compiler, prepare, read_counts, read_touched
from tilewright.run.result import read_result
from tilewright.run.simulators.images import ImageSimulator
from tilewright.run.tool import Finished, start
from tilewright.target import Target

PROTECTION = frozenset({"pmp", "mpu"})
"""Capabilities of cores whose memory protection the start-up code sets."""
INTERRUPT_INSTRUCTIONS = 5
"""Of the handler of SysTick in targets/start/cortex_m.c."""


class Qemu(ImageSimulator):
    """A machine of QEMU. Instructions are exact, time is not modelled."""

    clock_takes_stack = True

    def counts(self, image: Image) -> bool:
        """True where the plugin or the core's own counter can count."""
        return has_clock(image) or _takes_plugin(image.target)

    def by_clock(self, image: Image, count: bool) -> bool:
        """True where QEMU takes no plugin, or no compiler can build it."""
        return count and not _takes_plugin(image.target)

    def cost_of(self, image: Image, ticks: int, interrupts: int) -> int:
        """Instructions."""
        return _instructions(image.target, ticks, interrupts)

    def fences(self, target: Target) -> tuple[str, ...]:
        """The core's memory protection and, where QEMU takes the plugin, the declared bytes."""
        hardware = ("hardware",) if PROTECTION.intersection(target.capabilities) else ()
        return (*hardware, *(("plugin",) if _takes_plugin(target) else ()))

    def touched(self, image: Image, folder: Path) -> Mapping[str, int]:
        """What the plugin saw."""
        return read_touched(image, folder)

    def start(
        self, image: Image, folder: Path, count: bool, fence: FenceMap | None, timeout: float
    ) -> tuple[Finished, Counts | None]:
        """Start QEMU, with the plugin where something is counted or fenced."""
        if self.by_clock(image, count):
            return _start_clocked(self.command(image), image, folder, timeout)
        if not count and fence is None:
            return start(self.command(image), folder, timeout=timeout), None
        if not image.target.plugin:
            raise UsageError(
                f"target '{image.target.name}' cannot fence", why="its simulator does not take the QEMU plugin"
            )
        prepare(image, folder, fence)
        done = start([*self.command(image), *ARGUMENTS], folder, timeout=timeout)
        if fence is not None and (folder / RESULT).is_file():
            crossed = (folder / RESULT).read_text(encoding="ascii")
            done = Finished(done.code, done.output, done.errors + crossed)
        return done, read_counts(image, folder) if count and done.code == 0 else None


def has_clock(image: Image) -> bool:
    """True where the core's own counter can be read as instructions; SysTick needs its frequency for that."""
    if image.target.icount_shift is None:
        return False
    return image.target.systick_hz is not None or image.elf.symbol("tw_systick") is None


def _takes_plugin(target: Target) -> bool:
    return target.plugin and plugin_compiler() is not None


def _start_clocked(command: list[str], image: Image, folder: Path, timeout: float) -> tuple[Finished, Counts | None]:
    """Count by the core's counter, which goes by the simulator's instructions; a total is all it gives."""
    unable = UsageError(
        f"target '{image.target.name}' cannot count instructions",
        why="the QEMU plugin cannot be used and the core's counter is not known",
        fix="install gcc for this machine, or give run.icount_shift and run.systick_hz in target.toml",
    )
    if not has_clock(image):
        raise unable
    done = start([*command, "-icount", f"shift={image.target.icount_shift}"], folder, timeout=timeout)
    if done.code != 0:
        return done, None
    result = read_result(folder)
    if result.ticks == 0:
        raise unable
    return done, Counts(_instructions(image.target, result.ticks, result.interrupts), counter="icount")


def _instructions(target: Target, ticks: int, interrupts: int) -> int:
    """Ticks as instructions: one takes 2^shift ns, and one more was run than was measured."""
    shift = target.icount_shift or 0
    if target.systick_hz is None:
        return (ticks >> shift) + 1
    per_second = target.systick_hz << shift
    return (2 * 10**9 * ticks + per_second) // (2 * per_second) + 1 - INTERRUPT_INSTRUCTIONS * interrupts


SIMULATOR = Qemu()
