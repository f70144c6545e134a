"""Operators that move values and compute none: their results are elements of their operands, or constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilewright.evidence.error_bounds.value import Known, NoBound, Step
from tilewright.model import Array, DType
from tilewright.ops.codes import Moves
from tilewright.ops.operator import Call, Kind

MOST = 1 << 24
"""Elements that a float32 numbers exactly."""


def moves(call: Call) -> bool:
    """True for a call whose results are elements of its operands as they are."""
    operator = call.operator
    if operator is None or len(call.outputs) != 1:
        return False
    return operator.kind is Kind.VIEW or (isinstance(call.codes, Moves) and not call.codes.compares)


def move(call: Call, operands: Sequence[Known], declared: float) -> Step | NoBound:
    """Where every result comes from is read off the operator's own meaning, on numbers of places."""
    from tilewright.plan.execute import evaluate_call

    sizes = [0 if index in call.constants else known.low.size for index, known in enumerate(operands)]
    if sum(sizes) >= MOST or any(t is None for t in call.inputs):
        return NoBound("its places are too many to be numbered, or an operand is left out")
    data = call.codes.data_of(call.node) if isinstance(call.codes, Moves) else (0,)
    numbered, other, base = list[Array](), list[Array](), 0
    for index, known in enumerate(operands):
        if index in call.constants and index not in data:
            value = call.constants[index]
            numbered.append(value)
            other.append(value)
            continue
        if index not in data or index in call.constants:
            return NoBound("it moves constants among values, or takes places that are computed at run time")
        places = np.arange(known.low.size, dtype=np.float32).reshape(known.low.shape) + np.float32(base)
        numbered.append(places)
        other.append(places + np.float32(1))
        base += known.low.size
    plain = replace(call, node=replace(call.node, clamp=None))
    if any(t is not None and i in data and t.dtype is not DType.F32 for i, t in enumerate(call.inputs)):
        return NoBound("its elements are no float32")
    first, second = (evaluate_call(plain, arrays)[0] for arrays in (numbered, other))
    if max(data) > min(data) and len(call.constants):
        return NoBound("it moves constants among values")
    moved = first != second
    places = np.where(moved, first, 0).astype(np.int64)
    flat = {name: np.concatenate([getattr(operands[i], name).reshape(-1) for i in data]) for name in ("low", "high")}
    low, high = (np.where(moved, flat[name][places], first) for name in ("low", "high"))
    nothing = np.zeros_like(low)

    def reach(errors: Sequence[Array]) -> Array:
        taken: Array = ahead([error[None] for error in errors])[0]
        return taken

    def ahead(rows: Sequence[Array]) -> Array:
        whole = np.concatenate([rows[i].reshape(rows[i].shape[0], -1) for i in data], axis=1)
        taken: Array = np.where(moved, whole[:, places], 0.0)
        return taken

    def back(rows: Array) -> Sequence[Array | None]:
        total = np.zeros((rows.shape[0], base))
        for row in range(rows.shape[0]):
            np.add.at(total[row], places[moved], rows[row][moved])
        parts, at = list[Array | None](), 0
        for index, known in enumerate(operands):
            if index not in data:
                parts.append(None)
                continue
            parts.append(total[:, at : at + known.low.size].reshape(-1, *known.low.shape))
            at += known.low.size
        return parts

    return Step(
        low, high, [known.error for known in operands], reach, nothing, nothing, nothing, ahead, back,
        "no rounding; values are moved",
    )  # fmt: skip
