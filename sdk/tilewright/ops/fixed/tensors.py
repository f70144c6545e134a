"""Tensors in fixed point: which are, their bits of fraction, and how a bound on real numbers chooses them."""

from __future__ import annotations

from dataclasses import replace
from math import floor, frexp, log2

import numpy as np

from tilewright.model import Array, DType, Quantisation, Tensor

ROOM = 1.01
"""Over a bound: what rounding may add to it."""
MOST_BITS, LEAST_BITS = 60, -60


def is_fixed(tensor: Tensor | None) -> bool:
    """True for a tensor in fixed point."""
    return tensor is not None and tensor.dtype is DType.I32 and tensor.quantisation is not None


def fraction_bits(tensor: Tensor) -> int:
    """Bits behind the point."""
    assert tensor.quantisation is not None, f"tensor '{tensor.name}' is not in fixed point"
    return 1 - frexp(tensor.quantisation.scale[0])[1]


def bits_for(bound: float) -> int:
    """The most bits of fraction with which no number up to the bound is 2^30 or more."""
    return MOST_BITS if bound <= 0 else max(LEAST_BITS, min(MOST_BITS, floor(30 - log2(bound * ROOM))))


def in_fixed(tensor: Tensor, bits: int) -> Tensor:
    """The tensor of real numbers in fixed point."""
    return replace(tensor, dtype=DType.I32, quantisation=Quantisation((2.0**-bits,), (0,)))


def codes_of_reals(values: Array, bits: int) -> Array:
    """The nearest codes of real numbers."""
    return np.asarray(np.rint(values.astype(np.float64) * 2.0**bits), np.int64).astype(np.int32)


def reals_of(codes: Array, tensor: Tensor) -> Array:
    """The real numbers, in float64."""
    return np.asarray(codes.astype(np.float64) * 2.0 ** -fraction_bits(tensor))
