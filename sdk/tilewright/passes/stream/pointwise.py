"""Operators that compute every frame by itself: read off their index maps, whatever they are."""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Access, Nest
from tilewright.ops.operator import Call


def result_axes(call: Call, axes: Mapping[int, int]) -> tuple[int, ...] | None:
    """The axis of time of every result, where one frame of it needs that frame of the operands alone; else None.

    `axes` are those of the operands that have time.
    """
    operator = call.operator
    if operator is None or not call.nests:
        return None
    known = {operator.operand(index): axis for index, axis in axes.items()}
    for nest in call.nests:
        if not _takes(nest, known):
            return None
    results = [known.get(operator.result(index)) for index in call.present]
    return tuple(axis for axis in results if axis is not None) if None not in results else None


def _takes(nest: Nest, known: dict[str, int]) -> bool:
    """Follow time through one nest; False where it takes part in anything else."""
    operands = (*nest.ins, *nest.after)
    timed = [access for access in operands if access.tensor.name in known]
    if not timed:
        return True
    loops = {_loop(access, known[access.tensor.name]) for access in timed}
    if len(loops) != 1 or "" in loops:
        return False
    (loop,) = loops
    if any(_uses(access, loop) != [known.get(access.tensor.name)] for access in operands if _uses(access, loop)):
        return False
    places = _uses(nest.out, loop)
    if len(places) != 1 or nest.out.subscripts[places[0]] != Affine.loop(loop):
        return False
    if known.setdefault(nest.out.tensor.name, places[0]) != places[0]:
        return False
    return True


def _loop(access: Access, axis: int) -> str:
    """The loop that alone walks along an axis; empty where it is anything else."""
    subscript = access.subscripts[axis]
    if not isinstance(subscript, Affine) or len(subscript.loops) != 1:
        return ""
    loop = subscript.loops[0]
    return loop if subscript == Affine.loop(loop) else ""


def _uses(access: Access, loop: str) -> list[int]:
    """The axes in whose subscripts a loop stands."""
    return [axis for axis, subscript in enumerate(access.subscripts) if loop in subscript.loops]
