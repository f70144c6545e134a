"""Kernels whose scratch raises the peak give way to kernels that need none, where that makes the peak smaller.

A fast kernel may want working memory. Where that fits beside what is alive, it costs nothing; at the peak it costs
bytes. So the kernels that stand at the peak with scratch are refused and the graph is bound anew, as long as the placed
peak really falls: the alternative may keep more bytes alive than it saves. `--optimize speed` skips all this.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from tilewright.binding.graph import Candidate, Refusal
from tilewright.binding.order import as_offered, is_packed
from tilewright.errors import UnsupportedNode
from tilewright.platform import Feature, Kernel, Operands
from tilewright.schedule.deployment import Deployment
from tilewright.schedule.moves.move import Offer, Offers

ROUNDS = 12
SMALL, TRIED = 128, 16
"""Nodes of a network in which faster kernels are tried where the peak no longer stands, and how many of them."""

Refused = dict[tuple[str, str], Refusal]


@dataclass(frozen=True)
class ScratchAtPeak:
    """Kernels with less scratch where the arena is fullest."""

    name: str = "kernels"
    stage: str = "binding"
    needs: Feature | None = None

    def propose(self, now: Deployment) -> Offers:
        """The graph bound without them, round by round.

        The cheapest kernels may leave less room to lie over their operands than those that a platform prefers, so the
        order of preference is tried too and taken where its peak is smaller.
        """
        if now.decisions.tiles is not None:
            yield from _once_more(now)
            return
        if now.question.request.options.optimize == "speed":
            return
        several = (
            len(now.question.request.platform.engines) > 1
        )  # kernels of which the order of preference knows little
        preferred = now if several else now.rebound(order=as_offered)
        alike = preferred.decisions.kernels == now.decisions.kernels
        scratch = any(b.kernel is not None and b.kernel.scratch(now.bound.operands(b)) for b in now.bound.nodes)
        if alike and not scratch:
            return
        best = yield from _without_scratch(now)
        if best is not now:
            yield Offer([best], "any")
        if not alike:
            other = yield from _without_scratch(preferred, offered=True)
            yield Offer([other], "lower", exact_ties=True)

    def added_work(self, before: Deployment, after: Deployment) -> float:
        """Not told: kernels of other platforms are estimated for other cores."""
        return 0.0


def _without_scratch(start: Deployment, *, offered: bool = False) -> Generator[Offer, Deployment, Deployment]:
    """The deployment without the kernels whose scratch stands at the peak."""
    now, refused = start, Refused()
    order = as_offered if offered else None
    for _ in range(ROUNDS):
        further = {key: why for key, why in _at_peak(now).items() if key not in refused}
        if not further:
            break
        try:
            without = now.rebound({**refused, **further}, order)
        except UnsupportedNode:
            break
        better = yield Offer([without], "lower", against=now, exact_ties=True)
        if better is now:
            break
        refused |= further
        now = better
    else:
        yield Offer((), cut_off=f"no more than {ROUNDS} times kernels gave way", against=now)
    return now


def _once_more(now: Deployment) -> Offers:
    """Where later moves have been: less scratch at what is the peak now, and faster kernels where it no longer is."""
    if now.question.request.options.optimize != "speed":
        refused = _at_peak(now)
        try:
            if refused:
                now = yield Offer([now.rebound_as(now.decisions.kernels, refused)], exact=True)
        except UnsupportedNode:
            pass
    if now.question.request.options.optimize == "size":
        now = yield from _packed_again(now)
    if len(now.bound.nodes) > SMALL:
        return
    gave_way = _that_gave_way(now)
    if len(gave_way) > TRIED:
        yield Offer((), cut_off=f"of {len(gave_way)} kernels that gave way {TRIED} were tried again")
    for node, kernel in gave_way[:TRIED]:
        other = now.rebound_as({**now.decisions.kernels, node: kernel})
        if other.decisions.kernels[node] == kernel and _cost(other) < _cost(now):
            now = yield Offer([other], "no higher", exact=True)


def _that_gave_way(now: Deployment) -> list[tuple[str, str]]:
    """Nodes that run for themselves with the kernel of the same platform that comes first in the order, if another."""
    question, alone = now.question, {b.call.node.name for b in now.graph.nodes if not b.parts}
    pairs = []
    for node in now.model.nodes:
        bound_to = now.decisions.kernels.get(node.name)
        tried = question.answers.candidates(now.model, node, {}, question.order) if node.name in alone else ()
        platform = next((c.kernel.platform for c in tried if c.kernel.name == bound_to), "")
        first = next((c.kernel for c in tried if c.refusal is None and c.kernel.platform == platform), None)
        if first is not None and first.name != bound_to:
            pairs.append((node.name, first.name))
    return pairs


def _packed_again(now: Deployment) -> Generator[Offer, Deployment, Deployment]:
    """Weights of four bits packed where nothing at the peak needs them wide: in all layers, or in the largest ones."""
    question, alone = now.question, {b.call.node.name for b in now.graph.nodes if not b.parts}
    narrow: list[tuple[int, str, list[str]]] = []
    for node in now.model.nodes:
        tried = question.answers.candidates(now.model, node, {}, question.order) if node.name in alone else ()
        packed = [c.kernel.name for c in tried if c.refusal is None and is_packed(c.kernel)]
        if packed and now.decisions.kernels.get(node.name) not in packed:
            narrow.append((-now.model.tensors[node.inputs[1]].elements, node.name, packed))
    narrow.sort()
    all_at_once = {node: packed[0] for _, node, packed in narrow}
    one_by_one = ({node: kernel} for _, node, packed in narrow[:TRIED] for kernel in packed)
    names = {kernel for *_, packed in narrow for kernel in packed}
    for wanted in (all_at_once, *one_by_one):
        kernels = now.decisions.kernels
        if all(kernels.get(node) in names for node in wanted):
            continue
        other = now.rebound_as({**kernels, **wanted})
        if any(other.decisions.kernels.get(node) == kernel for node, kernel in wanted.items()):
            now = yield Offer([other], "no higher", exact=True)
    return now


def _cost(now: Deployment) -> float:
    return sum(bound.kernel.cost(bound.call) for bound in now.bound.nodes if bound.kernel is not None)


def _replaces(candidate: Candidate, kernel: Kernel, operands: Operands) -> bool:
    """A kernel gives way to one of its own platform that needs less: inherited ones are many times slower."""
    other = candidate.kernel
    if candidate.refusal is not None or other is kernel or other.platform != kernel.platform:
        return False
    return other.scratch(operands) < kernel.scratch(operands)


def _at_peak(now: Deployment) -> Refused:
    """Against each replaceable kernel with scratch that stands at the peak, a sentence."""
    graph, placed, peak = now.bound, now.placed, now.peak
    replaceable = {
        b.call.node.name
        for b in graph.nodes
        if b.kernel is not None and any(_replaces(c, b.kernel, graph.operands(b)) for c in b.candidates)
    }
    highest = [r for r in placed.regions if placed.align >= peak - (r.offset + r.size) >= 0]
    refused = Refused()
    for instruction in placed.plan.instructions:
        if not instruction.scratch_bytes or instruction.kernel.tileable or instruction.name not in replaceable:
            continue
        if any(r.first <= instruction.index <= r.last for r in highest):
            why = f"its {instruction.scratch_bytes} bytes of scratch stand at the peak of {peak} bytes"
            refused[instruction.name, instruction.kernel.name] = Refusal(why)
    return refused
