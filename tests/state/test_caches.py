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
    "one": np.int64(1), "ones": np.array([1]), "1.0": np.float32(1), "ten_thousand": np.float32(-1e4),
    "triangle": np.triu(np.full((ROWS, ROWS), -np.inf, np.float32), 1), "heads": np.array([2]), "root": np.float32(0.8),
    "twice": np.array([1, 2, 2, ROWS, 3]), "four": np.array([1, 4, ROWS, 3]),
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
_SEEN = node("LessOrEqual", "rows pos", "seen", "test")
_ONE = [node("Cast", "pos", "wide", "cast", to=7), node("Reshape", "wide ones", "at", "flat"),
        node("TensorScatter", "k new at", "k_out", "write", axis=2)]  # fmt: skip
_REPEATED = [node("Unsqueeze", "k_out heads", "k5", "apart"), node("Expand", "k5 twice", "k6", "repeat"),
             node("Reshape", "k6 four", "kr", "again")]  # fmt: skip
_ROOTED = [node("Mul", "x root", "xr", "q_root"), _TURN, node("Mul", "kt root", "ktr", "k_root"),
           node("MatMul", "xr ktr", "scaled", "score")]  # fmt: skip
Inputs = dict[str, tuple[int, ...]]
Form = tuple[list[onnx.NodeProto], Inputs]
WIDE: dict[str, Form] = {
    "below a length": ([_WRITE, node("Add", "pos one", "length", "next"), node("Less", "rows length", "seen", "test"),
                        _SHOWN, *_BIASED], {}),
    "what is not seen, times the lowest": (
        [_WRITE, _SEEN, node("Cast", "seen", "seen_f", "real", to=1), node("Sub", "1.0 seen_f", "unseen", "not"),
         node("Mul", "unseen lowest", "bias", "bias"), *_BIASED], {}),
    "ten thousand less": ([_WRITE, _SEEN, node("Where", "seen nothing ten_thousand", "bias", "bias"), *_BIASED], {}),
    "a row of a triangle": ([_WRITE, node("Gather", "triangle pos", "bias", "bias", axis=0), *_BIASED], {}),
    "chosen from": ([_WRITE, _SEEN, *_SCORES, node("Where", "seen scaled lowest", "biased", "hide"), *_TAIL], {}),
    "filled": ([_WRITE, node("Greater", "rows pos", "unseen", "test"), *_SCORES,
                node("Where", "unseen lowest scaled", "biased", "hide"), *_TAIL], {}),
    "a scalar": ([*_ONE, _SEEN, _SHOWN, *_BIASED], {"pos": ()}),
    "two axes": ([*_ONE, _SEEN, _SHOWN, *_BIASED], {"pos": (1, 1)}),
    "batches": ([node("Concat", "pos pos", "both", "both", axis=0),
                 node("TensorScatter", "k new both", "k_out", "write", axis=2), _SEEN, _SHOWN, *_BIASED],
                {"x": (2, 2, 2, 3), "new": (2, 2, 1, 3), "k": (2, 2, ROWS, 3)}),
    "grouped queries": ([_WRITE, *_REPEATED, _SEEN, _SHOWN, node("Transpose", "kr", "kt", "turn", perm=[0, 1, 3, 2]),
                         *_BIASED[1:-1], node("MatMul", "p kr", "y", "mix")], {"x": (1, 4, 2, 3)}),
    "factors on both sides": ([_WRITE, _SEEN, _SHOWN, *_ROOTED, node("Add", "scaled bias", "biased", "hide"), *_TAIL],
                              {}),
}  # fmt: skip
OPEN = {
    "hidden a little": [_WRITE, node("LessOrEqual", "rows pos", "seen", "test"),
                        node("Where", "seen nothing little", "bias", "bias"), *_BIASED],
    "shown one by one": [_WRITE, node("Equal", "rows pos", "seen", "test"), _SHOWN, *_BIASED],
    "without a mask": [_WRITE, *_SCORES, node("Softmax", "scaled", "p", "soft", axis=-1),
                       node("MatMul", "p k_out", "y", "mix")],
}  # fmt: skip


def _network(
    nodes: Sequence[onnx.NodeProto], shapes: Inputs | None = None, position: int = TensorProto.INT64
) -> onnx.ModelProto:
    inputs: Inputs = {"pos": (1,), "new": (1, 2, 1, 3), "k": (1, 2, ROWS, 3)}
    values = dict(_VALUES)
    if position == TensorProto.INT32:
        values["rows"] = np.arange(ROWS, dtype=np.int32)
    names = {name for each in nodes for name in each.input}
    if "x" in names:
        inputs["x"] = (1, 2, 2, 3)
    inputs |= shapes or {}
    types = {"pos": position}
    return onnx_model(nodes, inputs, ["y", "k_out"], {k: v for k, v in values.items() if k in names}, 24, types=types)


def _calls(plan_of: PlacedPlan, count: int, positions: Sequence[int]) -> list[list[Array]]:
    draw = np.random.default_rng(count)
    tensors = [plan_of.plan.slots[slot].tensor for slot in plan_of.plan.input_slots]
    return [
        [
            np.full(t.shape, at, t.dtype.numpy) if t.name == "pos" else draw.standard_normal(t.shape).astype(np.float32)
            for t in tensors
        ]
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


def _compared(subjects: Sequence[tuple[onnx.ModelProto, Sequence[int]]], folder: Path) -> list[PlacedPlan]:
    """Networks in place call by call on the host, as NumPy computes their files."""
    plans, runs, wanted = list[PlacedPlan](), [], []
    for number, (model, positions) in enumerate(subjects):
        plans.append(placed(loaded(model, "k=k_out", f"k{number}")))
        runs.append(_calls(plans[-1], number, positions))
        plain = load(model, name="n", state=StateWish((("k", "k_out"),)))
        without, _ = run_passes(plain, disabled=("cached_attention", "one_hot"))
        wanted.append(_stepped(without, runs[-1]))
    for ours, expected in zip(run_on_host(plans, runs, folder), wanted, strict=True):
        for one, other in zip(ours, expected, strict=True):
            np.testing.assert_allclose(one[0], other, rtol=1e-5, atol=1e-5)
    return plans


def test_however_a_mask_is_written_no_keys_behind_the_position_are_read(tmp_path: Path) -> None:
    forms = [
        (name, form, number)
        for name, form in WIDE.items()
        for number in ((TensorProto.INT64, TensorProto.INT32) if form[0][:3] == _ONE else (TensorProto.INT64,))
    ]
    subjects = [(_network(*form, number), [0, 3, ROWS - 1, 1]) for _, form, number in forms]
    for (name, _, _), found in zip(forms, _compared(subjects, tmp_path), strict=True):
        (call,) = [i.call for i in found.plan.instructions if i.op_name == "Attention"]
        assert call.optional(6) is not None, name
        assert call.optional(3) is None, name
        assert found.plan.state[0].in_place, name


def test_layers_that_share_a_mask_share_the_length() -> None:
    second = [node("Add", "y0 x", "x1", "more"), node("MatMul", "x1 kt", "s1", "score1"),
              node("Mul", "s1 half", "t1", "scale1"), node("Add", "t1 bias", "b1", "hide1"),
              node("Softmax", "b1", "p1", "soft1", axis=-1), node("MatMul", "p1 k_out", "y", "mix1")]  # fmt: skip
    first = [*_BIASED[:-1], node("MatMul", "p k_out", "y0", "mix")]
    found = placed(loaded(_network([_WRITE, _SEEN, _SHOWN, *first, *second]), "k=k_out"))
    lengths = [i.inputs[-1] for i in found.plan.instructions if i.op_name == "Attention"]
    assert len(lengths) == 2
    assert len(set(lengths)) == 1


@pytest.mark.parametrize("form", [*ATTENDED, *OPEN])
def test_only_keys_that_a_mask_shows_are_read_where_that_is_sure(form: str) -> None:
    found = placed(loaded(_network({**ATTENDED, **OPEN}[form]), "k=k_out"))
    (call,) = [i.call for i in found.plan.instructions if i.op_name == "Attention"]
    assert (call.optional(6) is not None) == (form in ATTENDED or form == "shown one by one")
    assert (call.optional(3) is not None) == (form in OPEN and form != "without a mask")
    assert max((i.scratch_bytes for i in found.plan.instructions), default=0) == ROWS * 4


def test_a_position_that_may_be_negative_keeps_the_mask_and_then_reads_all_keys(tmp_path: Path) -> None:
    hot = [_HOT, node("Where", "hot new k", "k_out", "put"), _SEEN, _SHOWN, *_BIASED]
    (found,) = _compared([(_network(hot), [0, 2, -1, ROWS - 1, ROWS])], tmp_path)
    (call,) = [i.call for i in found.plan.instructions if i.op_name == "Attention"]
    assert call.optional(3) is not None
    assert call.optional(6) is not None


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([_WRITE, node("Less", "rows pos", "seen", "test"), _SHOWN, *_BIASED], "the first position shows no key"),
        ([_WRITE, node("LessOrEqual", "rows pos", "seen", "test"), node("Where", "seen nothing q", "bias", "bias"),
          *_BIASED], "the mask is made of more than a position"),
    ],
)  # fmt: skip
def test_what_a_position_alone_does_not_say_reads_all_keys(nodes: list[onnx.NodeProto], why: str) -> None:
    shapes: Inputs = {"q": (1,)} if any("q" in each.input for each in nodes) else {}
    found = placed(loaded(_network(nodes, shapes), "k=k_out"))
    (call,) = [i.call for i in found.plan.instructions if i.op_name == "Attention"]
    assert (call.optional(6), call.optional(3) is not None) == (None, True), why


def test_heads_that_are_repeated_in_another_order_are_put_together() -> None:
    again, turned = node("Concat", "k_out k_out", "kr", axis=1), node("Transpose", "kr", "kt", perm=[0, 1, 3, 2])
    nodes = [_WRITE, again, _SEEN, _SHOWN, turned, *_BIASED[1:-1], node("MatMul", "p kr", "y", "mix")]
    found = placed(loaded(_network(nodes, {"x": (1, 4, 2, 3)}), "k=k_out"))
    assert "Attention" not in _operators(found)
