"""Sums of products (Conv, ConvTranspose, Gemm, MatMul) at BLAS-like speed: strided views and einsum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tilewright.model import Array
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.nest import Access, Nest


def last_axes(array: Array, *index: int | slice) -> Array:
    """The array indexed in its last axes; a view, so that it can be added to."""
    places: tuple[object, ...] = (..., *index)
    view: Array = array.__getitem__(places)  # type: ignore[index]
    return view


def suits(nest: Nest) -> bool:
    """True where `sum_of_products` computes this nest: products, summed, no table, no division, no margin."""
    accesses = (nest.out, *nest.ins)
    plain = all(isinstance(s, Affine) and s.div == 1 for a in accesses for s in a.subscripts)
    own = any(a.tensor.iota or a.tensor.values or a.margin for a in accesses)
    return plain and not own and nest.body.name == "mul" and nest.combine.name == "add" and _injective(nest)


def _injective(nest: Nest) -> bool:
    return all(loop in nest.parallel for loop in nest.out.loops if loop in nest.space.moving)


def _view(access: Access, array: Array, nest: Nest) -> tuple[Array, Array, list[str]]:
    """The operand, padded with zeros to everything its map reaches, seen through the loops that move it."""
    moving, whole = nest.space.moving, nest.space.whole()
    hulls = [sub.hull(whole) for sub in access.subscripts]
    pads = [(max(0, -low), max(0, high - size)) for (low, high), size in zip(hulls, access.tensor.shape, strict=True)]
    padded = np.pad(array, pads) if any(map(any, pads)) else np.asarray(array, order="C")
    names = sorted(access.loops & moving.keys())
    subs = [sub for sub in access.subscripts if isinstance(sub, Affine)]
    start = (slice(sub.const + before, None) for sub, (before, _) in zip(subs, pads, strict=True))
    strides = [sum(s.coeffs.get(n, 0) * step for s, step in zip(subs, padded.strides, strict=True)) for n in names]
    return as_strided(last_axes(padded, *start), [moving[n] for n in names], strides), padded, names


def sum_of_products(nest: Nest, arrays: Mapping[str, Array]) -> Array:
    """Total of the nest before `finish`, equal to the naive one; ask `suits` first."""
    moving = nest.space.moving
    number = {name: i for i, name in enumerate(moving)}
    arguments: list[object] = []
    for access in nest.ins:
        view, _, names = _view(access, arrays[access.tensor.name], nest)
        arguments += [view, [number[n] for n in names]]
    target, padded, names = _view(nest.out, np.zeros(nest.out.tensor.shape, nest.out.tensor.dtype.numpy), nest)
    used = frozenset[str]().union(*(a.loops for a in nest.ins))
    total = np.einsum(*arguments, [number[n] for n in names if n in used], optimize=True)  # type: ignore[call-overload]
    target[...] = total.reshape([moving[n] if n in used else 1 for n in names])
    before = (max(0, -sub.hull(nest.space.whole())[0]) for sub in nest.out.subscripts)
    inside = (slice(b, b + n) for b, n in zip(before, nest.out.tensor.shape, strict=True))
    return last_axes(padded, *inside)
