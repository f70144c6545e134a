"""The ONNX package's own node cases through the mirror: whatever is not refused computes what the case expects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilewright.binding.bind import bind
from tilewright.conformance.node_cases import Case, collect
from tilewright.conformance.subject import load_and_pass
from tilewright.errors import UnsupportedError
from tilewright.export.pytorch import emit
from tilewright.model import Array
from tilewright.plugins import kernels_of, platform
from torch_modules import load, outputs_of

torch: Any = pytest.importorskip("torch", reason="torch is not installed")


def mirrored(case: Case, number: int, folder: Path) -> str:
    """`passes`, `refused: why` or `wrong: what`; inputs that must be known at compile time are frozen."""
    names = [value.name for value in case.model.graph.input]
    values = dict(zip(names, case.data[0][0], strict=False))
    frozen: dict[str, Array] = {}
    generic = platform("generic")
    while True:
        try:
            graph = bind(load_and_pass(case.model, f"m{number}", frozen), generic, kernels_of(generic))
            module = emit(graph)
            break
        except UnsupportedError as error:
            value = values.get(error.where.tensor)
            if "not known at compile time" not in str(error) or value is None or error.where.tensor in frozen:
                return f"refused: {error}"
            frozen[error.where.tensor] = value
    tensors = [graph.model.tensors[name] for name in graph.model.inputs]
    given = [values[tensor.name] for tensor in tensors]
    inputs = [np.asarray(a).astype(t.dtype.numpy) for a, t in zip(given, tensors, strict=True)]
    network = getattr(load(module, folder, f"case_{number}"), module.class_name)().eval()
    for got, wanted in zip(outputs_of(network, inputs), case.data[0][1], strict=False):
        if wanted is None:
            continue
        if got.shape != wanted.shape:
            return f"wrong: shape {got.shape}, not {wanted.shape}"
        left, right = got.astype(np.float64), wanted.astype(np.float64)
        if not np.allclose(left, right, rtol=max(case.rtol, 1e-5), atol=max(case.atol, 1e-6), equal_nan=True):
            return f"wrong: {np.abs(left - right).max()} apart"
    return "passes"


def test_node_cases_pass_or_are_refused(tmp_path: Path) -> None:
    found = {}
    for number, case in enumerate(collect(("node",))):
        if number % 8 == 0:  # every eighth keeps it short
            try:
                found[case.name] = mirrored(case, number, tmp_path)
            except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError) as error:
                found[case.name] = f"wrong: {type(error).__name__} {error}"
    wrong = {name: what for name, what in found.items() if what.startswith("wrong")}
    assert not wrong
    counts = Counter(what.split(":")[0] for what in found.values())
    assert counts["passes"] > 100, counts
