"""Registers that are read later, for each place of a function: what ways that meet have to agree in.

Calls read their arguments and leave what they may clobber; what a function returns counts as read by nobody. Nothing is
proved by it: it decides which ways are joined at once, and joining is right whatever they hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.timing.flow import Graph, place, places_inside
from tilewright.timing.lift import Instruction, Operand


@dataclass(frozen=True)
class Called:
    """What calls read and leave, one bit a byte of registers; `reads` by the address of routines of floats."""

    arguments: int
    clobbered: int
    reads: Mapping[int, int]


def bytes_of(one: Operand) -> int:
    """The bytes of a register as bits, 0 for any other operand."""
    return ((1 << one.size) - 1) << one.offset if one.space == "register" else 0


def live_words(graph: Graph, instructions: Sequence[Instruction], called: Called) -> dict[int, tuple[int, ...]]:
    """Offsets of the words of registers of which bytes are read after each place, before anything is written there."""
    moved = {at: both for one in instructions for at, both in _moved(one, called).items()}
    before: dict[int, set[int]] = {}
    for source, targets in graph.items():
        for target in targets:
            before.setdefault(target, set()).add(source)
    live = dict.fromkeys(graph, 0)
    waiting = sorted(graph)
    while waiting:
        at = waiting.pop()
        read, written = moved.get(at, (0, 0))
        after = 0
        for target in graph[at]:
            after |= live.get(target, 0)
        now = read | (after & ~written)
        if now != live[at]:
            live[at] = now
            waiting += before.get(at, ())
    return {at: _words(bits) for at, bits in live.items()}


def _moved(one: Instruction, called: Called) -> dict[int, tuple[int, int]]:
    """What each place of an instruction reads before it writes it, and what it writes."""
    starts, now = places_inside(one), place(one.address)
    both = {now: (0, 0)}
    for at, each in enumerate(one.operations):
        if at in starts:
            now = place(one.address, at)
            both[now] = (0, 0)
        read, written = both[now]
        reads, writes = 0, 0 if each.output is None else bytes_of(each.output)
        for operand in each.inputs:
            reads |= bytes_of(operand)
        if each.name in ("CALL", "CALLIND"):
            reads |= called.reads.get(each.inputs[0].offset, called.arguments)
            writes |= called.clobbered
        both[now] = (read | (reads & ~written), written | writes)
    return both


def _words(bits: int) -> tuple[int, ...]:
    words = list[int]()
    while bits:
        word = ((bits & -bits).bit_length() - 1) // 4 * 4
        words.append(word)
        bits &= ~(0xF << word)
    return tuple(words)
