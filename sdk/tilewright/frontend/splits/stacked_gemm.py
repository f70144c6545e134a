"""Gemm of stacks of matrices, which the standard does not know and Deeploy's exporters write."""

from __future__ import annotations

from tilewright.frontend.splits.parts import Parts


def _stacked(parts: Parts) -> None:
    ranks = len(parts.shape(0)), len(parts.shape(1))
    if max(ranks) < 3 or min(ranks) < 2:
        return
    operands = []
    for index, (name, rank) in enumerate(zip(("transA", "transB"), ranks, strict=True)):
        turned = (*range(rank - 2), rank - 1, rank - 2)
        operand = parts.input(index)
        operands.append(parts.op("Transpose", operand, perm=turned) if parts.whole(name, 0) else operand)
    alpha, beta = parts.number("alpha", 1.0), parts.number("beta", 1.0)
    result = parts.op("MatMul", *operands)
    if alpha != 1:
        result = parts.op("Mul", result, parts.like(0, alpha))
    if not parts.input(2):
        parts.op("Identity", result, into=parts.output(0))
        return
    bias = parts.input(2) if beta == 1 else parts.op("Mul", parts.input(2), parts.like(2, beta))
    parts.op("Add", result, bias, into=parts.output(0))


SPLITS = {("", "Gemm"): _stacked}
