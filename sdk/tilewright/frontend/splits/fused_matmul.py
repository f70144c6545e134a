"""FusedMatMul (TransposeMatMul before): operands turned, their product, a factor."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts
from tilewright.frontend.splits.spelling import MICROSOFT


def _turned(parts: Parts, index: int, suffix: str) -> str:
    """The operand as a stack of matrices; the first axis may stand for the rows, before those of the stack."""
    rank = len(parts.shape(index))
    order = list(range(rank))
    if rank < 2:
        return parts.input(index)
    if parts.whole(f"transBatch{suffix}", 0):
        order = [*order[1:-1], 0, order[-1]]
    if parts.whole(f"trans{suffix}", 0):
        order[-2:] = order[-1], order[-2]
    return (
        parts.input(index) if order == sorted(order) else parts.op("Transpose", parts.input(index), perm=tuple(order))
    )


def _fused(parts: Parts) -> None:
    alpha = parts.number("alpha", 1.0)
    left, right = _turned(parts, 0, "A"), _turned(parts, 1, "B")
    if alpha == 1:
        parts.op("MatMul", left, right, into=parts.output(0))
    elif parts.value(1) is not None:  # the factor costs nothing in a constant
        parts.op("MatMul", left, parts.op("Mul", right, parts.like(1, alpha)), into=parts.output(0))
    else:
        parts.op("Mul", parts.op("MatMul", left, right), parts.like(0, alpha), into=parts.output(0))


SPLITS = {(MICROSOFT, "FusedMatMul"): _fused, (MICROSOFT, "TransposeMatMul"): _fused}
