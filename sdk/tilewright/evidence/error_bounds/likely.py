"""The likely bound: roundings as independent errors of mean zero, in place of all of them conspiring.

Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis (SIAM J. Sci. Comput. 41, 2019): a sum of such
errors, each of at most b_k, exceeds t with a probability of at most 2 exp(-t^2 / (2 sum b_k^2)) (Azuma, Hoeffding). The
sum of squares is that of a linear map; random signs through it estimate it for all elements of the network at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tilewright.evidence.error_bounds.compose import NONE, Orders, calls_of
from tilewright.evidence.error_bounds.elementwise import limited
from tilewright.evidence.error_bounds.in_order import in_order
from tilewright.evidence.error_bounds.rules import rule_for
from tilewright.evidence.error_bounds.value import Known, NoBound, Step, point
from tilewright.model import Array, Model

CHANCE = 1e-9
"""How often the bound of any element of the network may fail, if roundings are independent and of mean zero."""
SAMPLES = 256
SHARE = 0.45
"""256 normal samples estimate less than this share of a variance with a probability of 2e-14 (Chernoff, chi square)."""


class _Errors:
    """Per tensor: samples of its random error, and a bound of what is not random."""

    def __init__(self, elements: int) -> None:
        self.generator = np.random.default_rng(1)
        self.factor = math.sqrt(2 * math.log(2 * max(elements, 1) / CHANCE))
        self.random: dict[str, Array] = {}
        self.fixed: dict[str, Array] = {}

    def of(self, name: str, known: Known) -> tuple[Array, Array]:
        """Samples and the fixed part of a tensor; of a constant or an input there are none."""
        if name in self.random:
            return self.random[name], self.fixed[name]
        return np.zeros((SAMPLES, *known.low.shape)), np.zeros(known.low.shape)

    def bound(self, name: str, known: Known) -> Known:
        """The tensor with its likely error."""
        if name not in self.random:
            return known
        variance = np.mean(self.random[name] ** 2, axis=0) / SHARE
        return replace(known, error=self.factor * np.sqrt(variance) + self.fixed[name])

    def take(self, step: Step, reads: list[tuple[str, Known]], makes: str) -> None:
        """What a step makes of the errors of its operands."""
        pairs = [self.of(name, known) for name, known in reads]
        own = self.generator.standard_normal((SAMPLES, *step.low.shape)) * step.spread
        self.random[makes] = step.ahead([random for random, _ in pairs]) + own
        self.fixed[makes] = step.reach([fixed for _, fixed in pairs]) + step.remainder


def likely_errors(
    model: Model, inputs: Mapping[str, Known], declared: Mapping[str, float], orders: Orders = NONE
) -> dict[str, Array]:  # fmt: skip
    """The likely bound of every element of every output that has a rule for all that leads to it."""
    errors = _Errors(sum(tensor.elements for tensor in model.tensors.values()))
    known = dict(inputs)
    for call in calls_of(model):
        node, rule = call.node, rule_for(call)
        names = [name for name in node.inputs if name]
        if isinstance(rule, str) or any(name not in known and name not in model.constants for name in names):
            continue
        reads = [(name, known[name] if name in known else point(model.constants[name])) for name in names]
        step = rule(call, [value for _, value in reads], declared.get(node.name, 0.0))
        if isinstance(step, NoBound):
            continue
        if node.name in orders:
            step = in_order(call, reads[0][1], step, orders[node.name])
        result = next(name for name in node.outputs if name)
        errors.take(step, reads, result)
        value = errors.bound(result, Known(step.low, step.high, step.low))
        if node.clamp is not None:
            after = limited(value, node.clamp.low, node.clamp.high)
            errors.take(after, [(result, value)], result)
            value = errors.bound(result, Known(after.low, after.high, after.low))
        known[result] = value
    return {name: known[name].error for name in model.outputs if name in known}
