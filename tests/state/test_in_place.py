"""A state whose next value is written over the last one: where that is so, where it is not, and who proves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from on_host import run_on_host
from state.networks import COPYING, drawn, filtered, loaded, placed
from tilewright.errors import TilewrightError
from tilewright.memory.check_states import check_states
from tilewright.memory.placed import PlacedPlan
from tilewright.plan.aliasing.states import settle_states
from tilewright.plan.execute import first_value, run_slots
from tilewright.plan.plan import ExecutionPlan

CALLS, DRAWN, SHARE = 8, 40, 0.5


def _kept(nodes: Sequence[onnx.NodeProto], next_value: str = "h_out", *also: str) -> PlacedPlan:
    values = {
        "half": np.array([0.5], np.float32), "places": np.array([[1]]), "one": np.array([1]), "all": np.array([9]),
        "axis": np.array([0]), "shape": np.array([2, 8]), "where": np.array([[2, 0, 1, 3]]),
        "column": np.ones((4, 1), np.float32), "each": np.array([3, 2, 1, 0]), "steps": np.ones((1, 4, 2), np.float32),
        "w": np.ones((1, 12, 2), np.float32), "r": np.ones((1, 12, 4), np.float32), "b": np.zeros((1, 24), np.float32),
        "lengths": np.ones(4, np.int32),
    }  # fmt: skip
    inputs = {"x": (1, 4), "z": (4, 4), "h": (4, 4)}
    model = onnx_model(nodes, inputs, [next_value, *also], values, opset=24)
    return placed(loaded(model, f"h={next_value}"))


def _why(found: PlacedPlan) -> str:
    """Why the one state is copied; empty where it is in place."""
    return next((one.why for one in settle_states(found.plan).copied), "")


END = node("Relu", "h_out", "y", "end")


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([node("Add", "h z", "h_out", "add")], ""),
        ([node("Mul", "h half", "m", "decay"), node("Add", "m z", "h_out", "add")], ""),
        ([node("ScatterND", "h places x", "h_out", "write")], ""),
        ([node("Slice", "h one all axis", "s", "cut"), node("Concat", "s x", "h_out", axis=0)], ""),
        ([node("Gemm", "z z h", "h_out", "step")], ""),
        ([node("Gemm", "h z h", "h_out", "step")], "'step' may write an element"),
        ([node("Identity", "h", "h_out", "same")], ""),
        ([node("Transpose", "h", "t", "turn"), node("Add", "h t", "h_out", "add")], "'add' may write an element"),
        ([node("Transpose", "h", "h_out", "turn")], "'h_out_out_copy' may write an element"),
        ([node("Add", "h z", "h_out", "add"), node("Sub", "h_out h", "d", "less")], "'less' reads the old value"),
    ],
    ids=[
        "elementwise", "chain", "scatter", "shift", "addend", "factor", "unchanged", "two orders", "turned",
        "late reader",
    ],
)  # fmt: skip
def test_a_state_is_written_where_it_lies_unless_somebody_still_reads_it(nodes: list[onnx.NodeProto], why: str) -> None:
    also = ["d"] if any("d" in each.output for each in nodes) else []
    found = _kept([*nodes, END], "h_out", "y", *also)
    (pair,) = found.plan.state
    assert pair.in_place == (why == "")
    assert _why(found).startswith(why) if why else not _why(found)
    assert (pair.source in found.state_offsets) == pair.in_place


def test_a_state_lies_beside_the_arena_and_takes_its_bytes_once() -> None:
    kept, copied = (placed(loaded(filtered(), "h=h_out"), *options) for options in ((), (COPYING,)))
    assert (kept.state_bytes, copied.state_bytes) == (32, 32)
    assert (kept.arena_bytes, copied.arena_bytes) == (32, 64)


def _late(found: PlacedPlan) -> PlacedPlan:
    """The first instruction reads x in place of the state, which is read when it holds something else."""
    first, second, *rest = found.plan.instructions
    return _with(found, instructions=(replace(second, index=0), replace(first, index=1), *rest))


def _apart(found: PlacedPlan) -> PlacedPlan:
    return replace(found, state_offsets={**found.state_offsets, found.plan.state[0].source: 8})


def _promising_nothing(found: PlacedPlan) -> PlacedPlan:
    """A kernel in whose place another one stands, which reads after it has written."""
    other = _kept([node("Transpose", "h", "t", "turn"), node("LogSoftmax", "t", "h_out", "soft"), END], "h_out", "y")
    (kernel,) = {i.kernel.name: i.kernel for i in other.plan.instructions if i.name == "soft"}.values()
    first, *rest = found.plan.instructions
    return _with(found, instructions=(replace(first, kernel=kernel), *rest))


def _never_written(found: PlacedPlan) -> PlacedPlan:
    (pair,) = found.plan.state
    wrong = found.plan.instructions[-1].outputs[0]
    return _with(found, state=(replace(pair, source=wrong, within=(wrong,)),))


def _with(found: PlacedPlan, **changed: object) -> PlacedPlan:
    plan: ExecutionPlan = replace(found.plan, **changed)  # type: ignore[arg-type]
    return replace(found, plan=plan)


@pytest.mark.parametrize(
    ("plant", "fault"),
    [
        (_late, "is overwritten when"), (_apart, "leaves the memory of the states"),
        (_promising_nothing, "is read by 'decay' while 'decay' writes over it"),
        (_never_written, "does not hold its next value"),
    ],
)  # fmt: skip
def test_the_checker_of_states_catches_planted_faults(plant: Callable[[PlacedPlan], PlacedPlan], fault: str) -> None:
    found = placed(loaded(filtered(), "h=h_out"))
    check_states(found)
    with pytest.raises(TilewrightError, match=fault):
        check_states(plant(found))


WRITERS: dict[str, list[onnx.NodeProto]] = {
    "ScatterND": [node("ScatterND", "h places x", "h_out", "write")],
    "ScatterElements": [node("ScatterElements", "h where x", "h_out", "write", axis=0)],
    "TensorScatter": [node("TensorScatter", "h column each", "h_out", "write", axis=1, mode="circular")],
    "Shift": [node("Slice", "h one all axis", "s", "cut"), node("Concat", "s x", "h_out", "join", axis=0)],
    "GRU": [node("Unsqueeze", "h axis", "u", "wide"),
            node("GRU", "steps w r b lengths u", "sequence v", "cell", hidden_size=4),
            node("Squeeze", "v axis", "h_out", "narrow")],
}  # fmt: skip


@pytest.mark.parametrize("kind", WRITERS)
def test_who_reads_the_old_value_behind_a_writer_in_place_is_caught(kind: str) -> None:
    """The first of all readers is an addition; it is put behind what writes over the state."""
    found = _kept([node("Add", "h z", "d", "early"), *WRITERS[kind], END], "h_out", "y", "d")
    (pair,), (early, *rest) = found.plan.state, found.plan.instructions
    assert pair.in_place
    assert early.name == "early"
    check_states(found)
    late = tuple(replace(each, index=index) for index, each in enumerate([*rest, early]))
    with pytest.raises(TilewrightError, match="'h' is overwritten when 'early' reads it"):
        check_states(_with(found, instructions=late))


def same_as_copying(seeds: Sequence[int], folder: Path) -> int:
    """Runs drawn networks in place, copying, and in NumPy; how many states were in place of how many there are."""
    subjects, runs, wanted, in_place = list[PlacedPlan](), [], [], 0
    for seed in seeds:
        model, pairs = drawn(seed)
        kept = placed(loaded(model, pairs, f"i{seed}"))
        copied = placed(loaded(model, pairs, f"c{seed}", split=False), COPYING)
        in_place += any(pair.in_place for pair in kept.plan.state)
        draw, plan = np.random.default_rng(seed), kept.plan
        shape = plan.slots[plan.input_slots[0]].tensor.shape
        calls = [[draw.standard_normal(shape).astype(np.float32)] for _ in range(CALLS)]
        subjects += [kept, copied]
        runs += [calls, calls]
        states, expected = [first_value(plan, pair) for pair in plan.state], []
        for call in calls:
            slots = run_slots(plan, call, states)
            states = [slots[pair.source] for pair in plan.state]
            expected.append(slots[plan.output_slots[0]])
        wanted.append(expected)
    results = run_on_host(subjects, runs, folder)
    for seed, ours, theirs, expected in zip(seeds, results[::2], results[1::2], wanted, strict=True):
        for number, (a, b, c) in enumerate(zip(ours, theirs, expected, strict=True)):
            assert a[0].tobytes() == b[0].tobytes(), f"network {seed} differs from its copying form in call {number}"
            np.testing.assert_allclose(a[0], c, rtol=1e-5, atol=1e-5, err_msg=f"network {seed}, call {number}")
    return in_place


def test_drawn_networks_in_place_equal_the_copying_ones(tmp_path: Path) -> None:
    assert same_as_copying(range(DRAWN), tmp_path) >= SHARE * DRAWN
