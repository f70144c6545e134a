"""The gradients of normalisations, pools and reductions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tilewright.model import Array, Shape
from tilewright.ops.operator import Adjoint
from tilewright.ops.window import Window


def batch_norm(a: Adjoint, index: int) -> str:
    """With frozen statistics it is a straight line in each channel; none flows to the statistics."""
    rank, channels = len(a.shape(0)), a.shape(1)
    column = (*channels, *(1,) * (rank - 2)) if rank > 1 else channels
    axes = [axis for axis in range(rank) if axis != 1] if rank > 1 else [0]
    epsilon = a.number(a.call.real("epsilon", 1e-5))
    inverse = a.op("Reciprocal", a.op("Sqrt", a.add(a.x(4), epsilon)))
    if index == 0:
        return a.mul(a.dy, a.reshape(a.mul(a.x(1), inverse), column))
    if index == 1:
        normal = a.mul(a.sub(a.x(0), a.reshape(a.x(3), column)), a.reshape(inverse, column))
        return a.reshape(a.sum(a.mul(a.dy, normal), axes, keeps=False), channels)
    return a.reshape(a.sum(a.dy, axes, keeps=False), channels) if index == 2 else ""


def layer_norm(a: Adjoint, index: int, axis: int) -> str:
    """Over the axes from `axis` on: Ba, Kiros and Hinton, arXiv 1607.06450."""
    inner = list(range(axis, len(a.shape(0))))
    if index == 2:
        return a.unbroadcast(a.dy, a.shape(2))
    mean = a.mean(a.x(0), inner)
    centred = a.sub(a.x(0), mean)
    variance = a.mean(a.mul(centred, centred), inner)
    return _normalised(a, index, centred, variance, inner, centres=True)


def rms_norm(a: Adjoint, index: int, axis: int) -> str:
    """As a layer norm whose mean is zero."""
    inner = list(range(axis, len(a.shape(0))))
    square = a.mean(a.mul(a.x(0), a.x(0)), inner)
    return _normalised(a, index, a.x(0), square, inner, centres=False)


def _normalised(a: Adjoint, index: int, centred: str, variance: str, inner: Sequence[int], *, centres: bool) -> str:
    epsilon = a.number(a.call.real("epsilon", 1e-5))
    inverse = a.op("Reciprocal", a.op("Sqrt", a.add(variance, epsilon)))
    normal = a.mul(centred, inverse)
    if index == 1:
        return a.unbroadcast(a.mul(a.dy, normal), a.shape(1))
    weighed = a.mul(a.dy, a.x(1))
    along = a.mul(normal, a.mean(a.mul(weighed, normal), inner))
    rest = a.sub(a.sub(weighed, a.mean(weighed, inner)) if centres else weighed, along)
    return a.mul(rest, inverse)


# ----------------------------------------------------------------------------------------------------------- pools
def max_pool(a: Adjoint, index: int) -> str:
    """The gradient of each window goes to the element that it took, the first of equal ones."""
    size = prod(a.shape(0))
    places = a.reshape(a.second_result(), (prod(a.shape_of(a.dy)),))
    zeros = a.expand(a.number([0]), (size,))
    flat = a.reshape(a.dy, (prod(a.shape_of(a.dy)),))
    return a.reshape(a.op("ScatterElements", zeros, places, flat, axis=0, reduction="add"), a.shape(0))


def average_pool(a: Adjoint, index: int, window: Window, counts: Array) -> str:
    """The gradient of each window, divided by what it counts, goes to all its elements."""
    shape = a.shape(0)
    if window.kernel == shape[2:] and not any((*window.begins, *window.ends)):
        return a.expand(a.mul(a.dy, a.number(1 / prod(window.kernel))), shape)
    even = (counts == counts.flat[0]).all()
    shared = a.mul(a.dy, a.number(1 / counts.flat[0] if even else 1 / counts))
    plain = a.reshape(shared, (shape[0] * shape[1], 1, *window.outs))
    kernel = a.expand(a.number([1]), (1, 1, *window.kernel))
    spread = transposed(a, plain, kernel, shape[2:], window)
    return a.reshape(spread, shape)


def transposed(a: Adjoint, dy: str, kernel: str, sizes: Shape, window: Window) -> str:
    """A transposed convolution that gives `sizes`."""
    axes = zip(window.kernel, window.strides, window.dilations, window.begins, window.outs, strict=True)
    reached = [s * (out - 1) + (k - 1) * d + 1 - b for k, s, d, b, out in axes]
    missing = [size - far for size, far in zip(sizes, reached, strict=True)]
    return a.op(
        "ConvTranspose", dy, kernel, strides=window.strides, dilations=window.dilations,
        pads=(*window.begins, *(max(0, -one) for one in missing)),
        output_padding=tuple(max(0, one) for one in missing),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ reductions
def reduction(a: Adjoint, index: int, axes: Sequence[int]) -> str:
    """The gradient of every total goes to all elements of it, as the kind of total says."""
    if index:
        return ""
    whole = tuple(1 if axis in axes else size for axis, size in enumerate(a.shape(0)))
    dy, y, x = a.reshape(a.dy, whole), a.reshape(a.y, whole), a.x()
    match a.call.node.op.removeprefix("Reduce"):
        case "Sum":
            return a.expand(dy, a.shape(0))
        case "Mean":
            return a.expand(a.mul(dy, a.number(1 / prod(a.shape(0)[axis] for axis in axes))), a.shape(0))
        case "Max" | "Min":
            chosen = a.op("CastLike", a.op("Equal", x, y), x)
            return a.mul(a.div(dy, a.sum(chosen, axes)), chosen)
        case "SumSquare":
            return a.mul(a.mul(dy, a.number(2)), x)
        case "L1":
            return a.mul(dy, a.op("Sign", x))
        case "L2":
            return a.mul(a.div(dy, y), x)
        case "LogSum":
            return a.expand(a.div(dy, a.op("Exp", y)), a.shape(0))
        case "LogSumExp":
            return a.mul(dy, a.op("Exp", a.sub(x, y)))
        case _:
            return a.mul(dy, a.div(y, x))
