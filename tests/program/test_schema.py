"""Schemas of regions: what may stand in the file, which mode holds, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tilewright.errors import ToolMissing, UsageError
from tilewright.program.schema import CompileMode, Connection, Region, Schema, read_schema, schema_from

TABLE = {
    "regions": {
        "eyes": {"nodes": ["conv"], "family": "observation"},
        "mind": {"nodes": ["mid"], "family": "state"},
        "past": {"nodes": ["old"], "family": "memory"},
        "own": {"nodes": ["x"], "family": "memory", "compile_mode": "runtime"},
        "plain": {"nodes": ["y"]},
    },
    "connections": [["eyes", "mind"], ["past", "mind"]],
}


def test_a_file_is_read_as_json(tmp_path: Path) -> None:
    path = tmp_path / "regions.json"
    path.write_text(json.dumps(TABLE))
    schema = read_schema(path)
    assert schema.names == ("eyes", "mind", "past", "own", "plain")
    assert schema.connections == (Connection("eyes", "mind"), Connection("past", "mind"))
    assert schema.region("eyes").nodes == ("conv",)


def test_a_file_is_read_as_yaml_where_that_is_installed(tmp_path: Path) -> None:
    path = tmp_path / "regions.yaml"
    path.write_text("regions:\n  eyes:\n    nodes: [conv]\n    compile_mode: export\n")
    try:
        schema = read_schema(path)
    except ToolMissing as error:
        assert error.fix == "install pyyaml, or write the file as JSON"  # noqa: PT017
    else:
        assert schema.region("eyes").mode is CompileMode.EXPORT
        path.write_text("regions: [")
        with pytest.raises(UsageError, match="is no YAML"):
            read_schema(path)


def test_a_region_has_its_own_mode_else_its_familys_else_runtime() -> None:
    modes = {region.name: region.mode for region in schema_from(TABLE).regions}
    assert modes["eyes"] is CompileMode.FREEZE
    assert modes["mind"] is CompileMode.RUNTIME
    assert modes["past"] is CompileMode.EXPORT
    assert modes["own"] is CompileMode.RUNTIME  # said outright, it overrides the family
    assert modes["plain"] is CompileMode.RUNTIME
    for family in ("residual", "action"):
        assert Region("r", family).mode is CompileMode.FREEZE
    assert Region("r", "never heard of").mode is CompileMode.RUNTIME


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ({}, "no regions are named"),
        ({"regions": {}}, "no regions are named"),
        ({"regions": {"a": 1}}, "region 'a' is no table"),
        ({"regions": {"a": {"mode": "freeze"}}}, "region 'a' has the key 'mode'"),
        ({"regions": {"a": {"compile_mode": "distill"}}}, "has the mode 'distill'"),
        ({"regions": {"a": {"nodes": "conv"}}}, "'nodes' of region 'a' is no list"),
        ({"regions": {"a": {}}, "connections": ["a"]}, "no list of pairs"),
        ({"regions": {"abc": {}}, "connections": [["abc", "abd"]]}, r"unknown region 'abd'.*did you mean 'abc'"),
        ({"regions": {"a": {}}, "extra": 1}, "the file has the key 'extra'"),
    ],
)
def test_what_is_not_understood_is_named(table: dict[str, object], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        schema_from(table)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_schema(tmp_path / "none.json")
    path = tmp_path / "bad.json"
    path.write_text("{")
    with pytest.raises(UsageError, match="is no JSON"):
        read_schema(path)
    path.write_text("[]")
    with pytest.raises(UsageError, match="holds no table"):
        read_schema(path)


def test_two_regions_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="region 'a' is named 2 times"):
        Schema((Region("a"), Region("a")))
