"""Estimates of code and stack from the generated C and a measured table, without a compiler."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest
from code_tables import Built, Library, core
from tilewright.codegen.artifacts import Artifacts, Parts
from tilewright.codegen.c_tokens import UNROLLED, count_tokens
from tilewright.codegen.code_counts import FunctionText, count
from tilewright.codegen.interface import Interface
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.report.allowance import STACK_OF_LIBRARIES, estimate
from tilewright.report.code_sizes import (
    STACK_PERCENT,
    CoreSizes,
    KernelSizes,
    LayerCounts,
    known_alike,
    known_cores,
    sizes_for,
)
from tilewright.target import load_target

DIGITS = Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx"
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
    static const int8_t pairs[2][2] = {
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
    {
        "convi8": KernelSizes(100, 2000, 0, ((20, 64), (100, 96))),
        "softmax": KernelSizes(0, 1000, 0, ((100, 200),), (frozenset({"__addsf3"}),)),
        "run": KernelSizes(0, 100, 0, ((9, 24),)),
    },
    {"always": 20, "tilewright_helper": 30},
    {"expf": frozenset({"exp", "error"}), "__addsf3": frozenset({"addsf3"}), "logf": frozenset({"log", "error"})},
    {"exp": (400, 0), "error": (16, 4), "addsf3": (100, 0), "log": (300, 8)},
    frozenset({"memcpy"}),
)


def test_elements_of_a_table_are_no_code() -> None:
    flat = CONVOLUTION.replace("    y[0]", "    static const int8_t codes[6] = {-1, 2, 3,\n    4, 5, 6};\n    y[0]")
    (plain, *_), (counted, *_) = (count(FunctionText("net_convi8_0", text)) for text in (CONVOLUTION, flat))
    assert counted.table_bytes == plain.table_bytes + 6
    assert 0 < counted.tokens[0] - plain.tokens[0] < 10


def test_functions_are_counted_where_they_are_emitted() -> None:
    counted = [function for text in TEXTS for function in count(text)]
    artifacts = Artifacts({}, Parts(code=""), Interface("net", (), ()), 0, (), counts=tuple(counted))
    counts = LayerCounts.of(artifacts)
    assert set(counts.layers) == {("convi8", 0), ("softmax", 1), ("run", 0)}
    assert counts.names == {"float", "tilewright_helper", "memcpy", "expf"}
    convolution, patch = (function for function in counted if function.kernel == "convi8" and function.characters > 2)
    assert convolution.characters == len(
        "static void net_convi8_0(const int8_t *x, int8_t *y) { static const int8_t pairs[2][2] = { }; "
        "y[0] = (int8_t)tilewright_helper(x[0]);"
    )
    assert convolution.beside == len("static const int places = 3;")
    assert patch.characters == len("ONCE void net_convi8_0_patch(int8_t *y) { memcpy(y, y, 4);")
    assert [function.in_floats for function in counted if function.characters] == [False, False, False, True, False]
    assert counts.layers["convi8", 0] == tuple(map(sum, zip(convolution.tokens, patch.tokens, strict=True)))
    assert counts.constants == convolution.table_bytes == 2 * 2
    assert [function.function for function in counted if function.characters] == [
        "tilewright_helper", "net_convi8_0", "net_convi8_0_patch", "net_softmax_1", "net_run"
    ]  # fmt: skip
    assert counts.operations == {"convi8": frozenset(), "softmax": frozenset(), "run": frozenset()}


LOOPS = """
static void net_any_0(int *y)
{
    for (int i = 0; i < 0; i++) {
        y[i] = 1;
    }
    for (int i = 2; i < 8; i += 3) {
        for (int j = 0; j < n; j++) {
            y[j] = i;
        }
    }
"""


def test_loops_count_as_often_as_they_are_written() -> None:
    once, *more, words = count_tokens(LOOPS)
    head, loop, inner = 8, 12, 5  # names, numbers, operators and opening brackets of the lines
    assert once == head + loop + inner + 6
    assert more == [head + 2 * (loop + inner)] * len(more)
    assert words == once
    whole, part = (count_tokens(f"for (int i = 0; i < {turns}; i++) {{\n y[i] = x[i];\n}}\n") for turns in (800, 804))
    assert whole[:-1] == part[:-1] == (whole[0],) * (len(UNROLLED) - 1)
    assert whole[-1] - part[-1] == 3 * (part[-1] - 6)
    assert count_tokens("") == (0,) * len(UNROLLED)


def of(*layers: tuple[str, int], names: tuple[str, ...] = ()) -> LayerCounts:
    """A network of layers with so many tokens."""
    counts = {(kernel, at): (tokens,) * len(UNROLLED) for at, (kernel, tokens) in enumerate(layers)}
    return LayerCounts(counts, frozenset(names))


def test_kernels_count_what_is_typical_and_the_doubt_of_several_less_than_its_sum() -> None:
    one = of(("convi8", 100), ("convi8", 50), ("run", 1000))
    assert CORE.code_bytes(one) == 20 + 300 + 100
    unsure = {"convi8": replace(CORE.kernels["convi8"], spread=30), "mean": KernelSizes(0, 1000, 40, ((0, 0),))}
    core = replace(CORE, kernels={**CORE.kernels, **unsure})
    both = of(("convi8", 488), ("mean", 976))  # 1,000 bytes each with those that are always added
    assert core.code_bytes(both) == 20 + 976 + 976 + 1400  # 2.8 times 500: 300 and 400 at right angles
    assert replace(CORE, percent=110).code_bytes(one) == 462
    assert replace(CORE, joined_spread=10).code_bytes(one) == 420 + ceil(2.8 * 42)


def test_what_several_layers_link_is_counted_once() -> None:
    assert CORE.code_bytes(of(("softmax", 10), ("softmax", 10), names=("expf", "logf"))) == 20 + 20 + 816
    assert CORE.variable_bytes(of(names=("expf", "logf"))) == 12
    assert CORE.code_bytes(of(names=("tilewright_helper", "memcpy", "floor"))) == 20 + 30 + 416
    assert CORE.code_bytes(of(names=("tilewright_other",))) == 20 + 30


def test_a_stack_is_as_deep_as_the_deepest_layer_of_that_size() -> None:
    assert CORE.stack_bytes(of(("convi8", 20), ("run", 5))) == (159, 0)  # 24 and 64, and four fifths more
    assert CORE.stack_bytes(of(("convi8", 21), ("run", 5))) == (216, 0)
    assert CORE.stack_bytes(of(("convi8", 999), ("softmax", 1), ("run", 5))) == (404, 0)
    beside = {
        "core": KernelSizes(0, 1, 0, ((9, 16),), beside=True),
        "pool": KernelSizes(0, 1, 0, ((9, 64),), beside=True),
    }
    handed = replace(CORE, kernels={**CORE.kernels, **beside})
    assert handed.stack_bytes(of(("core", 1), ("pool", 1), ("convi8", 1), ("run", 5))) == (159, 144)


def test_what_was_never_measured_counts_as_the_densest_and_is_in_doubt() -> None:
    text = of(("newkernel", 100), names=("tanhf",))
    assert CORE.code_bytes(text) == 20 + 200 + 416 + 100 + ceil(2.8 * 0.6 * 224)
    assert CORE.stack_bytes(text) == (360, 0)
    assert CORE.stack_bytes(of(("convi8", 1), names=("tilewright_other",))) == (360, 0)


def test_a_kernel_links_what_its_operations_call() -> None:
    kernels = {**CORE.kernels, "divides": KernelSizes(0, 0, 0, ((0, 0),), (frozenset({"__divsf3", "__addsf3"}),))}
    parts = {**CORE.parts, "divsf3": (1000, 0)}
    core = replace(CORE, kernels=kernels, parts=parts, library={**CORE.library, "__divsf3": frozenset({"divsf3"})})
    able = of(("divides", 1))
    assert core.code_bytes(able) == 20 + 1100
    assert core.code_bytes(replace(able, operations={"divides": frozenset({"order"})})) == 20
    assert core.code_bytes(replace(able, operations={"divides": frozenset({"add floats"})})) == 20 + 100
    assert core.code_bytes(replace(able, operations={"divides": frozenset({"divide floats"})})) == 20 + 1000


BLOCK = """static inline __attribute__((always_inline)) void net_block_0_four(int *k)
{
    __asm__("lw a0, 0(a1)");
}

static void net_block_0(int *k)
{
    tilewright_used(k);
    net_block_0_four(k);
}
"""
HELPERS = """
static void tilewright_used(int *k)
{
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
    tilewright_below(k);
#else
    rintf(k[0]);
#endif
}

static void tilewright_unused(int *k)
{
    memset(k, 0, 4);
}
"""


def test_only_what_a_layer_reaches_is_counted_and_all_that_lies_in_it() -> None:
    texts = (FunctionText("", HELPERS), FunctionText("net_block_0", BLOCK, "block", 0))
    counted = tuple(function for text in texts for function in count(text))
    counts = LayerCounts.of(Artifacts({}, Parts(code=""), Interface("net", (), ()), 0, (), counts=counted))
    assert counts.names - {"defined"} == {"tilewright_used", "tilewright_below"}
    inside = [function.tokens[0] for function in counted if function.kernel == "block"]
    assert counts.layers["block", 0][0] == sum(inside) > max(inside)


def test_a_platform_without_a_table_keeps_its_allowance() -> None:
    assert sizes_for("generic", "-O2", of()) is None


@pytest.mark.parametrize(
    ("chip", "core", "percent"),
    [("cortex-m0plus", "cortex-m0", 100), ("cortex-m7", "cortex-m4", 103), ("rv32imac", "rv32imc", 100)],
)
def test_a_core_that_was_compared_takes_the_figures_of_another(chip: str, core: str, percent: int) -> None:
    target = load_target(chip)
    flags = " ".join(target.cpu_flags)
    done = compile_model(DIGITS, CompileOptions(), target)
    counts = LayerCounts.of(done.artifacts)
    found = sizes_for(target.platform, flags, counts)
    assert found is not None
    own = known_alike(target.platform)[flags]
    measured = known_cores(target.platform)[found.flags]
    assert (own.like, found.basis, found.percent) == (measured.flags, core, percent)
    assert not measured.basis
    assert found.parts == {**measured.parts, **own.parts}
    if chip == "rv32imac":  # its libraries have compressed code, those for RV32IMC do not
        assert all(own.parts[part][0] < measured.parts[part][0] for part in ("addsf3", "_udivdi3"))
    levels = [level for level in done.report.memory.values() if level.estimated]
    assert levels
    assert {level.basis for level in levels} == {core}
    assert all(f"fits (estimated from {core}, margin " in level.verdict for level in levels)


def test_a_core_that_nobody_compared_takes_the_figures_of_the_nearest() -> None:
    for cpu in ("3", "4"):
        found = sizes_for("cortex_m", f"-mcpu=cortex-m{cpu} -mthumb -mfpu=none", of())
        assert found is not None
        assert (found.basis, found.percent) == (f"cortex-m{cpu}", 103)


def test_shipped_tables_estimate_a_network() -> None:
    target = load_target("qemu_mps2_an386")
    done = compile_model(DIGITS, CompileOptions(), target)
    found = estimate(done.request.platform, done.artifacts, target)
    assert 5_388 < found.code < 8_000  # what it takes where it is built
    assert 352 < found.stack <= 352 * STACK_PERCENT // 100 + STACK_OF_LIBRARIES  # 352 where it is built
    assert 0 <= found.variables <= 64
    assert not found.basis


def test_nobody_measured_has_more_than_the_table_says() -> None:
    kernels = {"runs": 400, "convi8": 900}
    text = of(("convi8", 100), ("run", 100))
    cells = [
        Built(
            "-mcpu=any", "net", text, {"net_run": 400 + more, "net_convi8_0": 900 - more}, {"net_convi8_0": 40}, 16,
            {"convi8": frozenset({"memset"})}, frozenset(), 60 + more, 0, sum(kernels.values()) + 200 + more, 4,
            Library({"memset": frozenset({"memset"})}, {"memset": (20, 4)}),
        )
        for more in range(0, 40, 8)
    ]  # fmt: skip
    table = core(cells)
    for cell in cells:
        assert (
            cell.code <= table.code_bytes(cell.counts) <= 1.5 * cell.code
        )  # of five networks a kernel is not yet known well
        assert cell.bound <= table.stack_bytes(cell.counts)[0]
    assert table.kernels["convi8"].library == (frozenset({"memset"}),)


def test_each_layer_of_a_kernel_links_the_largest_of_what_one_was_seen_to_link() -> None:
    choices = (frozenset({"logf"}), frozenset({"expf"}), frozenset({"__addsf3"}))
    core = replace(CORE, kernels={**CORE.kernels, "divides": KernelSizes(0, 0, 0, ((0, 0),), choices)})
    assert core.code_bytes(of(("divides", 1))) == 20 + 416
    assert core.code_bytes(of(("divides", 1), ("divides", 1))) == 20 + 400 + 300 + 16
    assert core.code_bytes(of(*3 * [("divides", 1)])) == 20 + 400 + 300 + 16 + 100


def test_a_function_that_was_joined_to_the_only_kernel_that_calls_it_is_none_of_its_bytes() -> None:
    def cell(joined: bool, linked: str) -> Built:
        counts = replace(
            of(("convi8", 100), ("run", 100), names=("tilewright_helper",)),
            helpers={"convi8": frozenset({"tilewright_helper"})},
            operations={"convi8": frozenset({"divide 64 bits"})},
        )
        functions = {"net_run": 100, "net_convi8_0": 1200 if joined else 900}
        functions |= {} if joined else {"tilewright_helper": 300}
        return Built(
            "-mcpu=any", "net", counts, functions, {"net_convi8_0": 40}, 16, {"convi8": frozenset({linked, "memset"})},
            frozenset(), 60, 0, 1300, 0, Library({}, {}),
        )  # fmt: skip

    table = core([cell(at > 1, "memset" if at else "__udivdi3") for at in range(5)])
    assert table.kernels["convi8"].typical == 9000
    assert table.shared["tilewright_helper"] == 300
    assert table.kernels["convi8"].library == (frozenset({"__udivdi3", "memset"}),)  # memset alone is a part of it
