"""The search finds the binding that brute force finds first, and what it refuses is a smallest conflict."""

from __future__ import annotations

import re

import numpy as np
import pytest
from binding.drawn_bindings import PLATFORM, Case, case
from binding.layout_oracle import VIEWS, kernels_for, solve
from hypothesis import given, settings
from hypothesis import strategies as st
from tilewright.binding.bind import PASSED_OVER, bind
from tilewright.errors import UnsupportedNode

SEEDS = 2000


def compare(drawn: Case) -> str:
    """Bind a case and compare with brute force; what became of it."""
    answer = solve(drawn)
    if answer is None:
        with pytest.raises(UnsupportedNode) as refused:
            bind(drawn.model, PLATFORM, drawn.kernels)
        smallest(drawn, str(refused.value))
        return "refused"
    graph = bind(drawn.model, PLATFORM, drawn.kernels)
    kernels = {node.call.node.name: node.kernel.name if node.kernel else "" for node in graph.nodes}
    assert kernels.items() >= answer.kernels.items()
    for name, order in answer.orders.items():
        tensor = drawn.model.tensors[name]
        elements = np.arange(tensor.elements).reshape(tensor.shape)
        assert tuple(graph.layouts[name].pack(elements)) == order, name
    passed_over = [c for node in graph.nodes for c in node.candidates if c.refusal == PASSED_OVER]
    return "went back" if passed_over else "bound"


def smallest(drawn: Case, text: str) -> None:
    """The members that a sentence names cannot be bound together; without any one of them the others can."""
    members = {
        *re.findall(r"'(n\d+)' \(", text),
        *(f"output {name}" for name in re.findall(r"output '(\w+)'", text)),
        *(f"output {name}" for pair in re.findall(r"outputs '(\w+)' and '(\w+)'", text) for name in pair),
    }
    assert members
    assert "in between" not in text
    assert solve(drawn, members) is None, f"{members} can be bound: {text}"
    for member in members:
        assert solve(drawn, members - {member}) is not None, f"{member} is not to blame: {text}"
    for node in drawn.model.nodes:
        if node.name in members and node.op not in VIEWS:
            assert all(name in text for name in kernels_for(drawn, node))


def test_drawn_networks_are_bound_exactly_where_brute_force_binds_them() -> None:
    outcomes = [compare(case(seed)) for seed in range(SEEDS)]
    assert min(outcomes.count(each) for each in ("bound", "went back", "refused")) > SEEDS // 20


@settings(max_examples=50)
@given(seed=st.integers(SEEDS, 1 << 40))
def test_any_drawn_network_is_bound_where_brute_force_binds_it(seed: int) -> None:
    compare(case(seed))
