"""Plain loops of `generic` spread over threads: the parallel loops become the element, what is inside stays.

The loops come from the operator's index maps, so every integer form and its proof is that of `generic`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from tilewright.ops.index.loop_nest import Loop, c_lines
from tilewright.platform import Call, Constant, Kernel, KernelMethods, Operands
from tilewright.platforms.cuda.platform import PLATFORM
from tilewright.platforms.generic.kernels.nest import NestContext
from tilewright.platforms.generic.platform import PLATFORM as GENERIC

TEMPLATE = Path(__file__).parent / "element.cu.mako"


@dataclass(frozen=True)
class Part:
    """A loop nest: `elements` threads; `places` tell each its loop variables, `lines` are one iteration."""

    comment: str
    first: int
    elements: int
    places: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class SpreadContext:
    """Declarations that every element repeats, and the parts that share out the elements."""

    elements: int
    declarations: tuple[str, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Spread(KernelMethods):
    """A kernel of plain loops, asked as one of this platform: the answers are its own but for the loops."""

    inner: Kernel

    def accepts(self, call: Call) -> str | None:
        """What the loops accept, where they are independent and need no working memory."""
        refusal = self.inner.accepts(call)
        if refusal is not None:
            return refusal
        operands = Operands(call)
        if self.inner.scratch(operands):
            return "the loops hand results on in working memory, which threads do not share"
        context = self.inner.context(operands)
        assert isinstance(context, NestContext)
        return None if spread(context) else "the loops do not write each element in an iteration of its own"

    def constants(self, operands: Operands) -> tuple[Constant, ...]:
        """The loops' own."""
        return self.inner.constants(operands)

    def in_place(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The loops' own: element i is read before it is written, by the same thread."""
        return self.inner.in_place(call)

    def cost(self, call: Call) -> float:
        """The loops' own."""
        return self.inner.cost(call)

    def context(self, operands: Operands) -> SpreadContext:
        """The loops without those that threads take over."""
        context = self.inner.context(operands)
        assert isinstance(context, NestContext)
        threads = spread(context)
        assert threads is not None
        return threads


def spread(context: NestContext) -> SpreadContext | None:
    """The nests with their parallel loops taken off; None where something stands beside them in one, or one reads
    another's result.
    """
    written = frozenset[str]().union(*(nest.writes for nest in context.nests))
    if len(context.nests) > 1 and any(nest.reads & written for nest in context.nests):
        return None
    parts, first = list[Part](), 0
    for nest in context.nests:
        shared = nest.shared
        if shared is None:
            return None
        elements = prod(loop.extent for loop in shared.loops)
        parts.append(Part(nest.comment, first, elements, _places(shared.loops, first), tuple(c_lines(shared.body))))
        first += elements
    return SpreadContext(first, context.declarations, tuple(parts))


def _places(loops: Sequence[Loop], first: int) -> tuple[str, ...]:
    """Declarations of the loop variables, the last loop fastest."""
    places, inner = list[str](), 1
    number = f"(element - {first})" if first else "element"
    for position, loop in reversed(list(enumerate(loops))):
        text = number if inner == 1 else f"{number} / {inner}"
        if loop.extent == 1:  # its stride is zero, so that an address may leave it out
            places.append(f"[[maybe_unused]] const int {loop.name} = 0;")
            continue
        place = text if position == 0 else f"{text} % {loop.extent}"
        places.append(f"const int {loop.name} = {place};")
        inner *= loop.extent
    return tuple(places)


# their loops hand results on from one to the next in working memory: a single thread runs them
IN_ORDER = ("PackedCodes", "DynamicCodes")

for kernel in GENERIC.own_kernels():
    if kernel.template.name == "nest.c.mako" and kernel.name not in IN_ORDER:
        PLATFORM.add(replace(kernel, platform=PLATFORM.name, template=TEMPLATE, methods=Spread(kernel)))
