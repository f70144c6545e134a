"""HardSwish in one pass, as an example of a kernel."""

from dataclasses import dataclass

from tilewright.platform import Call, KernelMethods, Operands

from ${name}.platform import PLATFORM


@dataclass(frozen=True)
class HardSwishContext:
    """Every number that the template prints."""

    elements: int


@PLATFORM.kernel(
    "HardSwish",
    types="f32 -> f32",
    layout="same",
    template="hard_swish.c.mako",
    sources=["clamp.h"],
    numerics="1e-6",
)
class HardSwish(KernelMethods):
    """x * min(max(x + 3, 0), 6) / 6, element by element."""

    def accepts(self, call: Call) -> str | None:
        """None, or the sentence why not."""
        if call.tensor(0).elements >= 1 << 24:
            return f"{call.tensor(0).elements} elements, the counter has 24 bits"
        return None

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The result may lie where the operand lay."""
        return ((0, 0),)

    def context(self, operands: Operands) -> HardSwishContext:
        """The numbers."""
        return HardSwishContext(operands.call.tensor(0).elements)
