"""The report as plain text: aligned, nothing unknown shown as zero, hostile names made harmless."""

from dataclasses import replace
from pathlib import Path

from tilewright.commands import common
from tilewright.errors import DoesNotFit, ToolMissing
from tilewright.memory.allocators.registry import allocators
from tilewright.memory.needs import MemoryReport
from tilewright.options import MEMORY_PASSES
from tilewright.passes.driver import PASSES
from tilewright.report.build import (
    DifferenceReport,
    LayerReport,
    ReferenceReport,
    Report,
    RunReport,
    ToolchainReport,
    load,
)
from tilewright.report.calls import StateReport
from tilewright.report.csv_format import files
from tilewright.report.envelope import Row
from tilewright.report.terminal import layer_table, profile_table, render, state_table
from tilewright.report.text import ESTIMATED, memory_table, number, printable, rows_table, run_lines, toolchain

SAMPLE = load(Path(__file__).with_name("sample_report.json"))


def with_ram(level: MemoryReport) -> Report:
    return replace(SAMPLE, memory={"ram": level})


def test_the_memory_table_decomposes_every_level() -> None:
    lines = memory_table(SAMPLE).splitlines()
    assert lines[0] == (
        "memory    size    total  activations   io  scratch  constants  stack    code  lower bound  placement  verdict"
    )
    assert lines[2:] == [
        "ram     65,536    5,536        5,120  256       64          0     96       -        5,376  optimal    "
        "fits (measured)",
        "flash        -  13,640~            0    0        0     10,440      -  3,200~            -  -          fits",
        ESTIMATED,
    ]


def test_the_status_of_a_level() -> None:
    gap = MemoryReport(4096, False, 100, 80, 90, "gap", activations=100)
    assert memory_table(with_ram(gap)).endswith("  gap        fits (proved)")
    assert memory_table(with_ram(replace(gap, size=99))).endswith("  does not fit")


def test_the_layer_table_shows_what_was_measured_only() -> None:
    lines = layer_table(SAMPLE).splitlines()
    assert lines[0].endswith("copied  error")
    assert lines[2].split() == [
        "0", "conv1", "Conv", "ConvF32", "1e-5", "oh=4", "ow=8", "x", "2", "9,216", "64", "1e-07",
    ]  # fmt: skip
    assert "whole" in lines[3]
    assert lines[5].endswith("-      -")


def test_the_profile_splits_the_network_by_layer_and_level() -> None:
    lines = profile_table(SAMPLE).splitlines()
    assert lines[0].split() == ["#", "layer", "instructions", "share", "per", "mac", "loaded", "ram",
                                "stored", "ram"]  # fmt: skip
    assert lines[2].startswith("   digits  ")
    assert lines[3].split()[:6] == ["0", "conv1", "41,000", "89.1", "%", "4.45"]
    assert len({len(line) for line in lines}) <= 2


def test_the_whole_report() -> None:
    text = render(SAMPLE)
    assert text.startswith("digits on host (generic): 4 nodes, 75,648 multiply-accumulates, 10,440 B of parameters\n")
    assert "gcc 13.2.0 -O2 -std=c99\nfuse_activation saved 4,096 B\n\nmemory" in text
    assert text.endswith(
        "outputs match (10 elements)\nlargest error: 1e-06\nNumPy against onnxruntime: 0 differences in 4 tensors, "
        "0 explained\n"
        "120,000 instructions\n"
    )


def test_states_are_named_with_what_is_copied() -> None:
    late = "it is read later"
    states = (StateReport("past", "present", "f32", (1, 8), 32), StateReport("h", "k", "i8", (4,), 4, late))
    assert state_table(states).splitlines()[2:] == [
        "past   present     f32[1, 8]     32  in place",
        "h      k           i8[4]          4  copied: it is read later",
    ]
    told = replace(SAMPLE, model=replace(SAMPLE.model, states=states))
    assert render(told).replace(state_table(states) + "\n\n", "") == render(SAMPLE)


def test_the_toolchain_names_its_compiler_once() -> None:
    assert toolchain(ToolchainReport("/usr/bin/gcc", "gcc (Debian) 12.2.0", "-O2")) == "gcc (Debian) 12.2.0 -O2"
    assert toolchain(ToolchainReport("clang", "17.0.1", "")) == "clang 17.0.1"


def test_long_names_are_cut_in_the_terminal() -> None:
    layer = LayerReport("model/" + "x" * 200, "Relu", "ReluF32", "exact", None, 1, 0, {}, None, None)
    other = replace(layer, name="model/" + "x" * 199 + "y")
    text = layer_table(replace(SAMPLE, layers=(layer, other)))
    assert "xxx  Relu" in text
    assert "xxy  Relu" in text, "the end stays, where names differ"
    assert max(map(len, text.splitlines())) < 80


def test_tables_keep_to_the_width_of_a_terminal() -> None:
    layers = tuple(
        replace(
            SAMPLE.layers[0], name=f"functional_1/activation_{n}/LeakyRelu;functional_1/conv_{n}/BiasAdd",
            op="DequantizeLinear", kernel="BlockDepthwiseI8", numerics="proved", macs=12_345_678, cycles=987_654_321,
        )
        for n in range(12)
    )  # fmt: skip
    report = replace(SAMPLE, layers=layers)
    for width in (80, 120):
        assert max(map(len, layer_table(report, width).splitlines()[:-1])) <= width
        assert max(map(len, profile_table(report, width).splitlines())) <= width
    assert "12  " not in layer_table(report).splitlines()[0]
    assert [line.split()[1] for line in layer_table(report, 120).splitlines()[2:4]] == ["activation_0", "activation_1"]


def test_columns_that_no_layer_fills_are_left_out() -> None:
    bare = tuple(replace(layer, tile=None, copied_bytes={}, max_abs_error=None) for layer in SAMPLE.layers)
    assert layer_table(replace(SAMPLE, layers=bare)).splitlines()[0].split() == [
        "#", "layer", "op", "kernel", "numerics", "macs",
    ]  # fmt: skip


def test_help_names_what_there_is() -> None:
    named = {name for part in common.PASSES.split("; ") for name in part.split(" ", 2)[-1].split(", ")}
    named |= {name for part in common.PASSES.split("; ")[:1] for name in part.split(", ")}
    assert {one.name for one in PASSES} | MEMORY_PASSES <= {name.strip() for name in named}
    assert common.ALLOCATORS == ", ".join(allocators())


def test_a_run_that_differs() -> None:
    run = RunReport(False, None, 3, 1234, 9999)
    assert run_lines(run) == "outputs differ in 1,234 of 9,999 elements\nlargest error: 3 steps"


def test_quantisation_is_said() -> None:
    model = replace(SAMPLE.model, quantisation=replace(SAMPLE.model.quantisation, form="QDQ"))
    assert "\nquantised as QDQ, integer only\n" in render(replace(SAMPLE, model=model))
    model = replace(model, quantisation=replace(model.quantisation, float_tensors=("a", "b")))
    assert "\nquantised as QDQ, 2 tensors stay float\n" in render(replace(SAMPLE, model=model))


def test_rows_side_by_side() -> None:
    small = replace(SAMPLE, memory={"l1": MemoryReport(10, False, 12, 12, 12, "optimal", activations=12)})
    rows = [
        Row("host", SAMPLE),
        Row("tiny", small, DoesNotFit("no room")),
        Row("none", error=DoesNotFit("no room", smallest={"ram": 70000})),
        Row("far", error=ToolMissing("no compiler", why="gcc is missing")),
    ]
    assert rows_table(rows).splitlines() == [
        "target             ram    flash       l1  verdict",
        "------  --------------  -------  -------  ------------------",
        "host    5,536 / 65,536  13,640~        -  fits (measured)",
        "tiny                 -        -  12 / 10  does not fit",
        "none            70,000        -        -  does not fit",
        "far                  -        -        -  error: no compiler",
        ESTIMATED,
    ]
    assert "greedy" in rows_table([Row("host", SAMPLE, strategy="greedy")])


def test_unknown_is_never_zero() -> None:
    assert [number(value) for value in (None, 0, 1234567, 0.00012345)] == ["-", "0", "1,234,567", "0.000123"]


def test_names_are_a_strangers() -> None:
    assert printable("a\x1b[31mb\nc\u202e") == "a\\x1b[31mb\\nc\\u202e"
    assert len(printable("x" * 4000)) == 200
    layer = LayerReport("evil\x1b]0;\n", "Relu", "ReluF32", "exact", None, 1, 0, {}, None, None)
    assert "\x1b" not in layer_table(replace(SAMPLE, layers=(layer,)))


def test_csv_files() -> None:
    found = files(SAMPLE)
    assert sorted(found) == ["layers.csv", "memory.csv", "summary.csv"]
    assert found["memory.csv"].splitlines()[:3] == [
        "id,lower,upper,size,offset,level,kind",
        "image,0,1,256,4096,ram,io",
        "conv1_out,0,2,4096,0,ram,activation",
    ]
    assert (
        found["layers.csv"].splitlines()[2]
        == '1,"pool<1> ""&""",MaxPool,MaxPoolF32,exact,,1,0,,4096,1024,5000,,0.0,,,,'
    )
    assert found["summary.csv"].splitlines()[1] == (
        "digits,generic,host,ram,65536,5536,5376,5376,optimal,5120,256,64,0,0,0,0,0,96,,False,5536"
    )


def test_what_differs_from_the_reference_is_named_with_who_is_right() -> None:
    inside = DifferenceReport("codes", "conv_2", "conv_1 + conv_2", 64, 3, 3, 2)
    wrong = DifferenceReport("sums", "add", "add", 1200, 1, 0)
    run = RunReport(True, 0.0, 0, 0, 10, ReferenceReport("onnxruntime", 4, 3, 2, 7, ("'y' is short",), (inside, wrong)))
    assert run_lines(run).splitlines()[2:] == [
        "NumPy against onnxruntime: 4 differences in 7 tensors, 3 explained",
        "in 2 of them ours equals exact arithmetic, and onnxruntime is off",
        "not compared: 'y' is short",
        "  'codes' of node 'conv_2' inside of 'conv_1 + conv_2': 3 of 64 elements, 3 explained, 2 exact here",
        "  'sums' of node 'add': 1 of 1,200 elements, 0 explained, 0 exact here",
    ]
    many = replace(run, reference=ReferenceReport("onnxruntime", 7, 0, 0, 7, (), (wrong,) * 7))
    assert run_lines(many).splitlines()[-1] == "  and 2 more tensors, in report.json"
    assert len(run_lines(many).splitlines()) == 3 + 5 + 1


def test_an_empty_comparison_is_never_a_match() -> None:
    nothing = RunReport(True, 0.0, 0, 0, 10, ReferenceReport("onnxruntime", 0, 0, 0, 0, ("'y' is short",)))
    assert run_lines(nothing).splitlines()[2:] == [
        "NumPy against onnxruntime: no tensor could be compared", "not compared: 'y' is short",
    ]  # fmt: skip
    silent = RunReport(True, 0.0, 0, 0, 10, reference_missing="it is not installed", drawn=("'i' is drawn",))
    assert run_lines(silent).splitlines()[2:] == [
        "NumPy is compared with nothing: it is not installed", "'i' is drawn",
    ]  # fmt: skip
