"""The order in which rows are computed, and the replay that checks it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from row_networks import chained, chains_of, drawn
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.compile import Compiled
from tilewright.errors import TilewrightError
from tilewright.plan.check import check as check_plan
from tilewright.platform import Kernel, Operands
from tilewright.rows.bands import ALIKE, RowMap
from tilewright.rows.chain import RowChain
from tilewright.rows.check import check as check_binding
from tilewright.rows.check import check_chain, check_gap
from tilewright.rows.walk import Made, WalkedNode, walk

SAME = RowMap(3, 1, 1)
"""A window of three rows around its own."""


def test_a_window_slides_over_the_rows_of_the_node_before() -> None:
    found = walk([WalkedNode(SAME, 1, 4), WalkedNode(SAME, 1, 4)])
    assert found is not None
    assert found.calls == tuple(
        Made(*call) for call in [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (0, 3), (1, 2), (1, 3)]
    )
    assert found.held == (3,)
    assert found.moved == (6,)


def test_a_node_that_reads_what_was_just_made_keeps_nothing() -> None:
    found = walk([WalkedNode(SAME, 2, 5), WalkedNode(ALIKE, 2, 5)])
    assert found is not None
    assert found.alike == (True,)
    assert [call.row for call in found.calls if call.number == 1] == [0, 2, 3]
    assert found.moved == (0,)


def test_rows_that_nobody_reads_are_not_walked_over() -> None:
    assert walk([WalkedNode(SAME, 1, 9), WalkedNode(RowMap(1, 3, 0), 1, 3)]) is None


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return chained(drawn(1), tmp_path_factory.mktemp("rows"), "host", 2)


def chain_of(compiled: Compiled) -> tuple[BoundNode, Kernel, RowChain]:
    chain = max(chains_of(compiled), key=lambda bound: len(bound.parts))
    assert chain.kernel is not None
    assert isinstance(chain.kernel.methods, RowChain)
    return chain, chain.kernel, chain.kernel.methods


def changed(kernel: Kernel, chain: RowChain, **parts: object) -> Kernel:
    walked = replace(chain.walked, **parts)  # type: ignore[arg-type]
    return replace(kernel, methods=replace(chain, walked=walked))


def refused(graph: BoundGraph, message: str) -> None:
    with pytest.raises(TilewrightError, match=re.escape(message)):
        check_binding(graph)


def test_a_lost_call_is_found(compiled: Compiled) -> None:
    bound, kernel, chain = chain_of(compiled)
    check_chain(bound.call, kernel)
    for lost in range(len(chain.walked.calls)):
        calls = (*chain.walked.calls[:lost], *chain.walked.calls[lost + 1 :])
        with pytest.raises(TilewrightError, match=r"window lacks|leaves out rows"):
            check_chain(bound.call, changed(kernel, chain, calls=calls))


def test_a_window_that_is_too_small_is_found(compiled: Compiled) -> None:
    bound, kernel, chain = chain_of(compiled)
    for number, rows in enumerate(chain.walked.held):
        held = (*chain.walked.held[:number], rows - 1, *chain.walked.held[number + 1 :])
        with pytest.raises(TilewrightError, match="which its window lacks"):
            check_chain(bound.call, changed(kernel, chain, held=held))


def test_a_result_that_lies_too_far_inside_an_operand_is_found(compiled: Compiled) -> None:
    bound, kernel, chain = chain_of(compiled)

    ((operand, _, gap),) = kernel.overlap(Operands(bound.call))
    found = []
    for closer in range(1, 100):
        try:
            check_gap(bound.call, chain, operand, gap - closer)
        except TilewrightError as error:
            found.append(str(error))
    assert found
    assert all("before it reads them" in message for message in found)


def test_what_a_chain_keeps_to_itself_is_needed_by_nobody_else(compiled: Compiled) -> None:
    bound, _, _ = chain_of(compiled)
    inner = bound.call.chain[0].outputs[0].name
    graph = compiled.bound
    refused(replace(graph, model=graph.model.replace(outputs=(*graph.model.outputs, inner))), f"keeps '{inner}'")
    calls = (bound.call.chain[0], *bound.call.chain[2:])
    broken = replace(bound, call=replace(bound.call, chain=calls))
    nodes = tuple(broken if node is bound else node for node in graph.nodes)
    refused(replace(graph, nodes=nodes), "does not hand its operands on")


def test_a_slot_for_what_lies_in_scratch_is_found(compiled: Compiled) -> None:
    bound, _, _ = chain_of(compiled)
    plan, inner = compiled.plan, bound.call.chain[0].outputs[0]
    assert inner.name not in {slot.tensor.name for slot in plan.slots}
    slot = replace(plan.slots[0], index=len(plan.slots), tensor=inner)
    with pytest.raises(TilewrightError, match="keeps rows in scratch"):
        check_plan(replace(plan, slots=(*plan.slots, slot)))


def test_the_code_shows_every_node_and_its_rows(compiled: Compiled, tmp_path: Path) -> None:
    bound, _, chain = chain_of(compiled)
    code = compiled.artifacts.files[f"src/{compiled.plan.name}.c"]
    for stage in chain.stages:
        assert f"{stage.node.call.node.op} '{stage.node.call.node.name}', " in code
    assert "rows at a time. */" in code
    assert bound.call.node.name in {row.name for row in compiled.report.layers}
