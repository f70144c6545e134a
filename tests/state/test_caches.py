"""Caches that a position fills: what is written of them, what is read of them, and that a mask says how far."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from on_host import run_on_host
from onnx import TensorProto
from state.networks import loaded, placed
from tilewright.frontend.load import load
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array, Model
from tilewright.options import StateWish
from tilewright.passes.driver import run as run_passes
from tilewright.plan.execute import first_value, run_slots

ROWS, LOWEST = 6, -1e9
_VALUES: dict[str, object] = {
    "rows": np.arange(ROWS), "column": np.arange(ROWS).reshape(1, 1, ROWS, 1), "two": np.array([1, 1, ROWS, 1]),
    "nothing": np.float32(0), "lowest": np.float32(LOWEST), "half": np.float32(0.5), "little": np.float32(-1.0),
}  # fmt: skip
_HOT = node("Equal", "column pos", "hot", "find")
_WRITE = node("TensorScatter", "k new pos", "k_out", "write", axis=2)
_TURN = node("Transpose", "k_out", "kt", "turn", perm=[0, 1, 3, 2])
_TAIL = [node("Softmax", "biased", "p", "soft", axis=-1), node("MatMul", "p k_out", "y", "mix")]
_SHOWN = node("Where", "seen nothing lowest", "bias", "bias")
_SCORES = [_TURN, node("MatMul", "x kt", "s", "score"), node("Mul", "s half", "scaled", "scale")]
_BIASED = [*_SCORES, node("Add", "bias scaled", "biased", "hide"), *_TAIL]
PUT = {
    "one entry": [_HOT, node("Where", "hot new k", "k_out", "put"), node("Add", "k_out half", "y", "end")],
    "a mask with its axes behind": [node("Equal", "rows pos", "flat", "find"),
                                    node("Reshape", "flat two", "hot", "view"),
                                    node("Where", "hot new k", "k_out", "put"), node("Add", "k_out half", "y", "end")],
}  # fmt: skip
ATTENDED = {
    "shown up to": [_WRITE, node("LessOrEqual", "rows pos", "seen", "test"), _SHOWN, *_BIASED],
    "hidden behind": [_WRITE, node("Less", "pos rows", "seen", "test"),
                      node("Where", "seen lowest nothing", "bias", "bias"), *_BIASED],
    "at least": [_WRITE, node("GreaterOrEqual", "pos rows", "seen", "test"), _SHOWN, *_BIASED],
}  # fmt: skip
OPEN = {
    "hidden a little": [_WRITE, node("LessOrEqual", "rows pos", "seen", "test"),
                        node("Where", "seen nothing little", "bias", "bias"), *_BIASED],
    "shown one by one": [_WRITE, node("Equal", "rows pos", "seen", "test"), _SHOWN, *_BIASED],
    "without a mask": [_WRITE, *_SCORES, node("Softmax", "scaled", "p", "soft", axis=-1),
                       node("MatMul", "p k_out", "y", "mix")],
}  # fmt: skip


def _network(nodes: Sequence[onnx.NodeProto]) -> onnx.ModelProto:
    inputs = {"pos": (1,), "new": (1, 2, 1, 3), "k": (1, 2, ROWS, 3)}
    names = {name for each in nodes for name in each.input}
    if "x" in names:
        inputs["x"] = (1, 2, 2, 3)
    types = {"pos": TensorProto.INT64}
    return onnx_model(nodes, inputs, ["y", "k_out"], {k: v for k, v in _VALUES.items() if k in names}, 24, types=types)


def _calls(plan_of: PlacedPlan, count: int, positions: Sequence[int]) -> list[list[Array]]:
    draw = np.random.default_rng(count)
    tensors = [plan_of.plan.slots[slot].tensor for slot in plan_of.plan.input_slots]
    return [
        [np.array([at]) if t.name == "pos" else draw.standard_normal(t.shape).astype(np.float32) for t in tensors]
        for at in positions
    ]


def _stepped(plain: Model, calls: Sequence[Sequence[Array]]) -> list[Array]:
    """What NumPy makes of the network, call by call."""
    plan = placed(plain).plan
    states, found = [first_value(plan, pair) for pair in plan.state], []
    for call in calls:
        slots = run_slots(plan, list(call), states)
        states = [slots[pair.source] for pair in plan.state]
        found.append(slots[plan.output_slots[0]])
    return found


def _operators(found: PlacedPlan) -> list[str]:
    return [instruction.op_name for instruction in found.plan.instructions]


def test_caches_in_place_equal_what_the_file_says(tmp_path: Path) -> None:
    subjects, runs, wanted = list[PlacedPlan](), [], []
    for number, (form, nodes) in enumerate({**PUT, **ATTENDED, **OPEN}.items()):
        model = _network(nodes)
        found = placed(loaded(model, "k=k_out", f"k{number}"))
        assert [pair.in_place for pair in found.plan.state] == [True], form
        assert ("Put" if form in PUT else "Attention") in _operators(found), form
        calls = _calls(found, number, [0, 3, 5, 1, 2] if form not in PUT else [0, ROWS - 1, -1, 2, ROWS])
        subjects.append(found)
        runs.append(calls)
        plain, _ = run_passes(
            load(model, name="n", state=StateWish((("k", "k_out"),))), disabled=("cached_attention", "one_hot")
        )
        wanted.append(_stepped(plain, calls))
    for ours, expected in zip(run_on_host(subjects, runs, tmp_path), wanted, strict=True):
        for one, other in zip(ours, expected, strict=True):
            np.testing.assert_allclose(one[0], other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", [*ATTENDED, *OPEN])
def test_only_keys_that_a_mask_shows_are_read_where_that_is_sure(form: str) -> None:
    found = placed(loaded(_network({**ATTENDED, **OPEN}[form]), "k=k_out"))
    (call,) = [i.call for i in found.plan.instructions if i.op_name == "Attention"]
    assert (call.optional(6) is not None) == (form in ATTENDED)
    assert (call.optional(3) is not None) == (form in OPEN and form != "without a mask")
    assert max((i.scratch_bytes for i in found.plan.instructions), default=0) == ROWS * 4


def test_a_position_that_may_be_negative_keeps_the_mask() -> None:
    other = [node("ScatterND", "k places row", "k_out", "write"), *ATTENDED["shown up to"][1:]]
    model = _network([node("Reshape", "new flat", "row", "flat"), *other])
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([[0, 0, 0]]), "places"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([-1, 3]), "flat"))
    del model.graph.input[1]
    model.graph.input.append(onnx.helper.make_tensor_value_info("new", TensorProto.FLOAT, [1, 3]))
    found = placed(loaded(model, "k=k_out"))
    (call,) = [i.call for i in found.plan.instructions if i.op_name == "Attention"]
    assert call.optional(6) is None
