"""Fixed places for slots in one run of bytes, and the memory itself.

A captured graph keeps addresses, so every slot must lie at the same place in every run. `packed` lets slots share
bytes whose lives do not meet (the placement that the microcontroller's arena gets), `disjoint` gives every slot bytes
of its own, so that all can be read after a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tilewright.errors import TilewrightError, UsageError
from tilewright.memory.place import place
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.problem import Buffer, PlacementProblem
from tilewright.model import Array, Tensor
from tilewright.plan.aliasing.alias_sets import view_shift
from tilewright.plan.liveness import Storage, storages
from tilewright.plan.plan import ExecutionPlan, view_root
from tilewright.sizes import align_up

Policy = Literal["packed", "disjoint"]
ALIGN_BYTES = 256
POISON = 0xA5


@dataclass(frozen=True)
class BufferLayout:
    """Byte offset and size of every slot; -1 and 0 for slots that the caller or the state owns.

    `scratch` holds the offset of each instruction's working memory, -1 where it needs none. `total_bytes` is all of it.
    """

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    scratch: tuple[int, ...]
    total_bytes: int
    align: int
    policy: str


def compute_buffer_layout(
    plan: ExecutionPlan,
    policy: Policy = "packed",
    align: int = ALIGN_BYTES,
    *,
    in_place: bool = True,
    allocator: str = "auto",
) -> BufferLayout:
    """A layout without inputs, state and constants; groups of the plan count as one instruction.

    UsageError for another policy or an alignment that is no power of two.
    """
    if policy not in ("packed", "disjoint"):
        raise UsageError(f"layout policy '{policy}'", why="there is no such policy", fix="choose packed or disjoint")
    if align < 1 or align & (align - 1):
        raise UsageError(f"an alignment of {align} bytes", why="it is not a power of two", fix="use for example 256")
    outside = frozenset((*plan.input_slots, *plan.state_slots))
    groups = storages(plan, in_place=in_place and policy == "packed", pinned=outside)
    inside = [group for group in groups if not outside.intersection(group.members)]
    buffers = [Buffer(f"slot{g.root}", g.first, g.last + 1, align_up(g.size_bytes, align), align) for g in inside]
    buffers += [
        Buffer(f"scratch{i.index}", i.index, i.index + 1, align_up(i.scratch_bytes, align), align)
        for i in plan.instructions
        if i.scratch_bytes
    ]
    if policy == "packed":
        solution = place(PlacementProblem(tuple(buffers)), allocator=allocator)
        places, total = dict(solution.offsets), solution.peak
    else:
        places, total = {}, 0
        for buffer in buffers:
            places[buffer.name] = total
            total += buffer.size
    layout = _layout(plan, inside, places, total, align, policy)
    check_layout(plan, layout)
    return layout


def _layout(
    plan: ExecutionPlan, inside: Sequence[Storage], places: dict[str, int], total: int, align: int, policy: str
) -> BufferLayout:
    offsets, sizes = [-1] * len(plan.slots), [0] * len(plan.slots)
    for group in inside:
        for member in group.members:
            offsets[member] = places[f"slot{group.root}"] + view_shift(plan, member)
            sizes[member] = plan.slots[member].tensor.size_bytes
    scratch = tuple(places.get(f"scratch{i.index}", -1) for i in plan.instructions)
    return BufferLayout(tuple(offsets), tuple(sizes), scratch, total, align, policy)


def layout_of(placed: PlacedPlan) -> BufferLayout:
    """The same as a placed plan says: slots that are the caller's have the offset -1."""
    plan = placed.plan
    offsets = tuple(placed.slot_offsets.get(slot.index, -1) for slot in plan.slots)
    sizes = tuple(s.tensor.size_bytes if o >= 0 else 0 for s, o in zip(plan.slots, offsets, strict=True))
    scratch = tuple(placed.scratch_offsets.get(i.index, -1) for i in plan.instructions)
    return BufferLayout(offsets, sizes, scratch, placed.arena_bytes, placed.align, "packed")


def check_layout(plan: ExecutionPlan, layout: BufferLayout) -> None:
    """Raise where two slots that are alive at once share bytes, or one is misaligned or outside.

    Lives are counted here once more, apart from `liveness`. A result may start where an operand that dies with it
    starts, if its kernel says so.
    """
    lives, allowed = _lives(plan), _allowed(plan)
    placed = sorted((layout.offsets[slot], slot) for slot in lives if layout.offsets[slot] >= 0)
    for position, (offset, slot) in enumerate(placed):
        if offset % layout.align or offset + layout.sizes[slot] > layout.total_bytes:
            raise _bug(f"slot {slot} at {offset} is misaligned or outside of {layout.total_bytes} bytes")
        for start, other in placed[position + 1 :]:
            if start >= offset + layout.sizes[slot]:
                break
            (a, b), (c, d) = lives[slot], lives[other]
            handed_over = start == offset and ((slot, other) in allowed or (other, slot) in allowed)
            if a <= d and c <= b and not handed_over:
                raise _bug(f"slots {slot} and {other} share bytes while both are alive")


def _allowed(plan: ExecutionPlan) -> set[tuple[int, int]]:
    """Pairs of an operand that nothing reads afterwards and a result that may take its bytes."""
    born = {slot: i.index for i in plan.instructions for slot in i.outputs}
    last: dict[int, int] = {view_root(plan, s): i.index for i in plan.instructions for s in i.inputs if s >= 0}
    last |= {view_root(plan, slot): len(plan.instructions) for slot in plan.output_slots}
    last |= {view_root(plan, pair.source): len(plan.instructions) for pair in plan.state}
    sweep = {i: (low, high) for low, high in plan.groups for i in range(low, high)}
    pairs_in_place = set()
    for instruction in plan.instructions:
        low, high = sweep.get(instruction.index, (0, len(plan.instructions)))
        roots = [view_root(plan, slot) if slot >= 0 else -1 for slot in instruction.inputs]
        pairs = instruction.kernel.in_place(instruction.call)
        for operand, result in pairs:
            root = roots[operand] if operand < len(roots) else -1
            order = plan.slots[instruction.outputs[result]].layout
            readers = [(place, slot) for place, slot in enumerate(instruction.inputs) if roots[place] == root]
            alike = all((place, result) in pairs and plan.slots[slot].layout == order for place, slot in readers)
            if root >= 0 and alike and last[root] == instruction.index and low <= born.get(root, 0) < high:
                pairs_in_place.add((root, instruction.outputs[result]))
    return pairs_in_place


def _lives(plan: ExecutionPlan) -> dict[int, tuple[int, int]]:
    """First and last instruction of every slot that has bytes of its own, views counted to it."""
    sweep = {i: (low, high - 1) for low, high in plan.groups for i in range(low, high)}
    lives: dict[int, tuple[int, int]] = {}
    for instruction in plan.instructions:
        low, high = sweep.get(instruction.index, (instruction.index, instruction.index))
        for slot in (*instruction.inputs, *instruction.outputs):
            if slot >= 0:
                root = view_root(plan, slot)
                first, last = lives.get(root, (low, high))
                lives[root] = (min(first, low), max(last, high))
    for slot in (*plan.output_slots, *(pair.source for pair in plan.state)):
        root = view_root(plan, slot)
        lives[root] = (lives.get(root, (0, 0))[0], len(plan.instructions))
    return lives


def _bug(what: str) -> TilewrightError:
    return TilewrightError(f"the buffer layout is wrong: {what}", why="this is a bug in tilewright", fix="report it")


class BufferArena:
    """The memory behind a layout; slots that the layout leaves out, and frozen ones, have memory of their own."""

    def __init__(self, plan: ExecutionPlan, layout: BufferLayout) -> None:
        self.plan, self.layout = plan, layout
        self.memory: Array = np.zeros(max(layout.total_bytes, 1), np.uint8)
        self._own: dict[int, Array] = {}
        self._frozen: set[int] = set()

    def __len__(self) -> int:
        """Number of slots."""
        return len(self.plan.slots)

    def get(self, slot: int) -> Array:
        """The elements of a slot in memory order, flat: a view, what is written to it lies in the slot."""
        tensor = self._slot(slot)
        if slot not in self._own and self.layout.offsets[slot] < 0:
            self._own[slot] = np.zeros(tensor.elements * tensor.dtype.numpy.itemsize, np.uint8)
        if slot in self._own:
            return self._own[slot].view(tensor.dtype.numpy)
        start = self.layout.offsets[slot]
        values: Array = self.memory[start : start + tensor.elements * tensor.dtype.numpy.itemsize]
        return values.view(tensor.dtype.numpy)

    def set(self, slot: int, array: Array, freeze: bool = False) -> None:
        """Write a slot's logical value. With `freeze` it moves to memory of its own, which `reset` leaves alone."""
        tensor = self._slot(slot)
        if array.shape != tensor.shape or array.dtype != tensor.dtype.numpy:
            raise UsageError(
                f"slot {slot} takes {tensor.dtype.numpy}{list(tensor.shape)}",
                why=f"{array.dtype}{list(array.shape)} was given", tensor=tensor.name,
            )  # fmt: skip
        if freeze:
            self._own[slot] = np.zeros(array.nbytes, np.uint8)
            self._frozen.add(slot)
        self.get(slot)[:] = self.plan.slots[slot].layout.pack(array)

    def value(self, slot: int) -> Array:
        """The logical value of a slot; row-major ones share the arena's memory."""
        where = self.plan.slots[slot]
        return where.layout.unpack(self.get(slot), where.tensor.shape)

    def reset(self, mode: Literal["zero", "poison"] = "zero") -> None:
        """Fill everything that is not frozen with zeros, or with bytes that no network computes by chance."""
        if mode not in ("zero", "poison"):
            raise UsageError(f"reset to '{mode}'", why="there is no such mode", fix="choose zero or poison")
        fill = 0 if mode == "zero" else POISON
        self.memory[:] = fill
        for slot, memory in self._own.items():
            if slot not in self._frozen:
                memory[:] = fill

    def _slot(self, slot: int) -> Tensor:
        if not 0 <= slot < len(self):
            raise IndexError(f"slot {slot} of {len(self)}")
        return self.plan.slots[slot].tensor
