"""Stacks of the cluster's cores take bytes of L1 where that is faster, and never a byte beyond it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest
from tilewright.compile import Compiled, compile_model, write
from tilewright.errors import DoesNotFit
from tilewright.options import CompileOptions
from tilewright.report.text import memory_table
from tilewright.run.build import build
from tilewright.run.measure import measure
from tilewright.target import StackRoom, Target, load_target, missing_tools, with_sizes

BOARD = "gvsoc_pulp_open"
L1_START = 0x10000000
STACKS = 8240


class Files(Protocol):
    """What the fixture `trained` finds."""

    @property
    def model(self) -> Path: ...


def compiled(source: Path, l1: int, target: Target | None = None) -> Compiled:
    return compile_model(source, CompileOptions(level_sizes={"l1": l1}), target or load_target(BOARD))


def cycles(done: Compiled) -> int:
    return sum(i.schedule.cycles for i in done.plan.instructions if i.schedule is not None)


def stack_addresses(done: Compiled, work: Path) -> dict[str, int]:
    """First bytes of the stacks in the linked image."""
    for tool, _ in missing_tools(load_target(BOARD)):
        if tool != "gvsoc":
            pytest.skip(f"{tool} is not installed")
    (work / "project").mkdir()
    write(done, work / "project")
    target = with_sizes(load_target(BOARD), done.request.levels)
    image = build(work / "project", done.artifacts.interface, target, work / "work")
    text = (image.work / f"{done.plan.name}.map").read_text()
    return {name: int(at, 16) for at, name in re.findall(r"(0x[0-9a-f]+) +(__core_stacks|__stack_top) = ", text)}


@pytest.mark.parametrize("kilobytes", [64, 32])
def test_stacks_lie_inside_the_declared_l1(kilobytes: int, tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done = compiled(trained("vww_int8").model, kilobytes * 1024)
    row = done.report.memory["l1"]
    assert row.stack == STACKS
    assert row.worst_case <= kilobytes * 1024
    for address in stack_addresses(done, tmp_path).values():
        assert L1_START <= address <= L1_START + kilobytes * 1024


def test_a_network_that_needs_all_of_l1_has_its_stacks_in_l2(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done = compiled(trained("ad_int8").model, 8 * 1024)
    assert done.report.memory["l1"].stack is None
    assert done.report.memory["l1"].worst_case <= 8 * 1024
    assert min(stack_addresses(done, tmp_path).values()) >= 0x1C000000


def test_more_l1_is_never_slower(trained: Callable[[str], Files]) -> None:
    found = [compiled(trained("vww_int8").model, kilobytes * 1024) for kilobytes in (24, 32, 55, 64)]
    assert [cycles(done) for done in found] == sorted((cycles(done) for done in found), reverse=True)
    assert {done.plan.stack_bytes for done in found} == {STACKS}


def test_what_slow_stacks_cost_decides(trained: Callable[[str], Files]) -> None:
    target = load_target(BOARD)
    free = replace(target, stacks=replace(target.stacks, slower_percent=0, slower_cycles=0))
    source = trained("ad_int8").model
    assert compiled(source, 20 * 1024, target).plan.stack_bytes == STACKS
    apart = compiled(source, 20 * 1024, free)
    assert apart.plan.stack_bytes == 0
    assert cycles(apart) < cycles(compiled(source, 20 * 1024, target))


def test_the_smallest_l1_is_told_for_stacks_elsewhere(trained: Callable[[str], Files]) -> None:
    with pytest.raises(DoesNotFit) as refused:
        compiled(trained("ad_int8").model, 1024)
    smallest = refused.value.smallest["l1"]
    assert compiled(trained("ad_int8").model, smallest).plan.stack_bytes == 0


def test_a_measured_report_counts_the_stacks_once(tmp_path: Path, trained: Callable[[str], Files]) -> None:
    done = compiled(trained("ad_int8").model, 32 * 1024)
    if missing := [tool for tool, _ in missing_tools(load_target(BOARD)) if tool != "gvsoc"]:
        pytest.skip(f"{missing[0]} is not installed")
    write(done, tmp_path)
    report = measure(done.report, tmp_path, done.artifacts.interface, load_target(BOARD))
    assert (report.memory["l1"].stack, report.memory["l2"].stack) == (STACKS, None)
    assert "8,240" in memory_table(report)


def test_stacks_elsewhere_take_bytes_of_the_home_level(trained: Callable[[str], Files]) -> None:
    source, target = trained("resnet8_int8").model, load_target("qemu_pulp_l3")
    asked = CompileOptions(level_sizes={"l1": 16 * 1024, "l2": 68 * 1024})
    without = compile_model(source, asked, replace(target, stacks=StackRoom()))
    beside = compile_model(source, asked, target)
    assert beside.placed.arena_bytes + 8 * 1024 <= 68 * 1024 < without.placed.arena_bytes + 8 * 1024


def test_a_core_whose_stack_is_too_small_is_told_before_it_runs(tmp_path: Path) -> None:
    done = compiled(Path(__file__).parents[1] / "models" / "digits_int8" / "model.onnx", 32 * 1024)
    target = load_target(BOARD)
    if missing := [tool for tool, _ in missing_tools(target) if tool != "gvsoc"]:
        pytest.skip(f"{missing[0]} is not installed")
    assert target.stacks.core_bytes == 768
    write(done, tmp_path)
    narrow = replace(target, stacks=replace(target.stacks, core_bytes=16))
    with pytest.raises(
        DoesNotFit, match=r"bytes of stack on each core .*: a core has 16; the deepest calls are .*_core"
    ):
        measure(done.report, tmp_path, done.artifacts.interface, narrow)
