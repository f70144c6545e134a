"""Trees of ai.onnx.ml as the tables of our TreeEnsemble: every node behind the one whose test leads to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.frontend.splits.parts import Parts
from tilewright.model import DType
from tilewright.ops.tree_ensemble import DOMAIN, MISSING

NARROW = 1 << 15
Entries = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Forest:
    """Nodes by number: what each tests and where it leads, or the entries (target, weight) of a leaf.

    Several tests that fail may lead to a node that is `shared`.
    """

    features: Sequence[int]
    splits: Sequence[float]
    modes: Sequence[int]
    passed: Sequence[int]
    failed: Sequence[int]
    entries: Mapping[int, Entries]
    roots: Sequence[int]
    shared: frozenset[int] = frozenset()


@dataclass
class _Tables:
    roots: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def leaf(self, entries: Entries) -> None:
        """A leaf with its entries, at least one."""
        present = entries or [(0, 0.0)]
        self.features.append(-1)
        self.splits.append(0.0)
        self.modes.append(0)
        self.others.append(len(self.targets))
        last = len(present) - 1
        self.targets += [target if place == last else -1 - target for place, (target, _) in enumerate(present)]
        self.weights += [weight for _, weight in present]


def ensemble(parts: Parts, forest: Forest, n_targets: int, aggregate: str) -> str:
    """The scores of the forest for the first operand, as [rows, targets]."""
    dtype = parts.tensor(0).dtype
    x = parts.input(0)
    if len(parts.shape(0)) == 1:
        x = parts.reshape(x, (1, parts.shape(0)[0]))
    if dtype is not DType.F64:
        x, dtype = x if dtype is DType.F32 else parts.op("Cast", x, to=1), DType.F32
    tables, width = _laid(parts, forest), parts.shape(0)[-1]
    if max(tables.features) >= width:
        raise parts.invalid(f"its trees read feature {max(tables.features)} of rows of {width}")
    if not all(0 <= (t if t >= 0 else -1 - t) < n_targets for t in tables.targets):
        raise parts.invalid(f"its leaves write beside its {n_targets} targets")
    splits = np.asarray(tables.splits, dtype.numpy)
    below = np.asarray(tables.modes) % MISSING == 1
    modes = np.where(below, np.asarray(tables.modes) - 1, tables.modes)  # `<` is `<=` of the next lower number
    splits = np.where(below, np.nextafter(splits, np.asarray(-np.inf, splits.dtype)), splits)
    names = [
        _narrow(parts, tables.roots), _narrow(parts, tables.features), parts.constant(splits, dtype),
        _narrow(parts, tables.others), _narrow(parts, tables.targets), parts.constant(tables.weights, dtype),
    ]  # fmt: skip
    if modes.any():
        names.append(parts.constant(modes, DType.U8))
    return parts.op("TreeEnsemble", x, *names, domain=DOMAIN, n_targets=n_targets, aggregate=aggregate)


def _narrow(parts: Parts, values: Sequence[int]) -> str:
    small = -NARROW <= min(values) and max(values) < NARROW
    return parts.constant(values, DType.I16 if small else DType.I32)


def _laid(parts: Parts, forest: Forest) -> _Tables:
    """Every tree from its root on, what passes first. ModelError where a node is missing or stands in two places."""
    tables, seen, places = _Tables(), set[int](), dict[int, int]()
    for root in forest.roots:
        tables.roots.append(len(tables.features))
        work: list[tuple[int, int]] = [(root, -1)]
        while work:
            node, caller = work.pop()
            if caller >= 0:
                tables.others[caller] = places.get(node, len(tables.features))
                if node in places:
                    continue
            if node in forest.shared:  # what passes a test lies right behind it, so that a leaf may stand twice
                places[node] = len(tables.features)
            if node in forest.entries:
                tables.leaf(forest.entries[node])
                continue
            if node in seen or not 0 <= node < len(forest.features):
                raise parts.invalid(f"its node {node} does not exist, or is reached twice")
            seen.add(node)
            work += [(forest.failed[node], len(tables.features)), (forest.passed[node], -1)]
            tables.features.append(forest.features[node])
            tables.splits.append(forest.splits[node])
            tables.modes.append(forest.modes[node])
            tables.others.append(0)
            if forest.features[node] < 0:
                raise parts.invalid(f"its node {node} reads feature {forest.features[node]}")
    if not tables.roots or len(seen) != len(forest.features) - len(forest.entries):
        raise parts.invalid("it has no tree, or nodes that no root leads to")
    return tables
