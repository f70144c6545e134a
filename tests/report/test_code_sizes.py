"""Estimates of code and stack from the generated C and a measured table, without a compiler."""

from __future__ import annotations

from pathlib import Path

import pytest
from tilewright.codegen.artifacts import Artifacts, Parts
from tilewright.codegen.code_counts import FunctionText, count
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.report.allowance import estimate
from tilewright.report.code_sizes import CoreSizes, LayerCounts, sizes_for
from tilewright.target import load_target

SHARED = """
/* a comment with expf( and float */
TILEWRIGHT_INTO int tilewright_helper(int x)
{
    return x;
}
"""
CONVOLUTION = """static const int places = 3;

static void net_convi8_0(const int8_t *x, int8_t *y)
{
    static const pair pairs[2] = {
        {1, 2}, /* the first */
        {3, 4},
    };
    y[0] = (int8_t)tilewright_helper(x[0]);
}

ONCE void net_convi8_0_patch(int8_t *y)
{
    memcpy(y, y, 4);
}
"""
SOFTMAX = """static void net_softmax_1(const float *x, float *y)
{
    y[0] = expf(x[0]);
}
"""
RUN = """int net_run(void)
{
    net_convi8_0(net_arena, net_arena + 4);
    return 0;
}
"""
TEXTS = (
    FunctionText("", SHARED),
    FunctionText("net_convi8_0", CONVOLUTION, "convi8", 0),
    FunctionText("net_softmax_1", SOFTMAX, "softmax", 1),
    FunctionText("net_run", RUN, "run"),
)
CORE = CoreSizes(
    "-mcpu=any",
    {"convi8": (2000, 64), "softmax": (1000, 200), "run": (100, 24)},
    {"always": 20, "expf": 400, "tilewright_helper": 30, "float": 1000},
    frozenset({"memcpy", "expf"}),
    stack_beside=16,
)


def test_functions_are_counted_where_they_are_emitted() -> None:
    counted = [function for text in TEXTS for function in count(text)]
    artifacts = Artifacts("net", {}, Parts(code=""), 0, (), counts=tuple(counted))
    counts = LayerCounts.of(artifacts)
    assert set(counts.layers) == {("convi8", 0), ("softmax", 1), ("run", 0)}
    assert counts.names == {"float", "tilewright_helper", "memcpy", "expf"}
    convolution, patch = (function for function in counted if function.kernel == "convi8" and function.characters > 2)
    assert convolution.characters == len(
        "static void net_convi8_0(const int8_t *x, int8_t *y) { static const pair pairs[2] = { }; "
        "y[0] = (int8_t)tilewright_helper(x[0]);"
    )
    assert convolution.beside == len("static const int places = 3;")
    assert patch.characters == len("ONCE void net_convi8_0_patch(int8_t *y) { memcpy(y, y, 4);")
    assert [function.in_floats for function in counted if function.characters] == [False, False, False, True, False]


def test_layers_and_what_they_share_are_summed() -> None:
    counts = LayerCounts({("convi8", 0): 100, ("convi8", 1): 50, ("run", 0): 1000}, frozenset({"tilewright_helper"}))
    assert CORE.code_bytes(counts) == 20 + 200 + 100 + 100 + 30
    assert CORE.stack_bytes(counts) == 24 + 64 + 16
    real = LayerCounts({("softmax", 0): 10, ("run", 0): 10}, frozenset({"expf", "float"}))
    assert CORE.code_bytes(real) == 20 + 10 + 1 + 400 + 1000
    assert CORE.stack_bytes(real) == 24 + 200 + 16


def test_what_was_never_measured_counts_as_the_largest() -> None:
    counts = LayerCounts({("newkernel", 0): 100}, frozenset({"tanhf"}))
    assert CORE.code_bytes(counts) == 20 + 200 + 400
    assert CORE.stack_bytes(counts) == 24 + 200 + 16


def test_a_platform_without_a_table_keeps_its_allowance() -> None:
    assert sizes_for("generic", "-O2") is None


@pytest.mark.parametrize("platform", ["cortex_m", "riscv"])
def test_an_unknown_core_takes_the_largest_figures_of_its_platform(platform: str) -> None:
    boards = {"cortex_m": ("qemu_microbit", "qemu_mps2_an386"), "riscv": ("qemu_rv32imc", "qemu_rv32gcv")}[platform]
    unknown = sizes_for(platform, "-mcpu=of-the-users-own")
    assert unknown is not None
    for board in boards:
        known = sizes_for(platform, " ".join(load_target(board).cpu_flags))
        assert known is not None
        assert all(unknown.kernels[name] >= (code, 0) for name, (code, _) in known.kernels.items())
        assert unknown.stack_beside >= known.stack_beside


def test_shipped_tables_estimate_a_network(network_path: Path) -> None:
    target = load_target("qemu_mps2_an386")
    done = compile_model(network_path, CompileOptions(), target)
    code, variables, stack = estimate(done.request.platform, done.artifacts, target)
    assert 2_000 < code < 12_000
    assert 64 < stack <= 1024
    assert 0 <= variables <= 64


@pytest.fixture
def network_path() -> Path:
    return Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"
