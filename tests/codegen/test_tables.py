"""Tables of C: what they print, and that a compiler gives them the bytes that they claim."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from board_layers import board_or_skip
from conftest import NetworkFiles
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from tilewright.codegen.tables import Members, Struct, Table
from tilewright.compile import compile_model
from tilewright.options import CompileOptions
from tilewright.target import load_target

PAIR = Struct("pair", (Members("uint8_t", ("low",)), Members("uint16_t", ("high",))), designated=True)
ROW = Struct("row", (Members("int", ("first", "end")), Members("unsigned", ("bits",)), Members(PAIR, ("numbers",))))
ODD = Struct("odd", (Members("uint8_t", ("kind",)), Members(ROW, ("row",)), Members("uint8_t", ("last",))))


def test_rows_are_initialisers_with_their_comments() -> None:
    table = Table(ROW, ((1, -2, 3, (4, 5)), (6, 7, 8, (9, 10))), ("one", "two"))
    assert table.lines == (
        "{1, -2, 3u, {.low = 4, .high = 5}}, /* one */",
        "{6, 7, 8u, {.low = 9, .high = 10}}, /* two */",
    )
    assert [members.declaration for members in ROW.members] == ["int first, end;", "unsigned bits;", "pair numbers;"]
    assert Table(PAIR, ((1, 2),)).lines == ("{.low = 1, .high = 2},",)


def test_a_row_has_a_value_for_every_member() -> None:
    with pytest.raises(AssertionError, match="1 values of 2 members"):
        _ = Table(PAIR, ((1,),)).lines


def test_bytes_are_those_of_sizeof(tmp_path: Path) -> None:
    lines = ["#include <stdint.h>"]
    for number, struct in enumerate((PAIR, ROW, ODD)):
        lines += ["typedef struct {", *(members.declaration for members in struct.members), f"}} {struct.name};"]
        lines.append(f"typedef char check{number}[sizeof({struct.name}) == {struct.size_bytes} ? 1 : -1];")
    (tmp_path / "sizes.c").write_text("\n".join(lines))
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "-c", "sizes.c"], cwd=tmp_path, check=True)
    assert (PAIR.size_bytes, ROW.size_bytes, ODD.size_bytes) == (4, 16, 24)


def test_tables_of_tiles_take_the_bytes_that_are_reported(
    network: Callable[[str], NetworkFiles], tmp_path: Path
) -> None:
    board_or_skip("qemu_pulp")
    target = load_target("qemu_pulp")
    compiled = compile_model(
        network("dscnn_int8").model, CompileOptions(disabled_passes=frozenset({"pinning"})), target
    )
    for path, text in compiled.artifacts.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    source, flags = f"src/{compiled.plan.name}.c", (*target.cpu_flags, *target.library_flags, "-std=c99", "-O2")
    subprocess.run([target.compilers[0], *flags, "-c", "-Isrc", source, "-o", "network.o"], cwd=tmp_path, check=True)
    with (tmp_path / "network.o").open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        sizes = [
            one["st_size"]
            for one in table.iter_symbols()
            if one.name.partition(".")[0] in ("copies", "tiles", "program")
        ]
    assert sizes
    assert sum(sizes) == compiled.artifacts.table_bytes
