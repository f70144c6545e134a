"""Operators of any number of operands: right values on every platform, in C whose length grows with that number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from on_host import PLATFORMS, kernels_here, run_on_host, text_of
from onnx import TensorProto, helper, numpy_helper
from tilewright.conformance.subject import load_and_pass, place
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.ops.registry import all_operators
from tilewright.ops.relayout import DOMAIN
from tilewright.plugins import platform

COUNTS = (2, 3, 16, 17, 64)
SIZE = 5
CASES = [
    (op, kind)
    for op in ("Sum", "Mean", "Max", "Min", "Concat", "Einsum", "QLinearConcat")
    for kind in (("float32", "int32", "int8") if op in ("Max", "Min") else ("float32",))
    if (op, kind) != ("Mean", "int32")
]


def network(op: str, count: int, kind: str) -> onnx.ModelProto:
    """One node over `count` inputs of five elements."""
    names = [f"x{index}" for index in range(count)]
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    stored, read, domain = list[onnx.TensorProto](), list(names), ""
    if op == "QLinearConcat":
        element, domain = TensorProto.UINT8, "com.microsoft"
        stored = [numpy_helper.from_array(np.array(0.5, np.float32), "step")]
        stored.append(numpy_helper.from_array(np.array(3, np.uint8), "zero"))
        read = ["step", "zero", *(part for name in names for part in (name, "step", "zero"))]
    more: dict[str, Any] = {"axis": 0} if op.endswith("Concat") else {}
    if op == "Einsum":
        more = {"equation": ",".join(["i"] * count) + "->i"}
    size = SIZE * count if op.endswith("Concat") else SIZE
    graph = helper.make_graph(
        [helper.make_node(op, read, ["y"], domain=domain, **more)], "variadic",
        [helper.make_tensor_value_info(name, element, [SIZE]) for name in names],
        [helper.make_tensor_value_info("y", element, [size])], stored,
    )  # fmt: skip
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=8)


def operands(op: str, count: int, kind: str) -> list[list[Array]]:
    """Drawn values; a second run of floats has a NaN in one operand after the other."""
    draw = np.random.default_rng(count)
    dtype = np.dtype(np.uint8 if op == "QLinearConcat" else kind)
    spread = 1.2 if op == "Einsum" else 40  # a product of so many stays a number
    runs = [[(draw.normal(0, spread, SIZE) + (100 if dtype.kind == "u" else 0)).astype(dtype) for _ in range(count)]]
    if dtype.kind == "f":
        spoilt = [array.copy() for array in runs[0]]
        for place_, index in enumerate((0, 1, count // 2, count - 1)):
            spoilt[index][place_] = np.nan
        runs.append(spoilt)
    return runs


def expected(op: str, arrays: Sequence[Array]) -> Array:
    if op.endswith("Concat"):
        return np.concatenate(arrays)
    two = {"Sum": np.add, "Mean": np.add, "Max": np.maximum, "Min": np.minimum, "Einsum": np.multiply}[op]
    found: Array = reduce(two, arrays)
    return found / np.float32(len(arrays)) if op == "Mean" else found


def placed(op: str, count: int, kind: str, name: str) -> PlacedPlan:
    model = load_and_pass(network(op, count, kind), f"{op.lower()}_{count}_{kind}")
    return place(model, platform(name), kernels_here(name))


def drawn(name: str) -> list[tuple[str, str, int, PlacedPlan]]:
    found = []
    for op, kind in CASES:
        for count in COUNTS:
            found.append((op, kind, count, placed(op, count, kind, name)))
    return found


def check(op: str, count: int, got: Array, arrays: Sequence[Array]) -> None:
    exact = got.dtype.kind != "f" or op in ("Max", "Min", "Concat")
    np.testing.assert_allclose(got, expected(op, arrays), rtol=0 if exact else 1e-5, atol=0 if exact else 1e-4)
    assert got.dtype == arrays[0].dtype, (op, count)


def check_growth(lengths: dict[tuple[str, str], dict[int, int]]) -> None:
    """Characters per operand stay what they are from 3 to 16, but for the longer numbers in names."""
    for case, by_count in lengths.items():
        if set(by_count) == set(COUNTS):
            small, large = (by_count[16] - by_count[3]) / 13, (by_count[64] - by_count[17]) / 47
            assert large <= 1.2 * small, (case, by_count)


def test_the_list_is_complete() -> None:
    """Of the operators that files may hold."""
    files = [operator for operator in all_operators() if operator.domain != DOMAIN]
    several = {o.name for o in files if o.operands and o.operands[-1].endswith("...")}
    assert several == {op for op, _ in CASES}


@pytest.mark.parametrize("name", PLATFORMS)
def test_values_and_length_of_the_c(name: str, tmp_path: Path) -> None:
    cases = drawn(name)
    lengths: dict[tuple[str, str], dict[int, int]] = {}
    for op, kind, count, plan in cases:
        lengths.setdefault((op, kind), {})[count] = len(text_of(plan))
    check_growth(lengths)
    runs = [operands(op, count, kind) for op, kind, count, _ in cases]
    results = run_on_host([plan for *_, plan in cases], runs, tmp_path)
    for (op, _, count, _), given, found in zip(cases, runs, results, strict=True):
        for arrays, (got,) in zip(given, found, strict=True):
            check(op, count, got, arrays)
