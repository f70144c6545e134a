"""Drawn calls of every operator that gradients may pass: shapes, attributes and operands as conformance draws them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from gradient.networks import gradients, network_of, weighed_sum
from tilewright.conformance.families import sketch_of
from tilewright.conformance.trials import trial
from tilewright.errors import ModelError, TilewrightError, UnsupportedError
from tilewright.gradient.network import Network
from tilewright.model import Array
from tilewright.ops.operator import Operator
from tilewright.ops.registry import all_operators

DOMAINS = {
    "Acos": (-0.9, 0.9), "Acosh": (1.2, 3.0), "Asin": (-0.9, 0.9), "Atanh": (-0.9, 0.9), "Div": (0.5, 2.0),
    "Log": (0.2, 2.0), "Pow": (0.5, 2.0), "Reciprocal": (0.3, 2.0), "ReduceLogSum": (0.3, 2.0), "Sqrt": (0.2, 2.0),
    "Tan": (-1.0, 1.0),
}  # fmt: skip
"""Where an operator is defined, and not so steep that a difference says nothing."""
NO_RESULT = frozenset(("Cast", "CastLike", "BitCast"))
"""To a type that cannot tell a difference of a millionth."""
MOST = 400
"""Numbers of all operands: a difference is taken of each."""
_TRIES = 60


@dataclass(frozen=True)
class Drawn:
    """One call as a network of its own, a loss that tells every result apart, and the gradients by name."""

    network: Network
    call: Network
    loss: str
    given: dict[str, Array]
    names: dict[str, str]


def candidates() -> list[Operator]:
    """Operators of the standard that say how they are drawn."""
    return [one for one in all_operators() if one.sketch and not one.domain and one.name not in NO_RESULT]


def has_rule(operator: Operator) -> bool:
    """Whether gradients pass some call; a rule that writes nonsense is one for a test to tell of."""
    try:
        return next(drawn(operator, "f64", 0, 1), None) is not None
    except ModelError:
        return True


def drawn(operator: Operator, token: str, seed: int, count: int) -> Iterator[Drawn]:
    """Up to `count` calls, operands at run time wherever gradients pass then; none where they do not pass at all."""
    r, made = random.Random(f"{seed}/{operator.name}"), 0
    for _ in range(_TRIES):
        one = _one(operator, token, r)
        if one is not None:
            yield one
            made += 1
            if made == count:
                return


def _one(operator: Operator, token: str, r: random.Random) -> Drawn | None:
    try:
        sketch = sketch_of(operator, r)
        arrays = list(trial(sketch, token, r).arrays)
    except TilewrightError:
        return None
    low, high = DOMAINS.get(operator.name, (-2.0, 2.0))
    roles = [one.role if one is not None else "" for one in sketch.operands]
    for index, array in enumerate(arrays):
        if array is not None and array.dtype.kind == "f" and roles[index] != "fixed":
            arrays[index] = np.asarray(low + (array + 2) / 4 * (high - low), array.dtype)
    numbers = [array for array in arrays if array is not None and array.dtype.kind == "f"]
    if sum(array.size for array in numbers) > MOST or any(array is not None and not array.size for array in arrays):
        return None
    constant = [i for i, one in enumerate(sketch.operands) if one is not None and one.constant]
    given = {f"x{index}": array for index, array in enumerate(arrays) if array is not None}
    for fixed in ([i for i in constant if roles[i] == "fixed"], constant):
        network, alone = (network_of(operator.name, arrays, sketch.attributes, fixed, sketch.outputs) for _ in "ab")
        results = [name for name in network.outputs if network.tensor(name).dtype.is_float]
        wanted = [name for name in network.inputs if network.tensor(name).dtype.is_float]
        if not results or not wanted:
            return None
        loss = weighed_sum(network, results)
        try:
            names = gradients(network, loss, wanted)
        except ModelError:
            raise  # a rule has written a node that does not fit
        except UnsupportedError:
            continue
        return Drawn(network, alone, loss, {name: given[name] for name in network.inputs}, names)
    return None
