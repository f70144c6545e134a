"""Copies into another memory order, one element per thread."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.platform import Constant, KernelMethods, Operands
from tilewright.platforms.cuda.platform import PLATFORM
from tilewright.platforms.generic.kernels.elements import PLAIN
from tilewright.platforms.generic.kernels.relayout import Relayout as Loops

TYPE = PLAIN.replace("f16|bf16|", "") + "|qi8|qu8|qi16|qu16"


@dataclass(frozen=True)
class ElementCopyContext:
    """Declarations of the digits of an element's place, and the addresses on both sides."""

    elements: int
    places: tuple[str, ...]
    source: str
    target: str


@PLATFORM.kernel("Relayout", types=f"{TYPE} -> {TYPE}", layout="any", template="relayout.cu.mako")
class RelayoutElements(KernelMethods):
    """Copy of a tensor into another memory order."""

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The operand itself where it is constant."""
        return Loops().constants(operands)

    def context(self, operands: Operands) -> ElementCopyContext:
        """Digits that both layouts share, in the order of the result's memory: neighbours write neighbours."""
        loops = Loops().context(operands)
        extents = [loop.extent for loop in loops.loops]
        places = tuple(
            f"const int i{n} = element / {prod(extents[n + 1 :])} % {extent};" for n, extent in enumerate(extents)
        )
        return ElementCopyContext(loops.elements, places, loops.source, loops.target)
