"""Bounds at the vectors for sums in the order that kernels declare, held against what the target gave there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.evidence.error_bounds.compose import Analysis, Orders, analyse, at_vector, output_bound
from tilewright.model import Array, Model

FUSED = {False: "products rounded before they are added", True: "products fused with sums"}

NO_ORDER = "the target gave what no sum in the order of the kernels gives, with fused products or without"


class Replays:
    """A network computed again at every vector, once with fused products and once without."""

    def __init__(
        self, model: Model, vectors: Sequence[Mapping[str, Array]], declared: Mapping[str, float],
        orders: Orders,
    ) -> None:  # fmt: skip
        self.analyses: Mapping[bool, Sequence[Analysis]] = {
            fused: [analyse(model, at_vector(model, v), declared, orders=orders, fused=fused) for v in vectors]
            for fused in FUSED
        }

    def bound(self, name: str, told: str, given: Sequence[Mapping[str, Array]]) -> tuple[float | None, str]:
        """The bound of an output over all vectors, and a sentence on what it rests on. There is none where the target
        gave something that neither way of rounding products gives."""
        bounds = dict[bool, float]()
        for fused, analyses in self.analyses.items():
            within = [self._at(a, name, one[told]) for a, one in zip(analyses, given, strict=True) if told in one]
            if within and None not in within:
                bounds[fused] = max(bound for bound in within if bound is not None)
        if not bounds:
            return None, NO_ORDER
        every = all(name in a.bits for fused in bounds for a in self.analyses[fused])
        ways = " or ".join(FUSED[fused] for fused in bounds)
        held = "equals what the target gave bit for bit" if every else "contains what the target gave"
        return max(bounds.values()), f"{ways}: {held} at every vector"

    @staticmethod
    def _at(analysis: Analysis, name: str, given: Array) -> float | None:
        """The bound of the largest element at one vector; None where what was given lies outside."""
        if name not in analysis.known:
            return None
        bound, known = output_bound(analysis, name).certain, analysis.known[name]
        equal = name not in analysis.bits or np.array_equal(analysis.bits[name], given)
        unknown = (known.high - known.low) / 2  # where the exact value lies around the centre
        inside = bool((np.abs(given.astype(np.float64) - known.centre) <= bound + unknown).all())
        return float(bound.max(initial=0.0)) if equal and inside else None
