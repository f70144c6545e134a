"""The search for one kernel per node: conflict-directed backjumping that remembers which layouts cannot be.

Choices are made in topological order, each by the first rule whose demands on operand layouts can be met. Where none
can, the layouts that stood against every rule are a conflict: whatever else is chosen, these cannot be together. It is
remembered, and the search goes back to the latest choice that gave one of them. A layout that follows an operand's
passes the blame on to that operand. So a binding is found exactly where there is one, the first in order of
preference; and as conflicts are about layouts, of which there are few, chains cost no more than their length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.binding.graph import Candidate
from tilewright.binding.layouts import Rule, demanded, grounds_of_demand, grounds_of_result, resulting, runtime_operands
from tilewright.layout import Layout
from tilewright.ops.operator import Call

Copied = Callable[[str], bool]
"""True for a tensor that a Relayout kernel takes."""


@dataclass(frozen=True)
class Choice:
    """What takes part in the search: a node, a view, or an output of the network, which is read and gives nothing.

    `rules` are the different layout rules of the kernels that accept the node, that of the preferred kernel first:
    further kernels of a rule could do no more. `tried` are all kernels, those that accept it first.
    """

    call: Call
    rules: tuple[Rule, ...]
    tried: tuple[Candidate, ...] = ()
    is_output: bool = False


@dataclass(frozen=True)
class Conflict:
    """Layouts (tensor, layout) that no rules of the `members`, places of choices, permit together; where there are
    no layouts, nothing is left to choose. All other choices may be free."""

    layouts: frozenset[tuple[str, Layout]]
    members: frozenset[int]


@dataclass(frozen=True)
class Found:
    """The layout of every tensor, and the rule that every choice has taken."""

    layouts: Mapping[str, Layout]
    taken: tuple[Rule, ...]


def search(choices: Sequence[Choice], given: Mapping[str, Layout], copied: Copied) -> Found | Conflict:
    """The first rules in order of preference that go together, or why there are none.

    `given` are the layouts of the network's inputs. What neither is given nor made by a choice is free.
    """
    return _Search(choices, given, copied).run()


@dataclass
class _State:
    """Of one choice: the rule that it has taken, and what stands against those before it."""

    taken: int = -1
    layouts: set[tuple[str, Layout]] = field(default_factory=set)
    members: set[int] = field(default_factory=set)

    def blame(self, conflict: Conflict) -> None:
        """Add what stands against the rule that is taken."""
        self.layouts |= conflict.layouts
        self.members |= conflict.members


class _Search:
    def __init__(self, choices: Sequence[Choice], given: Mapping[str, Layout], copied: Copied) -> None:
        self.choices, self.copied = choices, copied
        self.layouts = dict(given)
        self.maker = {tensor.name: at for at, choice in enumerate(choices) for tensor in choice.call.outputs}
        self.states = [_State() for _ in choices]
        self.learned: dict[int, list[Conflict]] = defaultdict(list)

    def run(self) -> Found | Conflict:
        """Decide one choice after the other."""
        at = 0
        while at < len(self.choices):
            if self._advance(at):
                at += 1
                continue
            state = self.states[at]
            conflict = Conflict(frozenset(state.layouts), frozenset(state.members | {at}))
            if not conflict.layouts:
                return conflict
            back = max(self.maker[name] for name, _ in conflict.layouts)
            self.learned[back].append(conflict)
            self.states[back].blame(self._before(back, conflict))
            self.states[back + 1 : at + 1] = [_State() for _ in range(back, at)]
            at = back
        rules = tuple(choice.rules[state.taken] for choice, state in zip(self.choices, self.states, strict=True))
        return Found(self.layouts, rules)

    def _advance(self, at: int) -> bool:
        """Take the next rule that nothing known stands against."""
        choice, state = self.choices[at], self.states[at]
        while state.taken + 1 < len(choice.rules):
            state.taken += 1
            conflict = self._take(at)
            if conflict is None:
                return True
            state.blame(conflict)
        return False

    def _take(self, at: int) -> Conflict | None:
        """Give the results the layouts of the rule that is taken, or say what stands against it."""
        call, rule = self.choices[at].call, self._rule(at)
        near = {t.name: self.layouts[t.name] for _, t in runtime_operands(call) if t.name in self.layouts}
        moved = demanded(rule, call, near)
        stuck = [self._made(grounds_of_demand(rule, call, name)) for name in moved if not self.copied(name)]
        if stuck:
            return Conflict(min(stuck, key=self._latest), frozenset())
        for tensor in call.outputs:
            self.layouts.pop(tensor.name, None)
        self.layouts.update(resulting(rule, call, {**near, **moved}))
        for conflict in self.learned[at]:
            if all(self.layouts.get(name) == layout for name, layout in conflict.layouts):
                return self._before(at, conflict)
        return None

    def _rule(self, at: int) -> Rule:
        return self.choices[at].rules[self.states[at].taken]

    def _made(self, names: frozenset[str]) -> frozenset[tuple[str, Layout]]:
        """The layouts of these tensors, but for those that are free and those that no choice can change."""
        return frozenset((name, self.layouts[name]) for name in names & self.maker.keys() & self.layouts.keys())

    def _latest(self, layouts: frozenset[tuple[str, Layout]]) -> int:
        return max((self.maker[name] for name, _ in layouts), default=-1)

    def _before(self, at: int, conflict: Conflict) -> Conflict:
        """The conflict in terms of layouts that were there before choice `at` took its rule."""
        call, rule = self.choices[at].call, self._rule(at)
        own = {tensor.name: tensor for tensor in call.outputs}
        layouts = {pair for pair in conflict.layouts if pair[0] not in own}
        for name in own.keys() & {name for name, _ in conflict.layouts}:
            layouts |= self._made(grounds_of_result(rule, call, own[name]))
        return Conflict(frozenset(layouts), conflict.members)
