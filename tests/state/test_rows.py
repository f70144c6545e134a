"""A state whose rows are read and written one by one is so many states; the file still has one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node, onnx_model
from state.networks import COPYING, loaded, placed, stacked
from tilewright.compile import compile_model, run_model, write
from tilewright.frontend.load import load
from tilewright.options import CompileOptions, RunOptions, StateWish
from tilewright.passes.states import split_states
from tilewright.target import load_target

WISH = StateWish((("k", "k_out"),))


def test_rows_lie_in_place_and_nothing_is_copied() -> None:
    kept, copied = placed(loaded(stacked(), "k=k_out")), placed(loaded(stacked(), "k=k_out", split=False), COPYING)
    assert [pair.in_place for pair in kept.plan.state] == [True, True]
    assert [(pair.past, pair.present) for pair in kept.plan.state] == [("k", "k_out")] * 2
    assert [pair.part and (pair.part.low, pair.part.high) for pair in kept.plan.state] == [
        ((row, 0, 0), (row + 1, 4, 4)) for row in range(2)
    ]
    assert kept.state_bytes == copied.state_bytes == 128
    assert kept.arena_bytes < copied.arena_bytes
    assert not any(i.op_name in ("Gather", "ScatterND") for i in kept.plan.instructions)


@pytest.mark.parametrize(
    "also",
    [
        [node("ReduceSum", "k", "s", "whole", keepdims=0)],
        [node("Gather", "k1 i0", "s", "other axis", axis=1)],
        [node("ScatterND", "k p0 b3", "s", "another", reduction="add")],
    ],
    ids=["read as a whole", "read along another axis", "added to"],
)
def test_what_takes_more_than_rows_stays_one_state(also: list[onnx.NodeProto]) -> None:
    model = stacked()
    model.graph.node.extend([*also, node("ReduceSum", "s", "t", "sum", keepdims=0)])
    model.graph.output.append(onnx.helper.make_tensor_value_info("t", onnx.TensorProto.FLOAT, []))
    found = load(model, state=WISH)
    assert split_states(found) is found


def _parted() -> onnx.ModelProto:
    """Two layers of which each has a stretch of columns: read by Slice, written as a box of elements, or joined."""
    box = np.array([[[row, column] for column in range(3)] for row in range(4)])
    values = {"n0": np.array([0]), "n3": np.array([3]), "n5": np.array([5]), "axis": np.array([1]), "box": box}
    nodes = [
        node("Slice", "k n0 n3 axis", "a", "take0"), node("Add", "a x", "a2", "add0"),
        node("ScatterND", "k box a2", "k1", "put0"), node("Slice", "k1 n3 n5 axis", "b", "take1"),
        node("Neg", "b", "b2", "turn"), node("Concat", "a2 b2", "k_out", "join", axis=1),
        node("ReduceSum", "k_out", "y", "end", keepdims=0),
    ]  # fmt: skip
    return onnx_model(nodes, {"x": (4, 3), "k": (4, 5)}, ["y", "k_out"], values)


def test_stretches_of_any_axis_are_states(tmp_path: Path) -> None:
    onnx.save(_parted(), tmp_path / "parted.onnx")
    np.savez(tmp_path / "first.npz", k=np.arange(20, dtype=np.float32).reshape(4, 5))
    options, target = CompileOptions(state=replace(WISH, initial=tmp_path / "first.npz")), load_target("host")
    compiled = compile_model(tmp_path / "parted.onnx", options, target)
    write(compiled, tmp_path)
    assert [pair.in_place for pair in compiled.plan.state] == [True, True]
    run = run_model(compiled, target, RunOptions(frames=4), tmp_path).run
    assert run is not None
    assert run.match
    assert run.frames is not None
    assert (run.frames.reference, run.frames.reference_mismatches) == ("onnxruntime", 0)


def test_a_row_that_never_changes_keeps_the_state_whole() -> None:
    model = stacked()
    del model.graph.output[1]
    model.graph.output.append(onnx.helper.make_tensor_value_info("k1", onnx.TensorProto.FLOAT, [2, 4, 4]))
    found = load(model, state=StateWish((("k", "k1"),)))
    assert split_states(found) is found


def test_the_reference_keeps_the_file_s_own_state(tmp_path: Path) -> None:
    onnx.save(stacked(), tmp_path / "stacked.onnx")
    np.savez(tmp_path / "first.npz", k=np.arange(32, dtype=np.float32).reshape(2, 4, 4))
    options = CompileOptions(state=replace(WISH, initial=tmp_path / "first.npz"))
    target = load_target("host")
    compiled = compile_model(tmp_path / "stacked.onnx", options, target)
    write(compiled, tmp_path)
    for asked in (RunOptions(frames=5), RunOptions()):
        run = run_model(compiled, target, asked, tmp_path).run
        assert run is not None
        assert run.match
        if run.frames is not None:
            assert (run.frames.reference, run.frames.reference_mismatches) == ("onnxruntime", 0)
        else:
            assert run.reference is not None
            assert (run.reference.mismatches, run.reference.unlike) == (0, ())
