"""The NumPy functions behind the vocabulary of `body.py`, where NumPy has none of the same meaning.

All work on arrays of one element type, broadcast, and keep that type; parameters are Python numbers.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from tilewright.model import Array


def copy(a: Array) -> Array:
    """The operand itself."""
    return a


def divide(a: Array, b: Array) -> Array:
    """Quotient; integers truncate towards zero, division by zero gives 0 there."""
    if np.asarray(a).dtype.kind == "f":
        return np.asarray(np.divide(a, b))
    quotient = np.floor_divide(a, b)
    inexact = (np.mod(a, b) != 0) & ((np.asarray(a) < 0) != (np.asarray(b) < 0))
    return np.asarray(quotient + inexact.astype(quotient.dtype))


def power(a: Array, b: Array) -> Array:
    """Power in the type of the base; integers wrap, a negative exponent truncates, of 0 it gives 0."""
    base, exponent = np.asarray(a), np.asarray(b)
    if base.dtype.kind == "f":
        return np.asarray(np.power(base, exponent.astype(base.dtype)))
    if exponent.dtype.kind == "u":
        return np.asarray(np.power(base.astype(np.uint64), exponent.astype(np.uint64)).astype(base.dtype))
    if exponent.dtype.kind == "i":
        whole = np.power(base.astype(np.int64), np.maximum(exponent, 0).astype(np.int64)).astype(base.dtype)
        sign = np.where(exponent % 2 == 0, 1, -1) if base.dtype.kind == "i" else np.ones((), np.int64)
        unit = np.where(base == 1, 1, np.where(base.astype(np.float64) == -1, sign, 0)).astype(base.dtype)
        return np.asarray(np.where(exponent < 0, unit, whole))
    return np.asarray(np.power(base.astype(np.float64), exponent.astype(np.float64)).astype(base.dtype))


def minimum(*operands: Array) -> Array:
    """Smallest operand."""
    return reduce(np.minimum, operands)


def maximum(*operands: Array) -> Array:
    """Largest operand."""
    return reduce(np.maximum, operands)


def total(*operands: Array) -> Array:
    """Sum from left to right."""
    return reduce(np.add, operands)


def average(*operands: Array) -> Array:
    """Sum divided by the number of operands."""
    result = reduce(np.add, operands)
    return np.asarray(result / np.asarray(len(operands), result.dtype))


def reciprocal(a: Array) -> Array:
    """One divided by the operand."""
    return np.asarray(1 / a)


def abs_power(a: Array, p: float) -> Array:
    """Power of the magnitude."""
    return np.asarray(np.abs(a) ** p)


def scale(a: Array, p: float) -> Array:
    """Product with a number."""
    return np.asarray(a * p)


def squared_difference(a: Array, b: Array) -> Array:
    """Square of the difference."""
    return np.square(np.subtract(a, b))


def exp_difference(a: Array, b: Array) -> Array:
    """Exponential of the difference."""
    return np.asarray(np.exp(np.subtract(a, b)))


def subtract_twice(a: Array, b: Array, c: Array) -> Array:
    """First operand less the two others."""
    return np.asarray(np.subtract(np.subtract(a, b), c))


def divide_or_zero(a: Array, b: Array) -> Array:
    """Quotient, 0 where the divisor is 0."""
    zero = np.asarray(b) == 0
    return np.where(zero, np.zeros_like(a), np.divide(a, np.where(zero, np.ones_like(b), b)))


_ERF = np.vectorize(math.erf, otypes=[np.float64])


def erf(a: Array) -> Array:
    """Error function, correctly rounded from double precision."""
    return np.asarray(_ERF(a).astype(np.asarray(a).dtype))


def relu(a: Array) -> Array:
    """Positive part; NaN stays NaN."""
    return np.maximum(a, np.zeros((), np.asarray(a).dtype))


def clip(a: Array, low: Array | float, high: Array | float) -> Array:
    """Limited to [low, high]; `high` wins where the limits cross, NaN limits nothing, as in ONNX Runtime."""
    kind = np.asarray(a).dtype
    lower, upper = np.asarray(low, kind), np.asarray(high, kind)
    if kind.kind == "f":
        lower = np.where(np.isnan(lower), np.asarray(-np.inf, kind), lower)
        upper = np.where(np.isnan(upper), np.asarray(np.inf, kind), upper)
    return np.asarray(np.minimum(np.maximum(a, lower), upper))


def leaky_relu(a: Array, slope: Array | float) -> Array:
    """Negative values times the slope."""
    return np.where(a < 0, np.asarray(a * slope, a.dtype), a)


def thresholded_relu(a: Array, p: float) -> Array:
    """Values above the threshold, else 0."""
    return np.where(a > p, a, np.zeros_like(a))


def elu(a: Array, p: float) -> Array:
    """Exponential linear unit."""
    return np.where(a < 0, p * np.expm1(np.minimum(a, 0)), a)


def selu(a: Array, p: float, q: float) -> Array:
    """Scaled exponential linear unit."""
    return np.where(a > 0, q * a, q * p * np.expm1(np.minimum(a, 0)))


def celu(a: Array, p: float) -> Array:
    """Continuously differentiable exponential linear unit."""
    return np.asarray(np.maximum(a, 0) + np.minimum(0, p * np.expm1(np.minimum(a, 0) / p)))


def gelu(a: Array) -> Array:
    """Gaussian error linear unit, exact."""
    return np.asarray(0.5 * a * (1 + erf(a / math.sqrt(2))))


def gelu_tanh(a: Array) -> Array:
    """Gaussian error linear unit, by tanh."""
    return np.asarray(0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a * a * a))))


def sigmoid(a: Array) -> Array:
    """Logistic function."""
    small = np.exp(-np.abs(a))
    return np.asarray(np.where(a >= 0, 1 / (1 + small), small / (1 + small)), np.asarray(a).dtype)


def hard_sigmoid(a: Array, p: float, q: float) -> Array:
    """Line limited to [0, 1]."""
    return np.maximum(0, np.minimum(1, p * a + q)).astype(a.dtype)


def hard_swish(a: Array) -> Array:
    """Operand times its hard sigmoid of slope 1/6 and offset 1/2."""
    return np.asarray(a * hard_sigmoid(a, 1 / 6, 0.5))


def swish(a: Array, p: float) -> Array:
    """Operand times the logistic function of its multiple."""
    return np.asarray(a * sigmoid(p * a))


def softplus(a: Array) -> Array:
    """Smooth positive part."""
    return np.asarray(np.maximum(a, 0) + np.log1p(np.exp(-np.abs(a))))


def mish(a: Array) -> Array:
    """Operand times tanh of its softplus."""
    return np.asarray(a * np.tanh(softplus(a)))


def softsign(a: Array) -> Array:
    """Operand divided by one plus its magnitude."""
    return np.asarray(a / (1 + np.abs(a)))


def shrink(a: Array, p: float, q: float) -> Array:
    """Zero between -p and p, moved by q towards zero outside."""
    zero = np.zeros_like(a)
    return np.where(a < -p, (a + q).astype(a.dtype), np.where(a > p, (a - q).astype(a.dtype), zero))


def shift_left(a: Array, b: Array) -> Array:
    """Bits moved up; all gone where the count is negative or reaches the width."""
    inside = (b >= 0) & (b < 8 * a.dtype.itemsize)
    return np.where(inside, np.left_shift(a, np.where(inside, b, np.zeros_like(b))), np.zeros_like(a))


def shift_right(a: Array, b: Array) -> Array:
    """Bits moved down, the sign drawn in; only the sign is left where the count is negative or reaches the width."""
    inside = (b >= 0) & (b < 8 * a.dtype.itemsize)
    gone = np.where(a < 0, ~np.zeros_like(a), np.zeros_like(a))
    return np.where(inside, np.right_shift(a, np.where(inside, b, np.zeros_like(b))), gone)


def is_infinite(a: Array, negative: int, positive: int) -> Array:
    """Infinite with one of the asked signs."""
    return np.asarray((np.isneginf(a) & bool(negative)) | (np.isposinf(a) & bool(positive)))


def select_equal(a: Array, b: Array, c: Array, p: int) -> Array:
    """Third operand where the first two are equal or the first is NaN, else the parameter."""
    return np.where(np.equal(a, b) | (a != a), c, np.asarray(p, np.asarray(c).dtype))


def batch_norm(a: Array, b: Array, c: Array, d: Array, e: Array, epsilon: float) -> Array:
    """Operand normalised with mean d and variance e, times b plus c."""
    return np.asarray((a - d) / np.sqrt(e + epsilon) * b + c)


def normalise(a: Array, mean: Array, variance: Array, *rest: Array | float) -> Array:
    """Operand less mean over standard deviation, times scale plus bias where these are given; the last is epsilon."""
    *affine, epsilon = rest
    result = (a - mean) / np.sqrt(variance + epsilon)
    result = result * affine[0] if affine else result
    return np.asarray(result + affine[1] if len(affine) > 1 else result)


def rms_scale(a: Array, mean_square: Array, factor: Array, epsilon: float) -> Array:
    """Operand over its root mean square, times a factor."""
    return np.asarray(a / np.sqrt(mean_square + epsilon) * factor)


def standardise(a: Array, mean: Array, variance: Array, epsilon: float) -> Array:
    """Operand less mean, divided by standard deviation plus epsilon."""
    return np.asarray((a - mean) / (np.sqrt(variance) + epsilon))


def local_response(a: Array, b: Array, p: float, q: float, r: float) -> Array:
    """Operand over a power of the squares of its neighbours."""
    return np.asarray(a / (r + p * b) ** q)


def quantise(a: Array, step: Array, zero: Array, low: int, high: int) -> Array:
    """Codes of a real array: halves to even, saturated; NaN has no code and takes the lowest, as in ONNX Runtime.

    The quotient has the type of the scale.
    """
    codes = np.rint(np.divide(np.asarray(a).astype(np.asarray(step).dtype), step)).astype(np.float64) + np.asarray(
        zero, np.float64
    )
    return np.asarray(np.clip(np.nan_to_num(codes, nan=-np.inf), low, high))


def dequantise(a: Array, step: Array, zero: Array) -> Array:
    """Real values of codes, in the type of the scale."""
    difference = np.subtract(a, zero, dtype=np.int64)
    return np.asarray(difference.astype(np.asarray(step).dtype) * step)


def multiply_offsets(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Product of two codes less their zero points, in 32 bits."""
    return np.asarray((a.astype(np.int32) - c.astype(np.int32)) * (b.astype(np.int32) - d.astype(np.int32)))


def keep(total: Array, count: Array) -> Array:
    """The total itself."""
    return total


def mean(total: Array, count: Array) -> Array:
    """Total divided by the number of points."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return divide(total, np.asarray(count).astype(total.dtype))


def pad_value(total: Array, count: Array, value: float | Array) -> Array:
    """The value where no point was combined."""
    return np.where(count > 0, total, np.asarray(value).astype(total.dtype))


def finish_add(total: Array, count: Array, a: Array) -> Array:
    """Total plus an operand, e.g. a bias."""
    return np.asarray(total + a)


def finish_scale(total: Array, count: Array, p: float) -> Array:
    """Total times a number."""
    return np.asarray(total * p).astype(total.dtype)


def finish_scale_add(total: Array, count: Array, a: Array, p: float, q: float) -> Array:
    """Scaled total plus a scaled operand."""
    return np.asarray(total * p + a * q).astype(total.dtype)


def finish_sqrt(total: Array, count: Array) -> Array:
    """Square root of the total."""
    return np.asarray(np.sqrt(total))


def finish_log(total: Array, count: Array) -> Array:
    """Logarithm of the total."""
    return np.asarray(np.log(total))


def finish_root(total: Array, count: Array, p: float) -> Array:
    """The p-th root of the total."""
    return np.asarray(total ** (1 / p)).astype(total.dtype)


def finish_finite(total: Array, count: Array) -> Array:
    """The total, or nothing where it is no finite number."""
    return np.where(np.isfinite(total), total, total.dtype.type(0))


def finish_inverse_root(total: Array, count: Array, epsilon: float) -> Array:
    """Inverse of the root of the mean plus epsilon."""
    return np.asarray(1 / np.sqrt(mean(total, count) + epsilon)).astype(total.dtype)
