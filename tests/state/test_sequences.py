"""Calls one after the other on a target: what is compared, what is told, and that a wrong state is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from state.networks import filtered
from tilewright.commands.comparing import mismatch
from tilewright.compile import compile_model, run_model, write
from tilewright.errors import UsageError
from tilewright.options import CompileOptions, RunOptions, StateWish
from tilewright.report.build import Report
from tilewright.run.frames import read_frames
from tilewright.target import load_target

WISH = StateWish((("h", "h_out"),))


def _run(folder: Path, options: CompileOptions, asked: RunOptions, wrong: tuple[str, str] = ("", "")) -> Report:
    """The sequence on this machine; `wrong` is a text of the C and another in its place."""
    onnx.save(filtered(), folder / "filter.onnx")
    target = load_target("host")
    compiled = compile_model(folder / "filter.onnx", options, target)
    write(compiled, folder)
    code = folder / "src" / "filter.c"
    assert wrong[0] in code.read_text()
    code.write_text(code.read_text().replace(*wrong) if wrong[0] else code.read_text())
    return run_model(compiled, target, asked, folder)


@pytest.mark.parametrize("context", [False, True])
def test_every_output_and_every_state_of_every_call(tmp_path: Path, context: bool) -> None:
    np.savez(tmp_path / "first.npz", h=np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8))
    wish = replace(WISH, initial=tmp_path / "first.npz")
    report = _run(tmp_path, CompileOptions(state=wish, context=context), RunOptions(frames=6))
    assert report.run is not None
    assert report.run.frames is not None
    assert report.run.match
    assert report.run.elements == 6 * 16
    assert (report.run.frames.calls, report.run.frames.first_difference) == (6, "")
    assert report.run.frames.reference_mismatches == 0
    assert report.memory["ram"].state == 32
    assert report.model.states[0].copied == ""
    assert Report.from_json(report.to_json()).model.states == report.model.states


def test_a_state_that_is_not_written_is_named_with_its_call(tmp_path: Path) -> None:
    options = CompileOptions(state=WISH, disabled_passes=frozenset({"state"}))
    report = _run(tmp_path, options, RunOptions(frames=3), ("memcpy(filter_state_memory", "(void)sizeof(filter_arena"))
    assert report.run is not None
    assert report.run.frames is not None
    assert report.run.frames.first_difference == "call 0, 'state h'"
    assert report.model.states[0].copied
    error = mismatch(report)
    assert error is not None
    assert "the first that does is call 0, 'state h'" in str(error)


def test_a_first_value_that_is_not_set_is_noticed(tmp_path: Path) -> None:
    np.savez(tmp_path / "first.npz", h=np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8))
    wish, wrong = replace(WISH, initial=tmp_path / "first.npz"), "memcpy(filter_state_memory,"
    report = _run(tmp_path, CompileOptions(state=wish), RunOptions(frames=1), (wrong, "(void)sizeof(filter_arena,"))
    assert report.run is not None
    assert not report.run.match


def test_files_of_calls(tmp_path: Path) -> None:
    onnx.save(filtered(), tmp_path / "filter.onnx")
    plan = compile_model(tmp_path / "filter.onnx", CompileOptions(state=WISH), load_target("host")).plan
    calls = np.ones((5, 1, 8), np.float32)
    np.savez(tmp_path / "calls.npz", x=calls)
    assert len(read_frames(plan, tmp_path / "calls.npz", 0)) == 5
    np.savez(tmp_path / "wrong.npz", x=calls[0])
    with pytest.raises(UsageError, match="the first axis counts the calls"):
        read_frames(plan, tmp_path / "wrong.npz", 0)
    with pytest.raises(UsageError, match="apply to one call"):
        RunOptions(frames=3, layers=True)
