"""Several placed networks in one image: one arena, equal constants once, states of one name once.

Networks that never run at a time lie over one another; those that may, lie apart. What comes out are the same placed
plans, with offsets in memories that they share.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from tilewright.errors import UnsupportedError, UsageError
from tilewright.memory.placed import PlacedPlan, Region
from tilewright.memory.states import STATE
from tilewright.model import Array, DType, Shape, Window
from tilewright.plan.liveness import Storage
from tilewright.plan.plan import StatePair
from tilewright.sizes import align_up

ALL_ORDERS = 6
"""So many networks are placed in every order, more of them by size."""


@dataclass(frozen=True)
class SharedConstant:
    """An array that lies in the image once; `readers` are (network, frozen slot)."""

    dtype: DType
    values: Array
    readers: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SharedState:
    """Bytes that live from call to call, from the start of all states; `owners` are (network, number of its pair)."""

    name: str
    offset: int
    size_bytes: int
    owners: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Together:
    """Networks in one image. `placed` have their offsets in the common memories, `alone` in their own.

    `bases` are the bytes at which each one's arena begins in the common one. `concurrent` are pairs of networks, by
    number, of which one may run while the other does.
    """

    name: str
    alone: tuple[PlacedPlan, ...]
    placed: tuple[PlacedPlan, ...]
    bases: tuple[int, ...]
    arena_bytes: int
    state_bytes: int
    concurrent: frozenset[tuple[int, int]]
    constants: tuple[SharedConstant, ...]
    states: tuple[SharedState, ...]

    @property
    def settling(self) -> bool:
        """True where a network keeps constants, from its first run on, where others write."""
        return any(bool(one.plan.compute_bytes or one.frozen_offsets) for one in self.alone)

    @property
    def align(self) -> int:
        """What arena and states are aligned to."""
        return max(one.align for one in self.alone)


def place_together(
    name: str, alone: Sequence[PlacedPlan], concurrent: frozenset[tuple[int, int]] = frozenset()
) -> Together:
    """Put placed plans of one platform, with names of their own, into one image.

    UnsupportedError where networks with tiles are `concurrent`, UsageError where networks disagree on a state, or share
    one and are `concurrent`.
    """
    _refuse_beside(alone, concurrent)
    align = max(one.align for one in alone)
    bases = offsets_apart([align_up(one.arena_bytes, align) for one in alone], concurrent)
    arena_bytes = max(base + one.arena_bytes for base, one in zip(bases, alone, strict=True))
    states, moved = _states(alone, align, concurrent)
    state_bytes = max((align_up(one.offset + one.size_bytes, align) for one in states), default=0)
    placed = tuple(
        _moved(one, base, offsets, arena_bytes, state_bytes)
        for one, base, offsets in zip(alone, bases, moved, strict=True)
    )
    return Together(
        name, tuple(alone), placed, bases, arena_bytes, state_bytes, concurrent, _constants(alone), states
    )  # fmt: skip


def _refuse_beside(alone: Sequence[PlacedPlan], concurrent: frozenset[tuple[int, int]]) -> None:
    """Activations of all lie in one memory; tiles do in the same fast one, and so do constants that are kept there."""
    for placed in alone[1:]:
        if placed.level != alone[0].level:
            raise UnsupportedError(
                f"'{placed.plan.name}' cannot share an arena with '{alone[0].plan.name}'",
                why=f"its activations lie in '{placed.level}', those of the other in '{alone[0].level}'",
                fix="compile them one by one, or for a target with one memory for activations",
            )
    for a, b in sorted(concurrent):
        for one, other in ((alone[a].plan, alone[b].plan), (alone[b].plan, alone[a].plan)):
            if one.compute_bytes or alone[a].frozen_offsets or alone[b].frozen_offsets:
                raise UnsupportedError(
                    f"'{one.name}' cannot run while '{other.name}' does",
                    why=f"it runs in tiles on '{one.platform}', whose fast memory is that of all networks",
                    fix="leave the two out of --concurrent, or compile for a target with one memory for activations",
                )


def offsets_apart(sizes: Sequence[int], apart: Collection[tuple[int, int]]) -> tuple[int, ...]:
    """Offsets with the smallest end at which no two of the pairs `apart` overlap; all others may.

    In the order of its offsets every placement is found again, or a lower one, by the lowest place that is free.
    """
    numbers = range(len(sizes))
    by_size = sorted(numbers, key=lambda n: (-sizes[n], n))
    orders = permutations(by_size) if len(sizes) <= ALL_ORDERS else iter([tuple(by_size)])
    return min((_lowest(order, sizes, apart) for order in orders), key=lambda offsets: _end(offsets, sizes))


def _end(offsets: Sequence[int], sizes: Sequence[int]) -> int:
    return max((at + size for at, size in zip(offsets, sizes, strict=True)), default=0)


def _lowest(order: Sequence[int], sizes: Sequence[int], apart: Collection[tuple[int, int]]) -> tuple[int, ...]:
    """Each network in this order at the lowest place that those before leave it."""
    offsets = dict[int, int]()
    for number in order:
        others = sorted(
            (offsets[n], offsets[n] + sizes[n]) for n in offsets if (n, number) in apart or (number, n) in apart
        )
        at = 0
        for low, high in others:
            if at + sizes[number] <= low:
                break
            at = max(at, high)
        offsets[number] = at
    return tuple(offsets[number] for number in range(len(sizes)))


def _constants(alone: Sequence[PlacedPlan]) -> tuple[SharedConstant, ...]:
    """Arrays of one element type and the same bytes once."""
    shared: dict[tuple[DType, bytes], SharedConstant] = {}
    for number, placed in enumerate(alone):
        for slot in placed.plan.frozen_slots:
            dtype, values = slot.constant.dtype, slot.constant.values.astype(slot.constant.dtype.numpy, copy=False)
            known = shared.setdefault((dtype, values.tobytes()), SharedConstant(dtype, values, ()))
            shared[dtype, values.tobytes()] = replace(known, readers=(*known.readers, (number, slot.index)))
    return tuple(shared.values())


@dataclass(frozen=True)
class _Own:
    """One state of a network with the storage that holds it."""

    network: int
    number: int
    pair: StatePair
    group: Storage


def _own_states(network: int, placed: PlacedPlan) -> list[_Own]:
    groups = [group for group in placed.storages if group.kind == STATE]
    states = []
    for number, pair in enumerate(placed.plan.state):
        group = next(group for group in groups if pair.state in group.members)
        states.append(_Own(network, number, pair, group))
    return states


def _states(
    alone: Sequence[PlacedPlan], align: int, concurrent: frozenset[tuple[int, int]]
) -> tuple[tuple[SharedState, ...], list[dict[int, int]]]:
    """All states one after the other, and the offsets of every network's slots in them."""
    owned: dict[str, list[_Own]] = {}
    for network, placed in enumerate(alone):
        for own in _own_states(network, placed):
            owned.setdefault(placed.plan.slots[own.pair.state].tensor.name, []).append(own)
    _hold_same_parts(alone, [own for owners in owned.values() for own in owners])
    states, end = list[SharedState](), 0
    moved: list[dict[int, int]] = [{} for _ in alone]
    for name, owners in owned.items():
        for a, b in combinations(owners, 2):
            _hold_equal(alone, name, (a, b), concurrent)
        size_bytes = max(own.group.size_bytes for own in owners)
        for own in owners:
            placed = alone[own.network]
            start = min(placed.state_offsets[member] for member in own.group.members)
            for member in own.group.members:
                moved[own.network][member] = end + placed.state_offsets[member] - start
        states.append(SharedState(name, end, size_bytes, tuple((own.network, own.number) for own in owners)))
        end += align_up(max(size_bytes, 1), align)
    return tuple(states), moved


def _hold_same_parts(alone: Sequence[PlacedPlan], owners: Sequence[_Own]) -> None:
    """A state of which one network takes parts and another takes others, or none, is no one tensor."""
    boxes: dict[str, dict[int, set[Window | tuple[Shape, Shape] | None]]] = {}
    for own in owners:
        box = own.pair.window if own.pair.part is None else (own.pair.part.low, own.pair.part.high)
        boxes.setdefault(own.pair.past, {}).setdefault(own.network, set()).add(box)
    for past, by_network in boxes.items():
        forms = list(by_network.items())
        for network, form in forms[1:]:
            if past and form != forms[0][1]:
                raise UsageError(
                    f"state '{past}' is not the same in '{alone[forms[0][0]].plan.name}' and "
                    f"'{alone[network].plan.name}'",
                    why="one of them keeps parts of it as states of their own, or a wider window",
                    fix="pass --without-pass state --without-pass windows", tensor=past,
                )  # fmt: skip


def _hold_equal(
    alone: Sequence[PlacedPlan], name: str, both: tuple[_Own, _Own], concurrent: frozenset[tuple[int, int]]
) -> None:
    """States of one name in two networks must be one tensor, which not both may write at a time."""
    a, b = both
    slots = [alone[own.network].plan.slots[own.pair.state] for own in both]
    names = [alone[own.network].plan.name for own in both]
    forms = [f"{slot.tensor.dtype.value}{list(slot.tensor.shape)}" for slot in slots]
    why = ""
    if forms[0] != forms[1]:
        why = f"it is {forms[0]} there and {forms[1]} here"
    elif (slots[0].layout, slots[0].tensor.quantisation) != (slots[1].layout, slots[1].tensor.quantisation):
        why = "one of them keeps it in other codes, or in another layout"
    elif _first(a) != _first(b):
        why = "it begins with other values"
    elif (a.network, b.network) in concurrent:
        why = "they may run at a time, and both write it"
    if why:
        raise UsageError(
            f"state '{name}' cannot be the same in '{names[0]}' and '{names[1]}'", why=why,
            fix="rename one of the two inputs, or leave the pair out of --state", tensor=name,
        )  # fmt: skip


def _first(own: _Own) -> bytes:
    """The first value, where it is not zero."""
    initial = own.pair.initial
    return b"" if initial is None or not initial.any() else initial.tobytes()


def _moved(
    placed: PlacedPlan, base: int, state_offsets: Mapping[int, int], arena_bytes: int, state_bytes: int
) -> PlacedPlan:
    """The plan with offsets in the common memories."""
    of_states = {
        placed.plan.slots[group.root].tensor.name: state_offsets[group.root]
        for group in placed.storages
        if group.kind == STATE
    }

    def region(one: Region) -> Region:
        at = arena_bytes + of_states[one.name] if one.kind == STATE else one.offset + base
        return replace(one, offset=at)

    return replace(
        placed,
        arena_bytes=arena_bytes,
        slot_offsets={slot: base + at for slot, at in placed.slot_offsets.items()},
        scratch_offsets={number: base + at for number, at in placed.scratch_offsets.items()},
        frozen_offsets={index: base + at for index, at in placed.frozen_offsets.items()},
        regions=tuple(region(one) for one in placed.regions),
        state_offsets=dict(state_offsets),
        state_bytes=state_bytes,
    )
