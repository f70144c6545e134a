"""Small networks as C in one program, held against our NumPy executor and against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from graphs import Arrays, reference
from on_host import kernels_here
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import load_and_pass, place, subject
from tilewright.plan.execute import run
from tilewright.plugins import platform


@dataclass(frozen=True)
class Trial:
    """A network, its inputs by name, and what it must give: by default what ONNX Runtime computes."""

    proto: onnx.ModelProto
    feeds: Arrays
    expected: Arrays | None = None
    frozen: Mapping[str, np.ndarray] | None = None


def hold(trials: Sequence[Trial], folder: Path, name: str = "generic", rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Every trial in C and in NumPy gives what is expected: integers exactly, floats within the tolerance."""
    subjects, wanted = [], []
    for index, trial in enumerate(trials):
        model = load_and_pass(trial.proto, f"m{index}", trial.frozen)
        placed = place(model, platform(name), kernels_here(name))
        arrays = [trial.feeds[placed.plan.slots[slot].tensor.name] for slot in placed.plan.input_slots]
        subjects.append(subject(placed, platform(name), [arrays]))
        found = reference(trial.proto, trial.feeds) if trial.expected is None else trial.expected
        wanted.append([found[output] for output in model.outputs])
        for got, want in zip(run(placed.plan, arrays), wanted[-1], strict=True):
            _same(got, want, rtol, atol, f"NumPy, network {index}")
    for index, outcome in enumerate(run_batch(subjects, folder, flags=("-O0", *STRICT))):
        assert not outcome.failure, (index, outcome.failure)
        for got, want in zip(outcome.runs[0], wanted[index], strict=True):
            _same(got, want, rtol, atol, f"C, network {index}")


def _same(got: np.ndarray, want: np.ndarray, rtol: float, atol: float, text: str) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape), text
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=text)
    else:
        np.testing.assert_array_equal(got, want, err_msg=text)
