"""What every memory level holds of networks that share them, at the worst moment of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilewright.memory.levels import memory_reports
from tilewright.memory.needs import Amount, MemoryReport, Provenance
from tilewright.memory.together import Together, offsets_apart
from tilewright.platform import MemoryLevel

_MOVING = ("activations", "io", "scratch", "copy_buffers")
"""Parts that lie in the arena, and nowhere else."""


def common_levels(
    kit: Together, levels: Sequence[MemoryLevel], constant_bytes: int, table_bytes: int
) -> dict[str, MemoryReport]:
    """Per level the bytes of all networks together, without code and stack.

    The arena is told by the networks that reach its end one over the other; what they leave is padding.
    """
    rows = memory_reports(kit.alone[0], levels, constant_bytes, table_bytes)
    for one in kit.alone[1:]:  # tiles of one network lie over those of another
        for name, row in memory_reports(one, levels, 0).items():
            if name != one.level and row.worst_case > rows[name].worst_case:
                rows[name] = row
    at = rows[kit.alone[0].level]
    tall = [memory_reports(kit.alone[number], levels, 0)[kit.alone[0].level] for number in _tallest(kit)]
    activations, io, scratch, copies = (sum(row.parts()[name] for row in tall) for name in _MOVING)
    padding = kit.arena_bytes - activations - io - scratch - copies
    held = at.constants + at.tables
    rows[kit.alone[0].level] = replace(
        at, worst_case=kit.arena_bytes + kit.state_bytes + held, live_set=None, lower_bound=None, status=None,
        activations=activations, io=io, scratch=scratch, copy_buffers=copies, padding=padding,
        state=kit.state_bytes, buffers=(), cut_off=False,
    )  # fmt: skip
    return rows


def _tallest(kit: Together) -> list[int]:
    """The networks one over the other that reach the end of the arena."""
    ends = [base + one.arena_bytes for base, one in zip(kit.bases, kit.alone, strict=True)]
    chosen, top = list[int](), kit.arena_bytes
    while top > 0:
        below = [number for number, end in enumerate(ends) if end <= top and kit.alone[number].arena_bytes]
        if not below:
            break
        number = max(below, key=lambda n: (ends[n], kit.alone[n].arena_bytes))
        chosen.append(number)
        top = kit.bases[number]
    return chosen


def with_programs(
    rows: Mapping[str, MemoryReport], each: Sequence[Mapping[str, MemoryReport]],
    concurrent: frozenset[tuple[int, int]],
) -> dict[str, MemoryReport]:  # fmt: skip
    """The levels with the code of all networks, and the deepest stack; concurrent networks have a stack each."""
    with_code = dict(rows)
    for name, row in rows.items():
        told = [of_network[name] for of_network in each]
        if any(one.stack is not None for one in told):
            sizes = [one.stack or 0 for one in told]
            deepest = max(at + size for at, size in zip(offsets_apart(sizes, concurrent), sizes, strict=True))
            row = row.with_stack(Amount(deepest, _weakest(told, "stack")))
        if any(one.code is not None for one in told):
            row = row.with_code(Amount(sum(one.code or 0 for one in told), _weakest(told, "code")))
        with_code[name] = row
    return with_code


def _weakest(rows: Sequence[MemoryReport], part: str) -> Provenance:
    order: tuple[Provenance, ...] = ("proved", "measured", "estimated")
    return max((row.of(part) for row in rows if row.parts()[part]), key=order.index, default="estimated")
