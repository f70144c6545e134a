"""Floats next to a tie between two codes: the target's reading of them is found, and nothing else is excused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from letters_network import Sizes, shapes, step
from tilewright.compile import compile_model
from tilewright.model import Array
from tilewright.options import CompileOptions, RunOptions, StateWish
from tilewright.plan.execute import run_slots, slot_value, values_before
from tilewright.plan.plan import ExecutionPlan
from tilewright.quantiser.caches import coded_caches
from tilewright.quantiser.codes import Scheme
from tilewright.quantiser.rewrite import rewritten
from tilewright.run import ties
from tilewright.target import load_target

SIZES = Sizes(width=32, layers=2, heads=4, key_heads=2, hidden=32, positions=12)
WIDE = 0.0008
"""So near the middle of two codes, by the highest code, that forty ties or so come of few numbers."""


def _plan(folder: Path, seed: int = 3) -> ExecutionPlan:
    draw = np.random.default_rng(seed)
    weights = {name: draw.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes(SIZES).items()}
    model = coded_caches(rewritten(step(SIZES, weights, "drawn"), Scheme(8)), 8)
    onnx.save(model, folder / "drawn.onnx")
    options = CompileOptions(state=StateWish(auto=True))
    return compile_model(folder / "drawn.onnx", options, load_target("host")).placed.plan


def _inputs(plan: ExecutionPlan) -> list[Array]:
    return [np.array([3], np.int64) for _ in plan.input_slots]


def _results(plan: ExecutionPlan, slots: tuple[Array, ...]) -> dict[int, Array]:
    return {slot: slots[slot] for slot in (*plan.output_slots, *(pair.source for pair in plan.state))}


def _reading(plan: ExecutionPlan, turns: ties.Turns) -> ties._Reading:
    """One whole run that reads these otherwise."""
    reading = ties._Reading(ties._Search(plan, {}, RunOptions()), values_before(plan, _inputs(plan)), turns)
    reading.go(0, len(plan.instructions))
    return reading


def _slots(reading: ties._Reading) -> tuple[Array, ...]:
    return tuple(slot_value(reading.plan, reading.values, slot.index) for slot in reading.plan.slots)


def _read_otherwise(plan: ExecutionPlan, count: int) -> tuple[Array, ...]:
    """What a target gives that takes the other code of `count` ties of different rows."""
    turns = ties.Turns()
    for _ in range(count):
        last = max((at for at, _ in turns.codes), default=0)
        rows = [one for at, one in sorted(_reading(plan, turns).ties.items()) if one and at > last]
        first = rows[len(rows) // 3][0]
        turns = turns.tie(first.at, first.element)
    return _slots(_reading(plan, turns))


def _differ(plan: ExecutionPlan, one: tuple[Array, ...], other: tuple[Array, ...]) -> bool:
    return any(not np.array_equal(one[slot], other[slot]) for slot in _results(plan, one))


@pytest.mark.parametrize("seed", range(4))
def test_the_targets_reading_of_ties_is_found(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of forty ties before a result, far more than a run has, few help by chance."""
    plan = _plan(tmp_path, seed)
    exact = RunOptions(atol=0.0, rtol=0.0)
    monkeypatch.setattr(ties, "NEAR", WIDE)
    plain, target = run_slots(plan, _inputs(plan)), _read_otherwise(plan, 2)
    assert _differ(plan, plain, target)
    found = ties.read_slots(plan, _inputs(plan), None, _results(plan, target), exact)
    assert not _differ(plan, found, target)


def test_another_last_bit_of_a_largest_element_is_found(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    rows = sorted(_reading(plan, ties.Turns()).ties)
    target = _slots(_reading(plan, ties.Turns().units(rows[0], -2)))
    exact = RunOptions(atol=0.0, rtol=0.0)
    assert _differ(plan, run_slots(plan, _inputs(plan)), target)
    assert not _differ(plan, ties.read_slots(plan, _inputs(plan), None, _results(plan, target), exact), target)
    far = _slots(_reading(plan, ties.Turns().units(rows[0], -40)))
    assert _differ(plan, ties.read_slots(plan, _inputs(plan), None, _results(plan, far), exact), far)


def test_a_code_that_is_no_tie_is_not_excused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _plan(tmp_path)
    with monkeypatch.context() as wide:
        wide.setattr(ties, "NEAR", WIDE)
        target = _read_otherwise(plan, 2)
    monkeypatch.setattr(ties, "TRIALS", 20_000)
    found = ties.read_slots(plan, _inputs(plan), None, _results(plan, target), RunOptions(atol=0.0, rtol=0.0))
    assert _differ(plan, found, target)


def test_a_wrong_result_stays_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _plan(tmp_path)
    monkeypatch.setattr(ties, "NEAR", WIDE)
    plain = run_slots(plan, _inputs(plan))
    wrong = {slot: value + value.dtype.type(1) for slot, value in _results(plan, plain).items()}
    found = ties.read_slots(plan, _inputs(plan), None, wrong, RunOptions())
    assert not _differ(plan, found, plain) or all((found[slot] != wrong[slot]).any() for slot in wrong)
