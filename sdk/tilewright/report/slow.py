"""What the report says of a layer that runs on a slow path, and of the kernel that would be faster."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FasterReport:
    """The fastest kernel of the operator that refuses a layer, and why. `cost` is what it would take at its rate, in
    instructions, or in cycles where the platform has a model of time; `kernel` is empty for the layer's own kernel
    on a core with an FPU."""

    kernel: str
    cost: int
    why: str


@dataclass(frozen=True)
class SlowReport:
    """A layer on a slow path: how many `times` what the kernel takes that refuses it, as measured or as estimated."""

    times: float
    kernel: str
    why: str
    measured: bool

    def __str__(self) -> str:
        about = "" if self.measured else "about "
        best = f"the best kernel of this operator, {self.kernel}" if self.kernel else "the same on a core with an FPU"
        return f"{about}{self.factor} {best}: {self.why}"

    @property
    def factor(self) -> str:
        """How many times, as tables have it."""
        return f"{self.times:.0f}x"
