"""Nodes of trees that ask whether a value is a member of a set: one node after the other asks for each member."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tilewright.frontend.splits.trees import Forest
from tilewright.ops.tree_ensemble import MISSING, TESTS

MEMBER = 6
EQUAL, UNEQUAL = TESTS.index("=="), TESTS.index("!=")


def sets_of(values: Sequence[float]) -> list[list[float]]:
    """The members of each set in a list in which a NaN ends one."""
    sets: list[list[float]] = [[]]
    for value in values:
        if math.isnan(value):
            sets.append([])
        else:
            sets[-1].append(value)
    return sets[:-1] if not sets[-1] else sets


def without_sets(forest: Forest, sets: Mapping[int, Sequence[float]]) -> Forest:
    """The forest with nodes of one number: those of a set lead on where they differ from it, all others to one place.

    Where NaN passes, the first node asks for equality, as only such a test can pass it.
    """
    features, splits, modes = list(forest.features), list(forest.splits), list(forest.modes)
    passed, failed = list(forest.passed), list(forest.failed)
    for node, members in sets.items():
        within, outside, at = passed[node], failed[node], node
        missing = modes[node] >= MISSING
        for place, member in enumerate(members or [math.nan]):
            if place:
                at = len(features)
                features.append(features[node])
                for each in (splits, modes, passed, failed):
                    each.append(0)
            first, last = place == 0, place >= len(members) - 1
            following = outside if last else len(features)
            splits[at] = member
            if first and missing:
                modes[at], passed[at], failed[at] = EQUAL + MISSING, within, following
            else:
                modes[at], passed[at], failed[at] = UNEQUAL, following, within
    shared = frozenset(forest.passed[node] for node in sets)
    return replace(forest, features=features, splits=splits, modes=modes, passed=passed, failed=failed, shared=shared)
