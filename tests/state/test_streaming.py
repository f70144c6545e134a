"""Streaming networks call by call on targets against ONNX Runtime; `ci/bench sequences` runs more, for longer."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from streaming import NAMED, causal
from tilewright.compile import compile_model, run_model, write
from tilewright.options import CompileOptions, RunOptions, StateWish
from tilewright.target import load_target

CALLS = 20


@pytest.mark.parametrize(
    ("network", "target"),
    [
        ("keyword_spotter", "host"),
        ("tcn", "host"),
        ("causal", "host"),
        ("tcn", "qemu_mps2_an386"),
        ("tcn", "qemu_pulp"),
    ],
)
def test_every_call_equals_onnxruntime_s(network: str, target: str, tmp_path: Path) -> None:
    onnx.save(NAMED.get(network) or causal(0), tmp_path / "network.onnx")
    board = load_target(target)
    compiled = compile_model(tmp_path / "network.onnx", CompileOptions(state=StateWish(auto=True)), board)
    write(compiled, tmp_path)
    run = run_model(compiled, board, RunOptions(frames=CALLS), tmp_path).run
    assert run is not None
    assert run.match
    assert run.frames is not None
    assert (run.frames.reference, run.frames.reference_mismatches) == ("onnxruntime", 0)
    assert all(pair.in_place for pair in compiled.plan.state)
