"""Planted faults: every rule of a schedule, broken by hand, is seen by the checker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from tilewright.tiling.check import ScheduleFault, check
from tilewright.tiling.expand import expand
from tilewright.tiling.front import walked
from tilewright.tiling.schedule import Operand, Stage, TileSchedule, TileStep
from tilewright.tiling.walk import walk
from tiling.cutting import conv_call, subject, unary_call

Change = Callable[[TileSchedule], TileSchedule]


def schedule() -> TileSchedule:
    """A convolution cut along rows and channels, weights loaded again for every band of rows."""
    asked = subject([conv_call()])
    cut = next(c for c in walked(asked, 12 * 1024) if c.double and 8 < c.tiles < 200)
    return expand(asked, cut)


def chain() -> TileSchedule:
    asked = subject([conv_call(8, 8, 12, y="t"), unary_call("Relu", (1, 8, 12, 12))])
    return expand(asked, next(c for c in walked(asked, 4 * 1024) if 1 < c.tiles < 100))


def changed(found: TileSchedule, key: str, **fields: object) -> TileSchedule:
    """The schedule with one operand changed."""
    stages = tuple(
        replace(s, operands=tuple(replace(o, **fields) if o.key == key else o for o in s.operands))  # type: ignore[arg-type]
        for s in found.stages
    )
    return replace(found, stages=stages)


class Tampered(TileSchedule):
    """A schedule whose steps pass through a function."""

    change: Callable[[TileStep], TileStep | None]

    def steps(self) -> Iterator[TileStep]:
        """The steps, changed; None drops one."""
        for step in super().steps():
            found = self.change(step)
            if found is not None:
                yield found


def tampered(found: TileSchedule, change: Callable[[TileStep], TileStep | None]) -> TileSchedule:
    made = Tampered(**{name: getattr(found, name) for name in found.__dataclass_fields__})
    object.__setattr__(made, "change", change)
    return made


def test_sound_schedules_pass() -> None:
    for sound, level_bytes in ((schedule(), 12 * 1024), (chain(), 4 * 1024)):
        check(sound, level_bytes, 4)
        assert len(list(sound.steps())) > 1


def halved_output(step: TileStep) -> TileStep:
    moves = tuple(replace(m, box=((0, 1), (0, 1), (0, 1), (0, 1))) for m in step.stores)
    return replace(step, stores=moves) if step.index == 1 else step


def no_reload(step: TileStep) -> TileStep:
    return replace(step, loads=()) if step.index == 1 else step


def outside(step: TileStep) -> TileStep:
    if step.index or not step.loads:
        return step
    move = step.loads[0]
    box = tuple((low, high + 1) for low, high in move.box)
    return replace(step, loads=(replace(move, box=box), *step.loads[1:]))


def wrong_stride(step: TileStep) -> TileStep:
    if not step.loads:
        return step
    move = step.loads[0]
    transfer = replace(move.transfer, repeats=tuple((count, stride + 1) for count, stride in move.transfer.repeats))
    return replace(step, loads=(replace(move, transfer=transfer), *step.loads[1:]))


def wrong_buffer(step: TileStep) -> TileStep:
    return replace(step, loads=tuple(replace(m, buffer=2) for m in step.loads))


def dropped(step: TileStep) -> TileStep | None:
    return None if step.index == 3 else step


def twice(step: TileStep) -> TileStep:
    return replace(step, index=step.index) if step.index != 2 else replace(step, index=1)


@pytest.mark.parametrize("change", [halved_output, no_reload, outside, wrong_stride, wrong_buffer, dropped, twice])
def test_a_wrong_step_is_seen(change: Callable[[TileStep], TileStep | None]) -> None:
    with pytest.raises(ScheduleFault):
        check(tampered(schedule(), change), 12 * 1024, 4)


def wrong_inner_stride(step: TileStep) -> TileStep:
    """Rows that lie elsewhere, between the same first and last element."""
    for place, move in enumerate(step.loads):
        if len(move.transfer.repeats) > 1:
            (outer, far), (inner, near), *rest = move.transfer.repeats
            repeats = ((outer, far - (inner - 1)), (inner, near + (outer - 1)), *rest)
            wrong = replace(move, transfer=replace(move.transfer, repeats=repeats))
            return replace(step, loads=(*step.loads[:place], wrong, *step.loads[place + 1 :]))
    return step


def test_rows_that_lie_elsewhere_between_the_same_ends_are_seen() -> None:
    asked = subject([unary_call("Relu", (1, 8, 12, 12))])
    blocks = expand(asked, walk(asked, {"i1": 2, "i2": 6, "i3": 4}, ("i1", "i2", "i3"), False))
    check(blocks, 1024, 4)
    with pytest.raises(ScheduleFault, match="its box lies as"):
        check(tampered(blocks, wrong_inner_stride), 1024, 4)


CLAIMS: list[Change] = [
    lambda s: replace(s, traffic_bytes=s.traffic_bytes + 1),
    lambda s: replace(s, tiles=s.tiles + 1),
    lambda s: changed(s, "0.i.x", size=4),
    lambda s: changed(s, "0.i.x", offset=2),
    lambda s: changed(s, "0.o.y", offset=0),
    lambda s: replace(s, stages=(replace(s.stages[0], scratch_bytes=99_999),)),
    lambda s: replace(s, table_bytes=99_999),
]


@pytest.mark.parametrize("number", range(len(CLAIMS)))
def test_a_wrong_claim_is_seen(number: int) -> None:
    with pytest.raises(ScheduleFault):
        check(CLAIMS[number](schedule()), 12 * 1024, 4)


def test_a_reduction_that_is_cut_is_seen() -> None:
    found = schedule()
    with pytest.raises(ScheduleFault):
        check(replace(found, order=(*found.order, "ic"), sizes={**found.sizes, "ic": 8}), 64 * 1024, 4)


def test_a_producer_that_makes_too_little_is_seen() -> None:
    found = chain()
    first: Stage = found.stages[0]
    loop = next(name for name, axis in first.feeds.items() if axis in (2, 3))
    feeds = {name: axis for name, axis in first.feeds.items() if name != loop}
    extents = {**first.extents, loop: 1}
    with pytest.raises(ScheduleFault):
        check(replace(found, stages=(replace(first, feeds=feeds, extents=extents), found.stages[1])))


def test_an_operand_knows_its_bytes() -> None:
    operand: Operand = schedule().operand("0.i.x")
    assert operand.bytes_of(((0, 1), (0, 16), (0, 2), (0, 3))) == 96
    assert schedule().double
