"""Every rule of the schedules' checker, each with a wrong schedule that this rule alone refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest
from tilewright.tiling.check import ScheduleFault, check
from tilewright.tiling.expand import expand
from tilewright.tiling.schedule import Operand, TileCopy, TileSchedule, TileStep
from tilewright.tiling.walk import walk
from tiling.cutting import conv_call, subject, unary_call

LEVEL_BYTES = 64 * 1024


class Played(TileSchedule):
    """A schedule with steps that were written down."""

    played: tuple[TileStep, ...]

    def steps(self) -> Iterator[TileStep]:
        """As they were written."""
        return iter(self.played)


def played(found: TileSchedule, steps: Sequence[TileStep], **fields: object) -> TileSchedule:
    """The schedule with these steps and some fields changed."""
    made = Played(**{**{name: getattr(found, name) for name in found.__dataclass_fields__}, **fields})
    object.__setattr__(made, "played", tuple(steps))
    return made


def steps_of(found: TileSchedule) -> list[TileStep]:
    return list(found.steps())


@cache
def layer(double: bool = False) -> TileSchedule:
    """A convolution in four bands of rows, the weights loaded once."""
    asked = subject([conv_call(8, 8, 12)])
    return expand(asked, walk(asked, {"oh": 3}, ("oh",), double))


@cache
def chain() -> TileSchedule:
    """A convolution and a Relu on it, in four bands of rows and two of columns."""
    asked = subject([conv_call(8, 8, 12, y="t"), unary_call("Relu", (1, 8, 12, 12))])
    return expand(asked, walk(asked, {"i2": 3, "i3": 6}, ("i2", "i3"), False))


def at(found: TileSchedule, index: int, change: Callable[[TileStep], TileStep], **fields: object) -> TileSchedule:
    """The schedule with one of its steps changed."""
    steps = steps_of(found)
    steps[index] = change(steps[index])
    return played(found, steps, **fields)


def moved(step: TileStep, key: str, **fields: object) -> TileStep:
    """The step with one of its copies changed."""

    def one(move: TileCopy) -> TileCopy:
        return replace(move, **fields) if move.key == key else move  # type: ignore[arg-type]

    return replace(step, loads=tuple(map(one, step.loads)), stores=tuple(map(one, step.stores)))


def changed(found: TileSchedule, key: str, **fields: object) -> TileSchedule:
    """The schedule with one operand changed, its steps as they were."""
    stages = tuple(
        replace(s, operands=tuple(replace(o, **fields) if o.key == key else o for o in s.operands))  # type: ignore[arg-type]
        for s in found.stages
    )
    return played(found, steps_of(found), stages=stages)


def last_buffer(found: TileSchedule) -> Operand:
    """The operand that lies highest."""
    return max((o for s in found.stages for o in s.operands), key=lambda o: o.offset)


def without_loads(step: TileStep) -> TileStep:
    return replace(step, loads=())


def stored_again() -> TileSchedule:
    """The last tile is computed and stored a second time; nothing is loaded for it, and the claims are right."""
    found = layer()
    steps = steps_of(found)
    again = without_loads(replace(steps[-1], index=len(steps)))
    bytes_stored = sum(move.size_bytes for move in again.stores)
    return played(found, [*steps, again], tiles=found.tiles + 1, traffic_bytes=found.traffic_bytes + bytes_stored)


def never_stored() -> TileSchedule:
    """The first tile is missing; the others load what they need, and the claims are right."""
    found = layer()
    first, second, *rest = steps_of(found)
    loads = {move.key: move for move in (*first.loads, *second.loads)}
    steps = [replace(second, loads=tuple(loads.values())), *rest]
    steps = [replace(step, index=index) for index, step in enumerate(steps)]
    moves = sum(move.size_bytes for step in steps for move in (*step.loads, *step.stores))
    return played(found, steps, tiles=found.tiles - 1, traffic_bytes=moves)


def loaded_again() -> TileSchedule:
    """The weights, which every tile needs alike, are loaded for the second one too."""
    found = layer()
    steps = steps_of(found)
    weights = next(move for move in steps[0].loads if move.key == "0.c.w")
    steps[1] = replace(steps[1], loads=(*steps[1].loads, weights))
    return played(found, steps, traffic_bytes=found.traffic_bytes + weights.size_bytes)


def another_part_is_read() -> TileSchedule:
    """The Relu reads one row further down than what was made for it."""
    found = chain()
    reader = found.stages[1].operands[0]
    (access,) = reader.accesses
    lower = tuple(sub + 1 if axis == 2 else sub for axis, sub in enumerate(access.subscripts))
    wrong = replace(reader, accesses=(replace(access, subscripts=lower),))
    stage = replace(found.stages[1], operands=(wrong, *found.stages[1].operands[1:]))
    return played(found, steps_of(found), stages=(found.stages[0], stage))


def out_of_range(step: TileStep) -> TileStep:
    """A loop that moves no operand runs over its end: nothing else can tell."""
    (tile,) = step.tiles
    return replace(step, tiles=({**tile, "idle": (0, 2)},))


def idle_loop() -> TileSchedule:
    """A schedule with one more loop, of one step."""
    found = layer()
    (stage,) = found.stages
    steps = [replace(step, tiles=({**step.tiles[0], "idle": (0, 1)},)) for step in steps_of(found)]
    return played(found, steps, stages=(replace(stage, extents={**stage.extents, "idle": 1}),))


def reduction_cut() -> TileSchedule:
    """The claims say that `ic` is cut, though every step is whole along it."""
    found = layer()
    return played(found, steps_of(found), order=(*found.order, "ic"), sizes={**found.sizes, "ic": 4})


def store(step: TileStep) -> TileCopy:
    return step.stores[0]


WRONG: list[tuple[str, Callable[[], TileSchedule], str]] = [
    ("numbered wrongly", lambda: at(layer(), 1, lambda s: replace(s, index=2)), "are numbered wrongly: 2 follows 0"),
    ("a loop over its end", lambda: at(idle_loop(), 1, out_of_range), r"loop 'idle' of 'conv' runs over \[0, 2\)"),
    ("too many tiles claimed", lambda: replace(layer(), tiles=layer().tiles + 1), "claims 5 tiles: it has 4"),
    ("too much traffic claimed", lambda: replace(layer(), traffic_bytes=layer().traffic_bytes + 1), "claims to move"),
    ("too little traffic claimed", lambda: replace(layer(), traffic_bytes=layer().traffic_bytes - 1), "claims to move"),
    ("a reduction cut", reduction_cut, "'conv' cuts loop 'ic'"),
    ("stored twice", stored_again, "stores a part of 'y' twice"),
    ("never stored", never_stored, r"never stores element \[0, 0, 0, 0\] of 'y'"),
    ("a tile not stored", lambda: at(layer(), 1, lambda s: replace(s, stores=())), "tile 1 of 'conv' is not stored as"),
    ("another tile stored", lambda: at(layer(), 1, lambda s: replace(s, stores=steps_of(layer())[0].stores)),
     "tile 1 of 'conv' is not stored as 'y'"),
    ("loaded in vain", loaded_again, "tile 1 of 'conv' loads 'w' again: it has not changed"),
    ("not loaded", lambda: at(layer(), 1, without_loads), "tile 1 of 'conv' reads"),
    ("weights not loaded", lambda: at(layer(), 0, lambda s: replace(s, loads=tuple(
        m for m in s.loads if m.key != "0.c.w"))), "tile 0 of 'conv' reads .* of 'w'"),
    ("outside of the tensor", lambda: at(layer(), 0, lambda s: moved(
        s, "0.i.x", box=((0, 1), (0, 9), (0, 5), (0, 12)))),
     "a copy of 'x' in 'conv' takes"),
    ("before the tensor", lambda: at(layer(), 0, lambda s: moved(s, "0.i.x", box=((0, 1), (-1, 8), (0, 5), (0, 12)))),
     "a copy of 'x' in 'conv' takes"),
    ("larger than its buffer", lambda: at(layer(), 0, lambda s: moved(s, "0.i.x", size_bytes=4096)),
     "a copy of 'x' in 'conv' has 4096 bytes: its buffer has"),
    ("to another address", lambda: at(layer(), 1, lambda s: moved(s, "0.o.y", address=store(s).address + 4)),
     "a copy of 'y' in 'conv' goes to byte"),
    ("to a buffer that is not there", lambda: at(layer(), 1, lambda s: moved(s, "0.o.y", buffer=1, address=
     store(s).address + layer().operand("0.o.y").size)), "a copy of 'y' in 'conv' goes to byte"),
    ("too few elements", lambda: at(layer(), 1, lambda s: moved(s, "0.o.y", transfer=replace(
        store(s).transfer, run=store(s).transfer.run - 1))), "a copy of 'y' in 'conv' moves"),
    ("other elements", lambda: at(layer(), 1, lambda s: moved(s, "0.o.y", transfer=replace(
        store(s).transfer, offset=store(s).transfer.offset + 1))), "a copy of 'y' in 'conv' covers elements"),
    ("misaligned", lambda: aligned_wrongly(2), "starts at .*: it is not a multiple of 4"),
    ("one over another", lambda: changed(layer(), "0.o.y", offset=layer().operand("0.i.x").offset), "overlap"),
    ("one exactly over another", lambda: exactly_over(), "'0.c.b' and '0.c.m' of 'conv' overlap"),
    ("a local in two places", lambda: local_apart(), r"lies at \(.*\) and at \("),
    ("two buffers over the next", lambda: double_over(), "overlap"),
    ("scratch over a buffer", lambda: replace(layer(), stages=(replace(layer().stages[0], scratch_offset=0),)),
     "'0.i.x' and 'scratch' of 'conv' overlap"),
    ("tables over the end", lambda: replace(layer(), table_bytes=LEVEL_BYTES), "the compute level has 65536"),
    ("another part is read", another_part_is_read, r"tile 0 .* makes \[0, 3\) of axis 2 of 't': .* reads \[1, 4\)"),
    ("nothing is handed on", lambda: nothing_local(),
     "stage 'conv' of .* leaves no local result"),
    ("not computed anew", lambda: at(chain(), 1, lambda s: replace(s, computed=(False, True))),
     r"tile 1 of 'conv \+ unary' does not compute 'conv': what is there is another tile's result"),
    ("never computed", lambda: at(chain(), 0, lambda s: replace(s, computed=(True, False))),
     r"tile 0 of 'conv \+ unary' does not compute 'unary'"),
]  # fmt: skip


def nothing_local() -> TileSchedule:
    """The first stage's result is said to be that of the network."""
    found = chain()
    operands = tuple(replace(o, kind="output", index=0, home="l1") if o.kind == "local" else o
                     for o in found.stages[0].operands)  # fmt: skip
    return played(found, steps_of(found), stages=(replace(found.stages[0], operands=operands), found.stages[1]))


def aligned_wrongly(by: int) -> TileSchedule:
    """The highest buffer lies two bytes further up, and its copies go there; nothing lies behind it."""
    found = replace(layer(), stages=(replace(layer().stages[0], scratch_bytes=0),))
    operand = last_buffer(found)
    stage = replace(found.stages[0], operands=tuple(
        replace(o, offset=o.offset + by) if o is operand else o for o in found.stages[0].operands
    ))  # fmt: skip
    return replace(found, stages=(stage,))


def exactly_over() -> TileSchedule:
    """Two constants of one size in one place."""
    found = layer()
    one, other = found.operand("0.c.b"), found.operand("0.c.m")
    assert (one.size, one.depth) == (other.size, other.depth)
    (stage,) = found.stages
    operands = tuple(replace(o, offset=one.offset) if o is other else o for o in stage.operands)
    return replace(found, stages=(replace(stage, operands=operands),))


def local_apart() -> TileSchedule:
    """The second stage reads the first one's result somewhere else."""
    found = chain()
    reader = found.stages[1].operands[0]
    stage = replace(found.stages[1], operands=(replace(reader, offset=32 * 1024), *found.stages[1].operands[1:]))
    return replace(found, stages=(found.stages[0], stage))


def double_over() -> TileSchedule:
    """An operand with two buffers where room is left for one."""
    found = layer(double=True)
    deep = next(o for o in found.stages[0].operands if o.depth == 2)
    behind = min((o for o in found.stages[0].operands if o.offset > deep.offset), key=lambda o: o.offset)
    return changed(found, behind.key, offset=deep.offset + deep.size)


@pytest.mark.parametrize(("make", "sentence"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_a_wrong_schedule_is_refused(make: Callable[[], TileSchedule], sentence: str) -> None:
    with pytest.raises(ScheduleFault, match=sentence):
        check(make(), LEVEL_BYTES, 4)


def test_right_schedules_are_taken() -> None:
    for found in (layer(), layer(double=True), chain()):
        check(found, LEVEL_BYTES, 4)
        check(played(found, steps_of(found)), LEVEL_BYTES, 4)
        end = max(o.offset + o.size * o.depth for s in found.stages for o in s.operands)
        scratch = max(s.scratch_offset + s.scratch_bytes for s in found.stages)
        check(found, max(end, scratch), 4)
        with pytest.raises(ScheduleFault, match="ends at byte"):
            check(found, max(end, scratch) - 1, 4)
    assert layer().tiles == 4
    check(idle_loop(), LEVEL_BYTES, 4)
