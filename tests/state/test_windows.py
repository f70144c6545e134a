"""Windows over time: whatever exporters write them as, they move on where they lie, and nothing old is put together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from on_host import run_on_host
from state.networks import loaded, placed
from tilewright.deployer.stored_model import model_in, model_out
from tilewright.frontend.load import load
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array, Window
from tilewright.options import StateWish
from tilewright.passes.driver import run as run_passes
from tilewright.plan.execute import first_value, run_slots

CALLS = 7
_VALUES: dict[str, object] = {
    "w": np.random.default_rng(1).standard_normal((2, 3, 3, 2)).astype(np.float32), "n0": np.array([0]),
    "n1": np.array([1]), "n2": np.array([2]), "last": np.array([9]), "minus": np.array([-2]), "axis": np.array([2]),
    "behind": np.array([0, 0, 0, 0, 0, 0, 1, 0]), "filled": np.array(0.5, np.float32),
    "far": np.array([1, 3, 40, 5]),
    "place": np.array([[[[0, c, 3, f] for f in range(5)] for c in range(3)]]),
}  # fmt: skip
_JOINED = node("Concat", "h x", "all", axis=2)
_END = node("ReduceSum", "all", "y", "end", keepdims=0)
FORMS: dict[str, tuple[list[onnx.NodeProto], tuple[str, ...]]] = {
    "joined, then cut": ([_JOINED, node("Slice", "all n1 last axis", "h_out", "cut"), _END], ("Shift", "ReduceSum")),
    "joined in front": ([node("Concat", "x h", "all", axis=2), node("Slice", "all n0 n4 axis", "h_out", "cut"), _END],
                        ("Shift", "ReduceSum")),
    "cut, then joined": ([node("Slice", "h n1 last axis", "s", "cut"), node("Concat", "s x", "h_out", "join", axis=2),
                          node("ReduceSum", "h_out", "y", "end", keepdims=0)], ("Shift", "ReduceSum")),
    "newest first": ([node("Slice", "h n0 n3 axis", "s", "cut"), node("Concat", "x s", "h_out", "join", axis=2),
                      node("ReduceSum", "h_out", "y", "end", keepdims=0)], ("Shift", "ReduceSum")),
    "two at once": ([node("Slice", "h n2 last axis", "s", "cut"), node("Concat", "s x z", "h_out", "join", axis=2),
                     node("ReduceSum", "h_out", "y", "end", keepdims=0)], ("Concat", "Shift", "ReduceSum")),
    "cut, padded, written": ([node("Slice", "h n1 last axis", "s", "cut"), node("Pad", "s behind filled", "p", "pad"),
                              node("ScatterND", "p place xs", "h_out", "put"),
                              node("ReduceSum", "h_out", "y", "end", keepdims=0)], ("Shift", "ScatterND", "ReduceSum")),
    "padded, then cut": ([node("Pad", "h behind filled", "p", "pad"), node("Slice", "p n1 last axis", "h_out", "cut"),
                          node("ReduceSum", "h_out", "y", "end", keepdims=0)], ("Shift", "ReduceSum")),
    "under taps": ([_JOINED, node("Slice", "all n1 last axis", "h_out", "cut"),
                    node("Conv", "all w", "y", "conv", dilations=[2, 1])],
                   ("Slice", "Concat", "Relayout", "Shift", "Conv")),
}  # fmt: skip


def _network(nodes: Sequence[onnx.NodeProto]) -> onnx.ModelProto:
    values = {**_VALUES, "n3": np.array([3]), "n4": np.array([4])}
    if any("xs" in each.input for each in nodes):
        nodes = [node("Reshape", "x flat", "xs", "flat"), *nodes]
        values["flat"] = np.array([1, 3, 5])
    names = {name for each in nodes for name in each.input}
    inputs = {
        name: shape
        for name, shape in {"x": (1, 3, 1, 5), "z": (1, 3, 1, 5), "h": (1, 3, 4, 5)}.items()
        if name in names
    }
    return onnx_model(nodes, inputs, ["y", "h_out"], values)


def _stepped(model: onnx.ModelProto, calls: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """What NumPy makes of the file as it is, call by call."""
    plain, _ = run_passes(load(model, name="n", state=StateWish((("h", "h_out"),))), disabled=("windows",))
    plan = placed(plain).plan
    states, found = [first_value(plan, pair) for pair in plan.state], []
    for call in calls:
        slots = run_slots(plan, call, states)
        states = [slots[pair.source] for pair in plan.state]
        found.append(slots[plan.output_slots[0]])
    return found


def test_every_form_moves_on_in_place(tmp_path: Path) -> None:
    subjects, runs, wanted = list[PlacedPlan](), [], []
    for number, (form, (nodes, operators)) in enumerate(FORMS.items()):
        model, draw = _network(nodes), np.random.default_rng(number)
        found = placed(loaded(model, "h=h_out", f"w{number}"))
        assert [pair.in_place for pair in found.plan.state] == [True], form
        assert sorted(i.op_name for i in found.plan.instructions if i.aliasing is None) == sorted(operators), form
        shapes = [found.plan.slots[slot].tensor.shape for slot in found.plan.input_slots]
        calls = [[draw.standard_normal(shape).astype(np.float32) for shape in shapes] for _ in range(CALLS)]
        subjects.append(found)
        runs.append(calls)
        wanted.append(_stepped(model, calls))
    for form, ours, expected in zip(FORMS, run_on_host(subjects, runs, tmp_path), wanted, strict=True):
        for number, (one, other) in enumerate(zip(ours, expected, strict=True)):
            np.testing.assert_allclose(one[0], other, rtol=1e-5, atol=1e-5, err_msg=f"{form}, call {number}")


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Slice", "h n1 last axis", "s", "cut"), node("Slice", "h n0 n1 axis", "f", "first"),
         node("Add", "f x", "g", "add"), node("Concat", "g s", "h_out", "join", axis=2)],
        [node("Slice", "h n0 minus axis", "s", "cut"), node("Concat", "s x z", "h_out", "join", axis=2)],
    ],
    ids=["nothing moves", "the oldest stay"],
)  # fmt: skip
def test_what_is_no_window_stays_as_it_is(nodes: list[onnx.NodeProto]) -> None:
    found = loaded(_network([*nodes, node("ReduceSum", "h_out", "y", "end", keepdims=0)]), "h=h_out", split=False)
    assert all(each.op != "Shift" for each in found.nodes)


@pytest.mark.parametrize("form", ["joined, then cut", "joined in front"])
def test_a_state_that_holds_what_comes_too_says_what_the_file_has_of_it(form: str) -> None:
    model = loaded(_network(FORMS[form][0]), "h=h_out")
    (state,) = model.states
    assert (model.tensors["h"].shape, state.in_file) == ((1, 3, 5, 5), ("h", "h_out"))
    arrays = dict[str, Array]()
    assert model_in(model_out(model, arrays, "m"), arrays, "m").states == model.states


def test_a_wider_window_is_that_of_the_file_and_its_oldest_entries() -> None:
    for first, before, after, whole in (
        (False, [0, 1, 2, 3], [2, 3, 8, 9], [0, 1, 2, 3, 8, 9]),
        (True, [3, 2, 1, 0], [9, 8, 3, 2], [9, 8, 3, 2, 1, 0]),
    ):
        window, (old, new) = Window("h", "h_out", 0, 2, first), (np.asarray(each) for each in (before, after))
        assert window.after(old, new).tolist() == whole
        assert window.of(window.after(old, new)).tolist() == after
        assert window.of(window.first(old)).tolist() == before


def test_a_state_stays_narrow_where_the_largest_moment_falls_by_less_than_it_grows() -> None:
    nodes = [node("Reshape", "x row", "r", "row"), node("MatMul", "r m", "b", "wide"),
             node("ReduceSum", "b", "y", "end", keepdims=0),
             node("Add", "x y", "u", "later"), node("Concat", "h u", "all", axis=2),
             node("ReduceSum", "all", "s", "sum", keepdims=0),
             node("Slice", "all n1 last axis", "h_out", "cut")]  # fmt: skip
    for columns, state in ((10, (1, 3, 5, 5)), (68, (1, 3, 4, 5))):
        values = {**_VALUES, "row": np.array([1, 15]), "m": np.ones((15, columns), np.float32)}
        model = onnx_model(nodes, {"x": (1, 3, 1, 5), "h": (1, 3, 4, 5)}, ["y", "s", "h_out"], values)
        assert loaded(model, "h=h_out").tensors["h"].shape == state


def test_a_state_stays_narrow_where_that_takes_fewer_bytes() -> None:
    wide = [node("Concat", "h x", "all", axis=2), node("Slice", "all n1 last axis", "h_out", "cut"),
            node("ReduceSum", "all", "s", "sum", keepdims=1), node("Expand", "s far", "e", "expand"),
            node("Relu", "e", "f", "relu"), node("ReduceSum", "f", "y", "end", keepdims=0)]  # fmt: skip
    model = _network(wide)
    found = loaded(model, "h=h_out")
    assert found.tensors["h"].shape == (1, 3, 4, 5)
    assert any(each.op == "Concat" for each in found.nodes)
