"""Random trees as the tables of TreeEnsemble."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tilewright.conformance.draws import Draw, Drawn, Sketch, data
from tilewright.ops.tree_ensemble import AGGREGATES, MISSING, TESTS


@dataclass
class _Tables:
    """Nodes and entries of leaves as they are drawn."""

    features: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def grow(self, r: Draw, width: int, targets: int, levels: int) -> int:
        """Draw a subtree of at most so many levels; its root's number."""
        node, leaf = len(self.features), levels == 0 or r.random() < 0.2
        self.features.append(-1 if leaf else r.randrange(width))
        self.splits.append(0.0 if leaf else r.uniform(-1.5, 1.5))
        self.others.append(len(self.targets))
        if leaf:
            wanted = r.sample(range(targets), r.randint(1, targets))
            self.targets += [*(-1 - target for target in wanted[:-1]), wanted[-1]]
            self.weights += [r.uniform(-1, 1) for _ in wanted]
        else:
            self.grow(r, width, targets, levels - 1)
            self.others[node] = self.grow(r, width, targets, levels - 1)
        return node


def trees(r: Draw, op: str) -> Sketch:
    """Some trees over the features of some rows, with tests of one kind or of all."""
    width, targets, tables = r.randint(1, 5), r.randint(1, 3), _Tables()
    roots = [tables.grow(r, width, targets, r.randint(0, 5)) for _ in range(r.randint(1, 6))]
    indices = [roots, tables.features, tables.others, tables.targets]
    kind = r.choice((np.int16, np.int32))
    root, feature, other, target = (Drawn(np.asarray(values, kind), "fixed", True) for values in indices)
    split, weight = (Drawn(np.asarray(values), "data", True) for values in (tables.splits, tables.weights))
    modes = None
    if r.random() < 0.5:
        tests = [r.randrange(len(TESTS)) + r.choice((0, MISSING)) for _ in tables.features]
        modes = Drawn(np.asarray(tests, np.uint8), "fixed", True)
    operands = (data(r, (r.randint(1, 5), width)), root, feature, split, other, target, weight, modes)
    return Sketch(op, operands, {"n_targets": targets, "aggregate": r.choice(AGGREGATES)})
