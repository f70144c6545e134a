"""Why a node does not fit the compute level: the smallest set of rules that conflict, as sentences, and what would do.

A rule belongs to the set if, with it alone taken away, some tile would fit; rules are taken away one after the other
until none can be spared, so the set is minimal. Sizes come from the same enumeration that tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.errors import DoesNotFit
from tilewright.platform import Rule
from tilewright.tiling.front import smallest
from tilewright.tiling.hierarchy import Hierarchy
from tilewright.tiling.stages import Work
from tilewright.tiling.subject import subject_of


@dataclass(frozen=True)
class Conflict:
    """`rules` that together need too much; `smallest` are the bytes with all of them kept, `without` with none."""

    node: str
    rules: tuple[Rule, ...]
    smallest: int
    without: int


def conflict(work: Work, levels: Hierarchy) -> Conflict | None:
    """The conflict of a node, None where it fits."""
    rules = (*work.rules, *_own_rules(work))
    needed = _smallest(work, levels, rules)
    if needed <= levels.capacity:
        return None
    demands = [rule for rule in rules if rule.kind in ("whole", "multiple")]
    for rule in tuple(demands):
        fewer = [other for other in demands if other is not rule]
        if _smallest(work, levels, fewer) > levels.capacity:
            demands = fewer
    return Conflict(work.name, tuple(demands), needed, _smallest(work, levels, ()))


def does_not_fit(works: Sequence[Work], levels: Hierarchy) -> DoesNotFit:
    """The error for a network of which some nodes do not fit; it names the one that needs most."""
    conflicts = [c for c in (conflict(work, levels) for work in works) if c is not None]
    worst = max(conflicts, key=lambda c: c.smallest)
    name = levels.compute.name
    others = f" ({len(conflicts) - 1} other nodes do not fit either)" if len(conflicts) > 1 else ""
    return DoesNotFit(
        f"node '{worst.node}' does not fit {levels.capacity} bytes of '{name}'",
        why=_sentence(worst) + others,
        fix=f"give '{name}' at least {worst.smallest} bytes",
        node=worst.node,
        smallest={name: worst.smallest},
    )


def home_does_not_fit(levels: Hierarchy, needed: int, node: str, alive: str) -> DoesNotFit:
    """The error for a home level that is too small for what is alive at one node."""
    return DoesNotFit(
        f"'{levels.home.name}' has {levels.home_bytes} bytes",
        why=f"{needed} bytes are needed in it; at node '{node}' are alive: {alive}",
        fix=f"give '{levels.home.name}' at least that",
        node=node,
        smallest={levels.home.name: needed},
    )


def _sentence(conflict: Conflict) -> str:
    """The rules with their reasons, and what they need."""
    if not conflict.rules:
        return f"even its smallest tile takes {conflict.smallest} bytes"
    parts = [_spoken(rule) for rule in conflict.rules]
    return f"its smallest tile takes {conflict.smallest} bytes, because " + ", and ".join(parts)


def _spoken(rule: Rule) -> str:
    if rule.kind == "whole":
        return f"loop '{rule.loop}' is never cut ({rule.why})"
    return f"tiles along '{rule.loop}' are multiples of {rule.value} ({rule.why})"


def _own_rules(work: Work) -> list[Rule]:
    """What the operator itself demands: loops that move something but may not be cut."""
    ruled = {rule.loop for rule in work.rules if rule.kind == "whole"}
    moved = {loop for operand in work.stage.operands for loop in operand.loops}
    results = {loop for o in work.stage.operands if o.kind == "output" for loop in o.loops}
    rules = []
    for loop, extent in work.stage.extents.items():
        if extent == 1 or loop in ruled or loop in work.cuttable or loop not in moved or loop.endswith(".part"):
            continue
        why = "a sum over it ends inside one tile" if loop not in results else "the operator needs all of it at once"
        rules.append(Rule("whole", loop, 0, why))
    return rules


def _smallest(work: Work, levels: Hierarchy, rules: Sequence[Rule]) -> int:
    """Fewest bytes that a tile takes under these rules alone."""
    whole = {rule.loop for rule in rules if rule.kind == "whole"}
    free = tuple(n for n, extent in work.stage.extents.items() if extent > 1 and n not in whole and _movable(work, n))
    subject = subject_of([work], levels)
    assert subject is not None
    step = {rule.loop: rule.value for rule in rules if rule.kind == "multiple"}
    return smallest(replace(subject, cuttable=free, multiples=step, wishes={}))


def _movable(work: Work, loop: str) -> bool:
    """True for a loop that an operand is moved by; the parts of constants are no loops of the operator."""
    return not loop.endswith(".part") and any(loop in o.loops for o in work.stage.operands)
