"""Ranges of real numbers as codes: scale and zero point of activations, codes of weights and biases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.model import Array, DType, Quantisation
from tilewright.ops.requantize import quantise

SMALLEST = 1e-12
"""Below this a range counts as none: its scale would have no inverse in float32."""

SPREAD = 2.0**-16
"""The least scale of a layer's channels beside the largest."""


@dataclass(frozen=True)
class Range:
    """The real numbers from `low` to `high`; 0 is always among those that have a code."""

    low: float
    high: float

    def joined(self, other: Range) -> Range:
        """The smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True)
class Coding:
    """`real = scale * (code - zero_point)` for a whole tensor, in codes of `dtype`."""

    scale: float
    zero_point: int
    dtype: DType

    @property
    def range(self) -> Range:
        """The real numbers of the least and the greatest code."""
        low, high = self.dtype.range
        return Range((low - self.zero_point) * self.scale, (high - self.zero_point) * self.scale)

    @property
    def quantisation(self) -> Quantisation:
        """The same as tensors carry it."""
        return Quantisation((self.scale,), (self.zero_point,))


def coding(span: Range, dtype: DType) -> Coding:
    """The codes of a range: of eight bits all of them are used, of sixteen they are symmetric."""
    low, high = min(span.low, 0.0), max(span.high, 0.0)
    least, greatest = dtype.range
    if dtype.bits > 8:
        size = max(-low, high)
        return Coding(float(np.float32(size / greatest)) if size > SMALLEST else 1.0, 0, dtype)
    if high - low <= SMALLEST:
        return Coding(1.0, 0, dtype)
    scale = float(np.float32((high - low) / (greatest - least)))
    zero = int(np.clip(np.rint(least - low / scale), least, greatest))
    return Coding(scale, zero, dtype)


@dataclass(frozen=True)
class Weights:
    """Codes of a constant, and their scales: one, or one for each index of `axis`. Zero points are 0."""

    codes: Array
    scales: Array
    axis: int | None
    dtype: DType

    def real(self) -> Array:
        """The numbers that the codes stand for."""
        return np.asarray(self.codes.astype(np.float32) * _spread(self.scales, self.axis, self.codes.ndim), np.float32)


def coded_weights(values: Array, axis: int | None, dtype: DType, least: Array | float = 0.0) -> Weights:
    """The nearest symmetric codes. Of four bits each channel's scale is the one with the least square error.

    No scale is below `least`, nor below 2**-16 of the largest: such a channel is nothing beside the others.
    """
    greatest = dtype.range[1]
    others = tuple(place for place in range(values.ndim) if place != axis) if axis is not None else None
    largest = np.abs(values).max(axis=others)
    unused = largest.max() if largest.max() > SMALLEST else float(greatest)
    scales = np.where(largest > SMALLEST, largest, unused).astype(np.float32) / np.float32(greatest)
    if dtype.bits == 4:
        scales = _least_error(values, scales, axis, dtype)
    scales = np.maximum(scales, np.maximum(scales.max() * SPREAD, least)).astype(np.float32)
    return Weights(_codes(values, scales, axis, dtype), scales, axis, dtype)


def coded_bias(values: Array, scales: Array) -> Array:
    """The nearest codes of 32 bits in units of the accumulator."""
    return np.clip(np.rint(values.astype(np.float64) / scales), -(2.0**31) + 1, 2.0**31 - 1).astype(np.int32)


def _least_error(values: Array, scales: Array, axis: int | None, dtype: DType) -> Array:
    best, least = scales, np.full(scales.shape, np.inf)
    others = tuple(place for place in range(values.ndim) if place != axis) if axis is not None else None
    for factor in np.linspace(0.5, 1.0, 21):
        tried = (scales * factor).astype(np.float32)
        real = _codes(values, tried, axis, dtype) * _spread(tried, axis, values.ndim)
        error = np.square(values - real, dtype=np.float64).sum(axis=others)
        best, least = np.where(error < least, tried, best), np.minimum(error, least)
    return np.asarray(best, np.float32)


def _codes(values: Array, scales: Array, axis: int | None, dtype: DType) -> Array:
    zeros = (0,) * scales.size
    symmetric = Quantisation(tuple(float(each) for each in scales.reshape(-1)), zeros, axis)
    return np.maximum(quantise(values, symmetric, dtype), -dtype.range[1])


def _spread(scales: Array, axis: int | None, rank: int) -> Array:
    if axis is None:
        return scales.reshape(())
    shape = [1] * rank
    shape[axis] = scales.size
    return scales.reshape(shape)
