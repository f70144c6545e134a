"""The gradients of MatMul, Gemm, Conv and ConvTranspose: products again, of the gradient with the other operand."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tilewright.model import Shape
from tilewright.ops.operator import Adjoint


# --------------------------------------------------------------------------------------------------- MatMul, Gemm
def matmul(a: Adjoint, index: int) -> str:
    """`dy @ B^T` and `A^T @ dy`; nothing is turned in memory where the weights are one matrix."""
    left, right, dy = _matrices(a)
    rows, columns = a.shape_of(left), a.shape_of(right)
    if len(columns) == 2:
        flat = (prod(rows[:-1]), rows[-1])
        dy = a.reshape(dy, (flat[0], columns[1]))
        if index == 0:
            return a.reshape(a.op("Gemm", dy, right, transB=1), a.shape(0))
        return a.reshape(a.op("Gemm", a.reshape(left, flat), dy, transA=1), a.shape(1))
    if index == 0:
        return _unbatched(a, a.op("MatMul", dy, _turned(a, right)), rows, 0)
    return _unbatched(a, a.op("MatMul", _turned(a, left), dy), columns, 1)


def _matrices(a: Adjoint) -> tuple[str, str, str]:
    """Both operands and the gradient with at least two axes: a vector is a row on the left, a column on the right."""
    left, right = a.shape(0), a.shape(1)
    whole = list(a.shape_of(a.dy))
    if len(right) == 1:
        whole.append(1)
    if len(left) == 1:
        whole.insert(len(whole) - 1, 1)
    rows = left if len(left) > 1 else (1, *left)
    columns = right if len(right) > 1 else (*right, 1)
    return a.reshape(a.x(0), rows), a.reshape(a.x(1), columns), a.reshape(a.dy, whole)


def _turned(a: Adjoint, name: str) -> str:
    rank = len(a.shape_of(name))
    return a.transpose(name, (*range(rank - 2), rank - 1, rank - 2))


def _unbatched(a: Adjoint, name: str, shape: Shape, index: int) -> str:
    return a.reshape(a.unbroadcast(name, shape), a.shape(index))


def gemm(a: Adjoint, index: int) -> str:
    """Products of the gradient with the other operand, turned as the forward product has them."""
    turned = [bool(a.call.integer("transA", 0)), bool(a.call.integer("transB", 0))]
    alpha, beta = a.call.real("alpha", 1.0), a.call.real("beta", 1.0)
    if index == 2:
        scaled = a.dy if beta == 1 else a.mul(a.dy, a.number(beta))
        return a.unbroadcast(scaled, a.shape(2))
    if index == 0:
        factors = (a.x(1), a.dy, turned[1], True) if turned[0] else (a.dy, a.x(1), False, not turned[1])
    else:
        factors = (a.dy, a.x(0), True, turned[0]) if turned[1] else (a.x(0), a.dy, not turned[0], False)
    left, right, first, second = factors
    return a.op("Gemm", left, right, transA=int(first), transB=int(second), alpha=alpha)


# ------------------------------------------------------------------------------------------------ convolutions
def conv(a: Adjoint, index: int, strides: Shape, dilations: Shape, begins: Shape) -> str:
    """To the operand a transposed convolution, to the weights a convolution of the operand with the gradient."""
    if index == 2:
        return channel_sum(a)
    if index == 1:
        return correlated(a, a.x(0), a.dy, a.shape(1), (strides, dilations, begins))
    sizes = zip(a.shape(0)[2:], a.shape_of(a.dy)[2:], a.shape(1)[2:], strides, dilations, begins, strict=True)
    reached = [s * (out - 1) + (k - 1) * d + 1 - b for _, out, k, s, d, b in sizes]
    missing = [size - far for size, far in zip(a.shape(0)[2:], reached, strict=True)]
    return a.op(
        "ConvTranspose", a.dy, a.x(1), group=a.call.integer("group", 1), strides=strides, dilations=dilations,
        pads=(*begins, *(max(0, -one) for one in missing)), output_padding=tuple(max(0, one) for one in missing),
    )  # fmt: skip


def conv_transpose(a: Adjoint, index: int, strides: Shape, dilations: Shape, begins: Shape, outs: Shape) -> str:
    """To the operand a convolution, to the weights a convolution of the gradient with the operand."""
    if index == 2:
        return channel_sum(a)
    if index == 1:
        return correlated(a, a.dy, a.x(0), a.shape(1), (strides, dilations, begins))
    sizes = zip(a.shape(0)[2:], outs, a.shape(1)[2:], strides, dilations, begins, strict=True)
    ends = [s * (n - 1) + (k - 1) * d + 1 - b - out for n, out, k, s, d, b in sizes]
    return a.op(
        "Conv", a.dy, a.x(1), group=a.call.integer("group", 1), strides=strides, dilations=dilations,
        pads=(*begins, *(max(0, end) for end in ends)),
    )  # fmt: skip


def channel_sum(a: Adjoint) -> str:
    """The gradient of a bias: the sum over all but the channels."""
    rank = len(a.shape_of(a.dy))
    return a.sum(a.dy, [axis for axis in range(rank) if axis != 1], keeps=False)


def correlated(a: Adjoint, wide: str, narrow: str, weights: Shape, steps: tuple[Shape, Shape, Shape]) -> str:
    """The gradient of weights [narrow channels, wide channels of a group, *kernel].

    `narrow` slides over `wide` as weights do: batches are the channels that are summed over, strides and dilations
    change places. What a stride never reaches lets more positions be computed than there are taps; they are cut. Of one
    image and one tap it is a product of matrices.
    """
    strides, dilations, begins = steps
    groups, (batch, _, *sizes) = a.call.integer("group", 1), a.shape_of(wide)
    results, inside, kernel = weights[0], weights[1], weights[2:]
    outs = a.shape_of(narrow)[2:]
    rank = len(kernel)
    if batch == groups == 1 and prod(kernel) == 1 and tuple(sizes) == outs and not any(begins):
        rows, columns = a.reshape(narrow, (results, prod(outs))), a.reshape(wide, (inside, prod(outs)))
        return a.reshape(a.op("Gemm", rows, columns, transB=1), weights)
    spatial = tuple(range(3, 3 + rank))
    moved = a.transpose(a.reshape(wide, (batch, groups, inside, *sizes)), (2, 1, 0, *spatial))
    moved = a.reshape(moved, (inside, groups * batch, *sizes))
    taps = a.transpose(narrow, (1, 0, *range(2, 2 + rank)))
    reach = zip(sizes, outs, kernel, strides, dilations, begins, strict=True)
    ends = [(out - 1) * s + (k - 1) * d + 1 - b - size for size, out, k, s, d, b in reach]
    result = a.op(
        "Conv", moved, taps, group=groups, strides=dilations, dilations=strides,
        pads=(*begins, *(max(0, end) for end in ends)),
    )  # fmt: skip
    result = cut(a, result, (inside, results, *kernel))
    return a.transpose(result, (1, 0, *range(2, 2 + rank)))


def cut(a: Adjoint, name: str, shape: Sequence[int]) -> str:
    """The first elements along every axis; the tensor itself where that is all of it."""
    axes = [axis for axis, (have, want) in enumerate(zip(a.shape_of(name), shape, strict=True)) if have != want]
    if not axes:
        return name
    ends = [shape[axis] for axis in axes]
    return a.op("Slice", name, a.integers([0] * len(axes)), a.integers(ends), a.integers(axes))
