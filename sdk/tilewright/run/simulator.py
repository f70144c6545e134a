"""What the author of a simulator imports: the class whose methods say what it can do and start it.

    class Wrapped(Native):
        def command(self, image: Image) -> list[str]:
            return ["my-wrapper", *super().command(image)]

    SIMULATOR = Wrapped()

A distribution names such an object under the entry-point group "tilewright.simulators", a target its name as
`run.simulator`. Most derive from `simulators.native.Native` or `simulators.images.ImageSimulator`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from tilewright.codegen.interface import Interface
from tilewright.codegen.shared import Shared
from tilewright.errors import PlatformError, UsageError
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Stream
from tilewright.options import RunOptions
from tilewright.report.build import Report
from tilewright.run.counts import Counts, Span
from tilewright.run.fence import FenceMap
from tilewright.run.image import Image
from tilewright.run.tool import Finished, find_tool
from tilewright.simulators import load_simulator
from tilewright.target import Target


@dataclass(frozen=True)
class Subject:
    """What is run: the placed plan, the report of its compilation, where the model and the C project lie, and
    how its C is called.

    `shared` is what it takes of the bundle that the project is of, None where it is of one network. A network of a
    `stream` is compared with what it gives for the whole sequence.
    """

    placed: PlacedPlan
    report: Report
    source: Path
    project: Path
    interface: Interface
    shared: Shared | None = None
    stream: Stream | None = None


class Simulator(ABC):
    """Where a compiled network runs. All but `run` describes those that start an image, one inference a start."""

    on_this_machine: ClassVar[bool] = False
    """Images are programs of this machine: its compiler builds them, and code and stack cost nothing scarce."""
    port: ClassVar[str] = "semihosting.c"
    """The file of run/harness through which the image reads and writes files and ends."""
    link_flags: ClassVar[tuple[str, ...]] = ()
    """What every image is linked with, beside the target's own flags."""
    sanitizer_fences: ClassVar[bool] = False
    """A fence is a file that a sanitized image reads and holds itself; else `start` gets it."""
    bounds_stack: ClassVar[bool] = True
    """No run takes more stack than the compiler's own figures add up to."""
    clock_takes_stack: ClassVar[bool] = False
    """While the core's own counter serves, its interrupts put frames on the stack, which is not measured then."""

    @abstractmethod
    def run(self, subject: Subject, target: Target, options: RunOptions) -> Report:
        """The report of one run with `run`, `toolchain` and what was measured filled in."""

    def start(
        self, image: Image, folder: Path, count: bool, fence: FenceMap | None, timeout: float
    ) -> tuple[Finished, Counts | None]:
        """Run one inference in `folder`, where the files of the harness lie, for at most `timeout` seconds.

        With `count` also what it cost; with `fence` it ends at the first access outside. UsageError for what this
        simulator cannot do.
        """
        raise UsageError(f"target '{image.target.name}' does not start images", fix="name another target")

    def command(self, image: Image) -> list[str]:
        """The target's command line with the image's path in it."""
        first, *words = [word.replace("{elf}", str(image.path)) for word in image.target.command]
        return [find_tool(first, image.target.tools.get(first, "")), *words]

    def counts(self, image: Image) -> bool:
        """True where the first run of every network counts instructions or cycles."""
        return False

    def by_clock(self, image: Image, count: bool) -> bool:
        """True where the image reads the core's own counter: nothing outside of it counts."""
        return False

    def cost_of(self, image: Image, ticks: int, interrupts: int) -> int:
        """Instructions or cycles of a call, from the ticks that the core's counter took and its interrupts."""
        return ticks + 1

    def timed(self, folder: Path) -> tuple[int | None, tuple[Span, ...]]:
        """Cycles and spans that a run with `count` left in `folder`, of a simulator that models time."""
        return None, ()

    def fences(self, target: Target) -> tuple[str, ...]:
        """The fences inside which every network runs once more: "hardware", "plugin"."""
        return ()

    def touched(self, image: Image, folder: Path) -> Mapping[str, int]:
        """Bytes of each memory that a run with `fence` read or wrote, but for the stack; empty where nobody saw."""
        return {}


def simulator_of(target: Target) -> Simulator:
    """The simulator that a target names; PlatformError where it is none."""
    return _simulator(target.simulator)


@cache
def _simulator(name: str) -> Simulator:
    simulator = load_simulator(name)
    if not isinstance(simulator, Simulator):
        raise PlatformError(
            f"simulator '{name}' cannot be loaded",
            why=f"a {type(simulator).__name__} stands where a Simulator should",
            fix="name an object of a class that derives from tilewright.run.simulator.Simulator",
        )
    return simulator
