"""Kernels of integers whose drawn calls are few in the suite: enlarged images of codes, products of plain bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tilewright.conformance.kernels import attempts, compare
from tilewright.conformance.program import STRICT
from tilewright.plugins import find_platforms, kernels_of

CALLS = 8


@pytest.mark.parametrize(("kernel", "op"), [("ResizeLinearI8", "Resize"), ("IntegerProduct", "MatMulInteger")])
def test_drawn_calls_of_a_kernel_of_integers(kernel: str, op: str, tmp_path: Path) -> None:
    generic = find_platforms()["generic"]
    relayouts = [each for each in kernels_of(generic) if each.op == "Relayout"]
    (chosen,) = (each for each in generic.own_kernels() if (each.name, each.op) == (kernel, op))
    findings = compare(attempts([chosen], generic, relayouts, 5, CALLS), tmp_path, ("-O2", *STRICT))
    assert findings.compared == {(kernel, op): CALLS}
    assert not findings.differences
