"""Tables of code sizes know the kernels of today, and measuring again measures only what is new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from code_cache import key_of, remember, remembered
from code_forms import TEMPLATES, form, forms, not_measured
from code_libraries import FUNCTIONS
from code_tables import Built, Library, core
from measure_code import AGAIN, ALIKE, CORES, NOTE, arguments
from tilewright.codegen.c_tokens import UNROLLED
from tilewright.codegen.wide_operations import Operation, operation_of, operations
from tilewright.report.code_sizes import CoreSizes, KernelSizes, LayerCounts, known_alike, known_cores
from tilewright.target import load_target

CELL = Built(
    "-mcpu=any", "net", LayerCounts({("convi8", 0): (100,) * len(UNROLLED)}, frozenset({"memset"})),
    {"net_convi8_0": 900}, {"net_convi8_0": 40}, 16, {"convi8": frozenset({"memset"})}, frozenset(), 60, 0, 920, 4,
    Library({"memset": frozenset({"memset"})}, {"memset": (20, 4)}),
)  # fmt: skip


@pytest.mark.parametrize(("platform", "board"), [(name, board) for name, boards in CORES.items() for board in boards])
def test_a_table_names_what_it_does_not_know(platform: str, board: str) -> None:
    target = load_target(board)
    sizes = known_cores(platform)[" ".join(target.cpu_flags)]
    unknown = not_measured(sizes, forms(platform, target.capabilities))
    assert unknown == sizes.missing, "measure it, or let ci/measure_code.py --note name it"


@pytest.mark.parametrize("platform", CORES)
def test_tables_know_the_functions_that_expressions_name(platform: str) -> None:
    assert {"expm1f", "atanhf", "powf"} <= FUNCTIONS
    for sizes in known_cores(platform).values():
        assert FUNCTIONS <= sizes.library.keys() | sizes.known, sizes.flags


def test_cores_are_compared_with_those_that_are_named() -> None:
    flags = {
        board: " ".join(load_target(board).cpu_flags)
        for pairs in ALIKE.values()
        for pair in pairs.items()
        for board in pair
    }
    for platform, pairs in ALIKE.items():
        known = {own: alike.like for own, alike in known_alike(platform).items()}
        assert known == {flags[board]: flags[other] for board, other in pairs.items()}


def test_only_a_platform_that_copies_has_code_that_does() -> None:
    copying = {"layer", "core", "fetch"}
    assert copying <= forms("pulp", ()).keys()
    assert not copying & forms("cortex_m", ()).keys()


def test_nothing_is_measured_where_help_is_asked_for_or_a_name_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert arguments([]) == ("", list(CORES))
    assert (arguments([NOTE]), arguments([AGAIN, "qemu_pulp"])) == ((NOTE, list(CORES)), (AGAIN, ["qemu_pulp"]))
    for words, code in ((["--help"], 0), (["qemu_plup"], 2), ([NOTE, AGAIN], 2)):
        with pytest.raises(SystemExit) as end:
            arguments(words)
        assert end.value.code == code
    assert "no platform or board is called qemu_plup; there are cortex_m, " in capsys.readouterr().err


def test_a_kernel_is_new_old_or_known() -> None:
    sizes = CoreSizes("", {"known": KernelSizes(0, 1, 0, ((0, 0),), form="a"), "old": KernelSizes(0, 1, 1, ((0, 0),))})
    assert not_measured(sizes, {"known": "a", "old": "b", "new": "c"}) == {"old", "new"}


def test_a_form_is_that_of_the_code_alone(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in "abc")
    first.write_text("## a note\nint x;  /* of\nno matter */\n")
    second.write_text("int x;\n")
    third.write_text("int y;\n")
    assert form([first]) == form([second]) != form([third])
    assert (TEMPLATES / "run.c.mako").is_file()


def test_old_figures_are_less_certain() -> None:
    sizes = CoreSizes("", {"convi8": KernelSizes(0, 1000, 0, ((0, 100),)), "run": KernelSizes(0, 0, 0, ((0, 0),))})
    counts = LayerCounts({("convi8", 0): (976,) * len(UNROLLED)}, frozenset())
    old = replace(sizes, missing=frozenset({"convi8"}))
    assert (sizes.code_bytes(counts), old.code_bytes(counts)) == (976, 976 + 280)
    assert (sizes.stack_bytes(counts), old.stack_bytes(counts)) == ((180, 0), (198, 0))


def test_only_what_changed_is_measured_again() -> None:
    before = core([CELL], None, {"convi8": "a"})
    larger = replace(CELL, functions={"net_convi8_0": 1800}, code=1820)
    same, changed = (core([larger], before, {"convi8": text}) for text in "ab")
    assert same.kernels["convi8"].typical == before.kernels["convi8"].typical == 9000
    assert (changed.kernels["convi8"].typical, changed.kernels["convi8"].form) == (18000, "b")


def network_of(layers: int, layer_bytes: int, helper_bytes: int) -> Built:
    """One with so many layers that call a function of ours."""
    counts = LayerCounts(
        {("convi8", number): (100,) * len(UNROLLED) for number in range(layers)}, frozenset({"tilewright_row"}),
        helpers={"convi8": frozenset({"tilewright_row"})},
    )  # fmt: skip
    own = {f"net_convi8_{number}": layer_bytes for number in range(layers)}
    return replace(CELL, counts=counts, functions={**own, "tilewright_row": helper_bytes}, calls={}, whole=False)


def test_a_layer_that_alone_calls_a_function_does_not_tell_what_layers_take() -> None:
    one, two = network_of(1, 4, 200), network_of(2, 50, 200)
    assert core([one, one, one]).kernels["convi8"].typical == 40
    assert core([one, one, two]).kernels["convi8"].typical == 500


def test_a_shared_function_takes_the_most_that_was_seen() -> None:
    assert core([network_of(2, 50, size) for size in (200, 296, 370, 200)]).shared["tilewright_row"] == 370


def test_what_was_measured_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("code_cache.FOLDER", tmp_path)
    key = key_of("int x;", ("gcc 12", "-O2"))
    assert remembered(key, CELL.counts) is None
    assert remember(key, CELL) == remembered(key, CELL.counts) == CELL
    assert len({key, key_of("int y;", ("gcc 12", "-O2")), key_of("int x;", ("gcc 12", "-Os"))}) == 3


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("const float v = x[i - 1] * w[n / 2];", {"divide integers", "multiply floats", "add floats", "convert"}),
        ("for (int i = 0; i < n - 1; i++) {", set()),
        ("const int at = ow < 4 - 2 ? ow : 4 - 2;", set()),
        ("if (v != v || v > best) {", {"equal", "order"}),
        (
            "y->x = (float)a / -b;",
            {"divide floats", "divide integers", "subtract", "multiply floats", "add floats", "convert"},
        ),
        ("total += (int64_t)x % n;", {"divide integers", "divide 64 bits"}),
        ("total += (uint64_t)x / n;", {"divide integers", "divide 64 bits"}),
        ("const int sign = x[0] - 1.0f < 0.0f;", {"order", "subtract"}),
    ],
)
def test_operations_of_a_line(line: str, expected: set[Operation]) -> None:
    assert operations(f"static void net_any_0(const int8_t *x)\n{{\n    {line}\n") == expected


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("y[i] = x[i];", set()),
        ("y[i] = x[i] + 1.5f;", {"add floats"}),
        ("y[i] = x[i] * 1.5;", {"add floats", "multiply floats", "convert"}),
        ("y[i] = (float)i;", {"convert"}),
        ("y[i] = tilewright_f16_to_float(x[i]);", {"convert", "multiply floats"}),
    ],
)
def test_operations_on_floats(loop: str, expected: set[Operation]) -> None:
    head = "static void net_any_0(const float *x, float *y)\n{\n    for (int i = 0; i < 8; i++) {"
    assert operations(f"{head}\n        {loop}\n    }}\n") == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__divsf3", "divide floats"), ("__aeabi_fdiv", "divide floats"), ("__udivdi3", "divide 64 bits"),
        ("__aeabi_ldivmod", "divide 64 bits"), ("__aeabi_uidiv", "divide integers"),
        ("__gtsf2", "order"), ("__aeabi_fcmpge", "order"),
        ("__nesf2", "equal"), ("__aeabi_fsub", "subtract"), ("__addsf3", "add floats"), ("memcpy", None),
        ("__floatsisf", "convert"), ("__aeabi_f2iz", "convert"), ("__aeabi_fmul", "multiply floats"),
    ],
)  # fmt: skip
def test_operation_of_a_function(name: str, expected: Operation | None) -> None:
    assert operation_of(name) == expected


def test_a_call_whose_operation_is_not_seen_is_refused() -> None:
    with pytest.raises(ValueError, match="convi8 of net calls __divsf3"):
        core([replace(CELL, calls={"convi8": frozenset({"__divsf3"})})])
