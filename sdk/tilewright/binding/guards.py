"""What only one outcome of a condition needs: guards of steps, and of the nodes of a bound graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tilewright.binding.graph import BoundGraph
from tilewright.ops.operator import Call

Key = TypeVar("Key", int, str)
"""What names a tensor: the slot that its bytes are in, or its name."""


@dataclass(frozen=True, order=True)
class Guard(Generic[Key]):
    """A step is needed only where the one element of the tensor is `value`."""

    slot: Key
    value: bool


@dataclass(frozen=True)
class Step(Generic[Key]):
    """What a step reads, each with the guard under which it is looked at, and what it writes.

    One that is `bound` to others runs always.
    """

    reads: tuple[tuple[Key, Guard[Key] | None], ...]
    writes: tuple[Key, ...]
    bound: bool = False


def guards_of_steps(steps: Sequence[Step[Key]], results: Iterable[Key]) -> tuple[frozenset[Guard[Key]], ...]:
    """The guards of every step: what all readers of its results have in common, and is known when it runs.

    `results` are tensors that are needed behind the last step.
    """
    nothing = frozenset[Guard[Key]]()
    needed = dict.fromkeys(results, nothing)
    made = {name: at for at, step in enumerate(steps) for name in step.writes}
    guards = list[frozenset[Guard[Key]]]()
    for at, step in reversed(list(enumerate(steps))):
        uses = [needed[name] for name in step.writes if name in needed]
        common = uses[0].intersection(*uses[1:]) if uses and not step.bound else nothing
        own = frozenset(guard for guard in common if made.get(guard.slot, -1) < at)
        guards.append(own)
        for name, guard in step.reads:
            use = own if guard is None else own | {guard}
            needed[name] = needed[name] & use if name in needed else use
    return tuple(reversed(guards))


def guards_of_nodes(graph: BoundGraph, roots: Mapping[str, str]) -> dict[str, frozenset[Guard[str]]]:
    """The guards of every node that computes; `roots` are tensors by the views that show their bytes."""
    computing = [bound.call for bound in graph.nodes if bound.kernel is not None]
    steps = []
    for call in computing:
        read = [roots.get(name, name) for name in call.node.inputs]
        sides = [Guard(read[0], at == 1) if at and chooses(call) else None for at in range(len(read))]
        steps.append(Step(tuple(zip(read, sides, strict=True)), call.node.outputs))
    results = [*graph.model.outputs, *(state.present for state in graph.model.states)]
    guards = guards_of_steps(steps, [roots.get(name, name) for name in results])
    return {call.node.name: own for call, own in zip(computing, guards, strict=True)}


def chooses(call: Call) -> bool:
    """True where operand 0 is one condition that says which of the other two is the result."""
    return call.node.op == "Where" and not call.node.domain and not call.chain and call.tensor(0).elements == 1


def contradict(some: frozenset[Guard[Key]], others: frozenset[Guard[Key]]) -> bool:
    """True where no call meets both: one asks of a condition what the other excludes."""
    return any(Guard(guard.slot, not guard.value) in others for guard in some)
