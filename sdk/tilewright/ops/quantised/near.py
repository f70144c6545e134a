"""Add, Sub and Mul on codes where no factors are right for every pair: a form that is never above, and a list.

    code = clamp(((a * left + b * right + addend) >> shift) + listed, low, high)

The addend is taken so that no pair is above its code in ONNX's float32 arithmetic. Those that are one below are listed.
Their words all have fractions next to the end, so that one comparison tells most pairs that they are not in the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tilewright.model import Array, Clamp
from tilewright.ops.operator import Call, Operator
from tilewright.ops.quantised.add import WORDS, PairForm, PairKey, PairProblem, factored, pair_key
from tilewright.ops.requantize import Integers

_MOST_LISTED = 256
_MOST_LOOKED_UP = 0.02
"""The part of all pairs that may have to be looked up."""


@dataclass(frozen=True)
class NearForm:
    """The form; the fraction of a word from which on a pair may be listed; the pairs, bytes of a before those of b."""

    form: PairForm
    window: int
    listed: tuple[int, ...]

    def apply(self, a: Array, b: Array) -> Integers:
        """What the C code computes."""
        word = self.form.word(a, b)
        pairs = ((a.astype(np.int64) & 255) << 8) | (b.astype(np.int64) & 255)
        more = ((word & ((1 << self.form.shift) - 1)) >= self.window) & np.isin(pairs, self.listed)
        codes: Integers = np.clip((word >> self.form.shift) + more, self.form.low, self.form.high)
        return codes


def near_form(operator: Operator, call: Call) -> NearForm | None:
    """The form and list of an Add, Sub or Mul of two quantised tensors of at most eight bits; None where it is long."""
    if not factored(call):
        return None
    left, right, result = (pair_key(tensor) for tensor in (call.tensor(0), call.tensor(1), call.outputs[0]))
    return _remembered(operator, call.node.op, call.node.clamp, left, right, result)


@lru_cache(maxsize=256)
def _remembered(
    operator: Operator, op: str, clamp: Clamp | None, left: PairKey, right: PairKey, result: PairKey
) -> NearForm | None:
    problem = PairProblem.of_keys(operator, op, clamp, left, right, result)
    a, b = (np.arange(dtype.range[0], dtype.range[1] + 1, dtype=np.int64) for dtype, _ in (left, right))
    for bits, limit in WORDS:
        form = problem.below(bits, limit)
        if form is not None and (listing := _listing(form, a[:, None], b[None, :], problem.codes)) is not None:
            return listing
    return None


def _listing(form: PairForm, a: Integers, b: Integers, codes: Integers) -> NearForm | None:
    """The list of a form; None where it is long, or where a pair is off by more than one."""
    codes = codes.reshape(a.size, b.size)
    word = form.word(a, b)
    above = codes - form.apply(a, b)
    places = np.nonzero(above)
    if places[0].size > _MOST_LISTED or above.min() < 0 or above.max() > 1:
        return None
    fraction = word & ((1 << form.shift) - 1)
    window = int(fraction[places].min(initial=(1 << form.shift) - 1))
    first, second = (np.broadcast_to(part, codes.shape)[places] & 255 for part in (a, b))
    listing = NearForm(form, window, tuple(sorted((first << 8 | second).tolist())))
    looked_up = float((fraction >= window).mean())
    return listing if looked_up <= _MOST_LOOKED_UP and np.array_equal(listing.apply(a, b), codes) else None
