"""Plain loops of `generic` spread over threads: the parallel loops become the element, what is inside stays.

The loops come from the operator's index maps, so every integer form and its proof is that of `generic`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from tilewright.platform import Call, Constant, Kernel, KernelMethods, Operands
from tilewright.platforms.cuda.platform import PLATFORM
from tilewright.platforms.generic.kernels.nest import NestContext
from tilewright.platforms.generic.platform import PLATFORM as GENERIC

TEMPLATE = Path(__file__).parent / "element.cu.mako"
_LOOP = re.compile(r"for \(int (\w+) = 0; \1 < (\d+); \1\+\+\) \{")
_WRITE = re.compile(r"^ *(?:if .*\{ )?(\w+)\[.*\] = ")


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
        found = spread(context)
        assert found is not None
        return found


def spread(context: NestContext) -> SpreadContext | None:
    """The nests with their outer loops taken off; None where one is not perfectly nested or reads another's result."""
    written = {m[1] for nest in context.nests for line in nest.lines if (m := _WRITE.match(line))}
    if len(context.nests) > 1 and any(_reads(nest.lines, name) for nest in context.nests for name in written):
        return None
    parts, first = list[Part](), 0
    for nest in context.nests:
        loops, lines = _peel(nest.lines)
        if not loops and len(nest.lines) > 1 and nest.lines[0] != "{":
            return None
        elements = prod(extent for _, extent in loops)
        parts.append(Part(nest.comment, first, elements, _places(loops, first), tuple(lines)))
        first += elements
    return SpreadContext(first, context.declarations, tuple(parts))


def _reads(lines: Sequence[str], name: str) -> bool:
    """True where a line reads an element of `name`: it stands somewhere else than before the first `=`."""
    return any(f"{name}[" in line.partition(" = ")[2] for line in lines)


def _peel(lines: Sequence[str]) -> tuple[list[tuple[str, int]], list[str]]:
    """Loops that hold everything that follows, outermost first, and what they hold."""
    loops, rest = list[tuple[str, int]](), list(lines)
    while rest and (found := _LOOP.fullmatch(rest[0].strip())) and rest[-1] == "}" and "}" not in rest[1:-1]:
        loops.append((found[1], int(found[2])))
        rest = [line[4:] for line in rest[1:-1]]
    return loops, rest


def _places(loops: Sequence[tuple[str, int]], first: int) -> tuple[str, ...]:
    """Declarations of the loop variables, the last loop fastest."""
    found, inner = list[str](), 1
    number = f"(element - {first})" if first else "element"
    for position, (name, extent) in reversed(list(enumerate(loops))):
        text = number if inner == 1 else f"{number} / {inner}"
        found.append(f"const int {name} = {text};" if position == 0 else f"const int {name} = {text} % {extent};")
        inner *= extent
    return tuple(found)


# their loops hand results on from one to the next in working memory: a single thread runs them
IN_ORDER = ("PackedCodes", "DynamicCodes")

for kernel in GENERIC.own_kernels():
    if kernel.template.name == "nest.c.mako" and kernel.name not in IN_ORDER:
        PLATFORM.add(replace(kernel, platform=PLATFORM.name, template=TEMPLATE, methods=Spread(kernel)))
