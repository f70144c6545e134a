"""`ProgramCompiler`: the passes in order and what the compiled program says; nothing here needs torch."""

from __future__ import annotations

import pytest
from tilewright.errors import ToolMissing, UsageError
from tilewright.program.compiler import ProgramCompiler
from tilewright.program.schema import CompileMode, Connection, Schema, schema_from

PROGRAM = schema_from(
    {
        "regions": {
            "eyes": {"compile_mode": "freeze"},
            "table": {"compile_mode": "constant"},
            "mind": {"compile_mode": "runtime"},
            "past": {"compile_mode": "export"},
        },
        "connections": [["eyes", "mind"], ["table", "mind"], ["past", "mind"], ["mind", "mind"]],
    }
)


def test_regions_are_sorted_by_mode_and_dead_connections_go() -> None:
    compiled = ProgramCompiler(PROGRAM).compile()
    assert compiled.active_regions == {"eyes", "mind"}
    assert compiled.frozen_regions == {"eyes"}
    assert compiled.constant_regions == {"table"}
    assert compiled.exported_memories == {"past"}
    assert compiled.active_connections == (Connection("eyes", "mind"), Connection("mind", "mind"))
    assert compiled.n_eliminated == 2
    assert compiled.schema.names == ("eyes", "mind")
    assert compiled.schema.connections == compiled.active_connections
    assert compiled.constant_buffers == {}
    assert compiled.exported_paths == {}
    assert compiled.mode("past") is CompileMode.EXPORT


def test_compiling_twice_gives_the_same_and_leaves_the_program_as_it_was() -> None:
    compiler = ProgramCompiler(PROGRAM)
    assert compiler.compile() == compiler.compile()
    assert compiler.program is PROGRAM
    assert [r.name for r in compiler.freeze()] == ["eyes"]
    assert [r.name for r in compiler.constant()] == ["table"]
    assert [r.name for r in compiler.export()] == ["past"]


def test_a_schema_of_which_nothing_goes_is_given_back_itself() -> None:
    whole = Schema(PROGRAM.regions[:1])
    assert ProgramCompiler(whole).compile().schema is whole


def test_the_summary_has_a_line_for_each_region() -> None:
    text = ProgramCompiler(PROGRAM).compile().summary()
    assert text.splitlines()[0] == "4 regions, 2 active, 2 eliminated, 2 of 4 connections"
    assert "  past   export    eliminated  blob beside the firmware" in text
    assert "  eyes   freeze    active      flash" in text


def test_a_module_needs_torch() -> None:
    try:
        import torch
    except ImportError:
        with pytest.raises(ToolMissing, match="torch is not installed"):
            ProgramCompiler(PROGRAM).compile(object())
    else:
        with pytest.raises(UsageError, match="unknown region 'eyes'"):
            ProgramCompiler(PROGRAM).compile(torch.nn.Identity())
