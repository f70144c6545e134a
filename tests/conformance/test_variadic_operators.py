"""Operators of any number of operands: right values on every platform, in C whose length grows with that number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np
import onnx
import pytest
from cuda.test_kernel_conformance import one_file
from onnx import TensorProto, helper, numpy_helper
from tilewright.conformance.program import STRICT, run_batch
from tilewright.conformance.subject import Subject, load_and_pass, place, subject
from tilewright.errors import UnsupportedNode
from tilewright.memory.placed import PlacedPlan
from tilewright.model import Array
from tilewright.ops.registry import all_operators
from tilewright.plan.layout import layout_of
from tilewright.platforms.cuda.emit import STAND_IN, TEMPLATES, emit_network
from tilewright.plugins import platform
from tilewright.run.cuda_executor import CUDAGraphExecutor
from tilewright.run.cuda_library import build_library
from tilewright.target import load_target

COUNTS = (2, 3, 16, 17, 64)
PLATFORMS = ("generic", "cortex_m", "riscv", "pulp", "pulp_l3")
CLUSTER = """#include <string.h>
#include "tilewright_cluster.h"

tilewright_future tilewright_start(const tilewright_copy *copies, int first, int end, unsigned char *fast,
                                   unsigned char *const *home)
{
    for (const tilewright_copy *copy = copies + first; copy < copies + end; copy++) {
        for (uint32_t run = 0; run < copy->runs; run++) {
            unsigned char *near = fast + copy->near + run * copy->bytes;
            unsigned char *far = home[copy->operand] + copy->far + run * copy->stride;
            memcpy(copy->store ? far : near, copy->store ? near : far, copy->bytes);
        }
    }
    return first < end;
}

void tilewright_wait(tilewright_future future)
{
    (void)future;
}

void tilewright_begin(void (*function)(const void *work, int core, int cores), const void *work)
{
    for (int core = 0; core < 8; core++) {
        function(work, core, 8);
    }
}

void tilewright_end(void)
{
}
"""
"""A cluster for the host: copies are done at once, the cores work one after the other."""

REFUSED_BEYOND = {"Einsum": 2}
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
    attributes = {"Einsum": {"equation": ",".join(["i"] * count) + "->i"}, "Concat": {"axis": 0}}
    more = {"axis": 0} if op == "QLinearConcat" else attributes.get(op, {})
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
    runs = [[(draw.normal(0, 40, SIZE) + (100 if dtype.kind == "u" else 0)).astype(dtype) for _ in range(count)]]
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
    return place(model, platform(name))


def drawn(name: str) -> list[tuple[str, str, int, PlacedPlan]]:
    found = []
    for op, kind in CASES:
        for count in COUNTS:
            if count > REFUSED_BEYOND.get(op, count):
                with pytest.raises(UnsupportedNode, match=op):
                    placed(op, count, kind, name)
            else:
                found.append((op, kind, count, placed(op, count, kind, name)))
    return found


def with_cluster(made: list[Subject]) -> list[Subject]:
    """The subjects, of which the first that needs a cluster brings it."""
    for index, one in enumerate(made):
        code = f"src/{one.name}.c"
        if "tilewright_begin" in one.artifacts.files[code]:
            files = {**one.artifacts.files, code: one.artifacts.files[code] + CLUSTER}
            first = replace(one, artifacts=replace(one.artifacts, files=files))
            return [*made[:index], first, *made[index + 1 :]]
    return made


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
    several = {o.name for o in all_operators() if o.operands and o.operands[-1].endswith("...")}
    assert several == {op for op, _ in CASES}


@pytest.mark.parametrize("name", PLATFORMS)
def test_values_and_length_of_the_c(name: str, tmp_path: Path) -> None:
    cases = drawn(name)
    made: list[Subject] = [subject(p, platform(name), operands(op, count, kind)) for op, kind, count, p in cases]
    lengths: dict[tuple[str, str], dict[int, int]] = {}
    for (op, kind, count, _), one in zip(cases, made, strict=True):
        lengths.setdefault((op, kind), {})[count] = sum(map(len, one.artifacts.files.values()))
    check_growth(lengths)
    outcomes = run_batch(with_cluster(made), tmp_path, flags=("-O1", *STRICT))
    for (op, _, count, _), one, outcome in zip(cases, made, outcomes, strict=True):
        assert not outcome.failure, f"{one.name}: {outcome.failure}"
        for arrays, (got,) in zip(one.runs, outcome.runs, strict=True):
            check(op, count, got, arrays)


def test_values_and_length_of_the_cuda_file(tmp_path: Path) -> None:
    cases = drawn("cuda")
    texts = {p.plan.name: emit_network(p.plan, layout_of(p)) for _, _, _, p in cases}
    lengths: dict[tuple[str, str], dict[int, int]] = {}
    for op, kind, count, p in cases:
        lengths.setdefault((op, kind), {})[count] = len(texts[p.plan.name])
    check_growth(lengths)
    (tmp_path / "network.cu").write_text(one_file(texts))
    (tmp_path / STAND_IN).write_text((TEMPLATES / STAND_IN).read_text())
    target = load_target("cuda_host")
    quick = tuple("-O0" if flag == "-O2" else flag for flag in target.compile_flags)
    library = build_library(tmp_path, replace(target, compile_flags=quick), tmp_path)
    for op, kind, count, p in cases:
        with CUDAGraphExecutor(p.plan, layout=layout_of(p), library=library) as executor:
            for arrays in operands(op, count, kind):
                (got,) = executor.run(*arrays)
                check(op, count, got, arrays)
