"""Binding: one kernel for every node and one layout for every tensor, by conflict-directed backjumping.

Nodes are decided in topological order, each by the cheapest kernel (see `binding/order.py`) whose demands on operand
layouts can be met, if need be by a Relayout; where they cannot, earlier choices are changed (see `binding/search.py`).
Graph outputs take part: they lie row-major. Views never compute: a Reshape keeps the layout, a Transpose renames it.
Relayouts stand only where a kernel, a view or an output demands another layout than there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from tilewright.binding.answers import Answers
from tilewright.binding.blame import minimal, refusal, shared_bytes
from tilewright.binding.candidates import Refusals, by_operator
from tilewright.binding.check import check
from tilewright.binding.choices import choices_of
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.binding.insert import with_relayouts
from tilewright.binding.layouts import VIEW, Rule
from tilewright.binding.order import Order, by_cost
from tilewright.binding.outputs import roots, without_bytes
from tilewright.binding.relayouts import Relayouts
from tilewright.binding.search import Choice, Conflict, search
from tilewright.ieee import ieee
from tilewright.layout import Layout
from tilewright.model import Model
from tilewright.platform import Kernel, Platform

PASSED_OVER = "no binding of the other nodes goes with the memory orders that it takes and gives"
"""Why a kernel that accepts a node was left for a later one."""


@ieee
def bind(
    model: Model,
    platform: Platform,
    kernels: Sequence[Kernel],
    refused: Refusals = MappingProxyType({}),
    order: Order = by_cost,
    answers: Answers | None = None,
) -> BoundGraph:
    """Bind every node; UnsupportedNode names the first that no kernel takes, with every kernel's sentence, or else a
    smallest set of nodes and outputs whose memory orders do not go together.

    `order` sorts the kernels that accept a node; `refused` are sentences against some of them.
    `answers` are those of the same kernels, where the network was bound before.
    """
    answers = answers or Answers(by_operator(kernels))
    choices = tuple(choices_of(model, platform.name, answers, refused, order))
    relayouts = Relayouts(model, answers.offered.get("Relayout", ()))
    shown = roots([choice.call for choice in choices if choice.rules == (VIEW,)])
    if sharing := without_bytes(model, shown, relayouts.copied):
        raise shared_bytes(model, sharing, shown, relayouts, platform.name)
    given = {name: Layout.default(model.tensors[name].shape) for name in model.inputs}
    solution = search(choices, given, relayouts.copied)
    if isinstance(solution, Conflict):
        members = minimal(choices, solution.members, given, relayouts.copied)
        raise refusal([choices[at] for at in members], given, relayouts, platform.name)
    nodes = [
        (_bound(choice, rule), rule)
        for choice, rule in zip(choices, solution.taken, strict=True)
        if not choice.is_output
    ]
    graph = with_relayouts(model, platform, nodes, solution.layouts, relayouts)
    check(graph)
    return graph


def _bound(choice: Choice, rule: Rule) -> BoundNode:
    """The node with its first kernel of a rule; those before it were passed over."""
    if rule == VIEW:
        return BoundNode(choice.call, None)
    at = next(i for i, c in enumerate(choice.tried) if c.refusal is None and c.kernel.layout == rule)
    passed = (replace(candidate, refusal=PASSED_OVER) for candidate in choice.tried[:at])
    return BoundNode(choice.call, choice.tried[at].kernel, (*passed, *choice.tried[at:]))
