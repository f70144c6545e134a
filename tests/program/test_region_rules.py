"""Which region a node belongs to, what joins two regions, and where their weights lie."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import node, onnx_model
from plan.plans import model_of, plan_of
from tilewright.errors import UsageError
from tilewright.plan.constants import with_own_constants
from tilewright.program.network import connected, region_of
from tilewright.program.placement import weight_regions
from tilewright.program.schema import CompileMode, Connection, Region, Schema, schema_from

WEIGHTS = np.ones((4, 4), np.float32)


def modes(**regions: object) -> Schema:
    return schema_from({"regions": dict(regions)})


def test_the_longest_prefix_wins() -> None:
    schema = modes(all={"nodes": ["net"]}, head={"nodes": ["net/head", "n"]}, tail={"nodes": ["net/head/tail"]})
    names = ["net/body", "net/head/a", "net/head/tail/a", "other", "nothing"]
    assert [region_of(name, schema) for name in names] == ["all", "head", "tail", "", "head"]


def test_two_equal_prefixes_are_refused() -> None:
    schema = modes(one={"nodes": ["net"]}, two={"nodes": ["net"]})
    with pytest.raises(UsageError, match="node 'net/a' belongs to the regions"):
        region_of("net/a", schema)


def test_regions_are_joined_by_what_flows_between_them() -> None:
    nodes = [node("Exp", "x", "a", "one/exp"), node("Neg", "a", "b", "one/neg"), node("Abs", "b", "c", "two/abs"),
             node("Add", "c a", "y", "rest")]  # fmt: skip
    model = model_of(onnx_model(nodes, {"x": (4, 4)}, ["y"]), passes=False)
    schema = modes(one={"nodes": ["one/"]}, two={"nodes": ["two/"]})
    assert connected(model, schema).connections == (Connection("one", "two"),)
    given = Schema(schema.regions, (Connection("two", "one"), Connection("one", "two")))
    assert connected(model, given).connections == given.connections


def test_a_regions_own_mode_comes_before_its_familys() -> None:
    assert Region("a", "observation").mode is CompileMode.FREEZE
    assert Region("a", "observation", CompileMode.EXPORT).mode is CompileMode.EXPORT
    assert Region("a", "unknown").mode is CompileMode.RUNTIME
    assert Region("a", "memory", CompileMode.RUNTIME).mode is CompileMode.RUNTIME


def test_weights_of_a_region_are_mapped_or_in_ram() -> None:
    nodes = [node("MatMul", "x w", "a", "one"), node("MatMul", "a v", "b", "two"), node("MatMul", "b u", "y", "three")]
    plan = plan_of(onnx_model(nodes, {"x": (4, 4)}, ["y"], {"w": WEIGHTS, "v": WEIGHTS, "u": WEIGHTS}), passes=False)
    assert len(plan.frozen_slots) < 3
    plan = with_own_constants(plan)
    owners = {slot.node: slot.index for slot in plan.frozen_slots}
    schema = modes(
        A={"nodes": ["one"], "compile_mode": "export"}, B={"nodes": ["two"], "compile_mode": "runtime"},
        C={"nodes": ["three"], "compile_mode": "freeze"},
    )  # fmt: skip
    found = weight_regions(plan, schema)
    assert [(r.name, r.identifier, r.mapped, r.frozen) for r in found] == [
        ("A", "a", True, (owners["one"],)), ("B", "b", False, (owners["two"],)),
    ]  # fmt: skip
    alike = schema_from({"regions": {"my head": {"nodes": ["one"]}, "my-head": {"nodes": ["two"]}}})
    with pytest.raises(UsageError, match="region 'my head' has the same name in C as another"):
        weight_regions(plan, alike)
