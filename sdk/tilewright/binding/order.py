"""Which of several kernels that accept a node is tried first: the cheapest, by declared cost or by counts.

Costs of one platform are estimated for its cores, so they are compared within a platform only, and only where it says
that they are calibrated; its kernels come before inherited ones. A kernel that declares no cost keeps its place in the
order of preference. Counts, which
`tilewright tune` takes in the simulator, overrule all this: counted kernels come first, the cheapest at the head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from tilewright.binding.graph import Candidate
from tilewright.kernel import Kernel
from tilewright.model import Model
from tilewright.ops.operator import Call

Order = Callable[[Call, Sequence[Candidate]], Sequence[Candidate]]
"""Sorts the kernels that accept a call; they come in order of preference."""

Orders = Callable[[Model], Order]
"""The order for the calls of a model."""

Counts = Mapping[str, Mapping[str, int]]
"""Instructions by node and kernel."""


def as_offered(call: Call, accepted: Sequence[Candidate]) -> Sequence[Candidate]:
    """The order of preference."""
    return accepted


def by_cost(call: Call, accepted: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The cheapest first within each platform, by the kernels' declared costs; equals by preference."""
    if len(accepted) < 2:
        return tuple(accepted)
    return tuple(c for _, group in groupby(accepted, lambda c: c.kernel.platform) for c in _sorted(call, list(group)))


def _sorted(call: Call, group: Sequence[Candidate]) -> Iterator[Candidate]:
    """Kernels that declare a cost, sorted over the places that they hold; the others stay where they are."""
    costs = [c.kernel.declared_cost(call) if c.kernel.calibrated and len(group) > 1 else None for c in group]
    known = [(cost, at) for at, cost in enumerate(costs) if cost is not None]
    cheapest = iter([at for _, at in sorted(known)])
    for at, cost in enumerate(costs):
        yield group[at if cost is None else next(cheapest)]


def packed_first(call: Call, accepted: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """By cost, but first what is written for weights of four bits alone: others hold them in eight."""
    ordered = by_cost(call, accepted)
    return tuple(sorted(ordered, key=lambda c: not is_packed(c.kernel)))


def is_packed(kernel: Kernel) -> bool:
    """Whether it is written for weights of four bits alone, which lie two to a byte."""
    operands = kernel.types[0]
    return len(operands) > 1 and set(operands[1].rstrip("?").split("|")) <= {"qi4", "qu4"}


def by_counts(counts: Counts) -> Order:
    """The order that counts give: the fewest instructions first, then what was not counted, by cost."""

    def order(call: Call, accepted: Sequence[Candidate]) -> tuple[Candidate, ...]:
        known = counts.get(call.node.name, {})
        counted = [c for c in accepted if c.kernel.name in known]
        rest = [c for c in accepted if c.kernel.name not in known]
        return (*sorted(counted, key=lambda c: known[c.kernel.name]), *by_cost(call, rest))

    return order
