"""A state whose rows are read and written one by one is so many states; the file still has one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import node
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
    assert [(pair.past, pair.present, pair.row) for pair in kept.plan.state] == [("k", "k_out", 0), ("k", "k_out", 1)]
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
