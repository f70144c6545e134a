"""The naive meaning of nests, from their declaration alone: what everything faster is checked against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tilewright.model import Array, DType
from tilewright.ops.index.affine import Indices, Tile
from tilewright.ops.index.nest import Access, Box, Nest, Tensor, mesh

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Piece:
    """Part of a tensor in a local buffer: the data and where it starts in the tensor."""

    data: Array
    origin: tuple[int, ...]


@dataclass(frozen=True)
class Partial:
    """Combined values of one tile, before `finish`, and how many points each took in."""

    total: Piece
    count: Array


def cut(array: Array, box: Box) -> Piece:
    """A copy of the box of an array."""
    return Piece(array[tuple(slice(*r) for r in box)].copy(), tuple(low for low, _ in box))


def own_values(tensor: Tensor) -> Array | None:
    """The array of a tensor that brings its own values (constants, iota); None for one that is given."""
    if tensor.iota:
        return np.arange(int(np.prod(tensor.shape)), dtype=tensor.dtype.numpy).reshape(tensor.shape)
    return np.array(tensor.values, tensor.dtype.numpy).reshape(tensor.shape) if tensor.values else None


def _subscripts(access: Access, tile: Tile) -> list[Indices]:
    shape = tuple(high - low for low, high in tile.values())
    loops = mesh(tile)
    return [np.broadcast_to(np.asarray(sub.at(loops)), shape) for sub in access.subscripts]


def existing(nest: Nest, tile: Tile) -> Mask:
    """The points of the tile that exist, over the axes of the tile."""
    exists = np.ones(tuple(high - low for low, high in tile.values()), bool)
    for access in (nest.out, *nest.ins):
        margin = access.margin or ((0, 0),) * len(access.subscripts)
        for values, size, (before, after) in zip(_subscripts(access, tile), access.tensor.shape, margin, strict=True):
            exists &= (values >= -before) & (values < size + after)
    return exists


def _read(access: Access, tile: Tile, exists: Mask, pieces: Mapping[str, Piece]) -> Array:
    """Values of an operand at the points that exist; IndexError where the piece lacks one that is not margin."""
    tensor = access.tensor
    subs = [values[exists] for values in _subscripts(access, tile)]
    points = int(exists.sum())
    bound = np.ones(points, bool)
    for values, size in zip(subs, tensor.shape, strict=True):
        bound &= (values >= 0) & (values < size)
    own = own_values(tensor)
    piece = pieces[tensor.name] if own is None else Piece(own, (0,) * own.ndim)
    local = [values - start for values, start in zip(subs, piece.origin, strict=True)]
    held = np.ones(points, bool)
    for values, size in zip(local, piece.data.shape, strict=True):
        held &= (values >= 0) & (values < size)
    if (bound & ~held).any():
        raise IndexError(f"the tile reads {access} outside its footprint")
    if not held.any():
        return np.zeros(points, piece.data.dtype)
    clipped = tuple(np.where(held, values, 0) for values in local)
    return np.where(held, piece.data[clipped], np.zeros((), piece.data.dtype))


def _four_bits(values: Array, dtype: DType) -> Array:
    """Integers wrapped into four bits, as they lie in memory."""
    low: Array = values.astype(np.int64) & 15
    return ((low ^ 8) - 8 if dtype is DType.I4 else low).astype(dtype.numpy)


def evaluate_tile(nest: Nest, tile: Tile, pieces: Mapping[str, Piece]) -> Partial:
    """Combined values and counts of one tile; reads nothing but `pieces`."""
    exists = existing(nest, tile)
    values = np.asarray(nest.body(*(_read(access, tile, exists, pieces) for access in nest.ins)))
    box = nest.out.footprint(tile).box
    dtype, bits = nest.out.tensor.dtype.numpy, nest.out.tensor.dtype.bits
    shape = [high - low for low, high in box]
    total, count = np.full(shape, nest.combine.start(dtype), dtype), np.zeros(shape, np.int64)
    where = [v[exists] - low for v, (low, _) in zip(_subscripts(nest.out, tile), box, strict=True)]
    flat = np.ravel_multi_index(where, shape) if shape else np.zeros(int(exists.sum()), np.int64)
    if nest.combine.ufunc is None:
        total.reshape(-1)[flat] = _four_bits(values, nest.out.tensor.dtype) if bits == 4 else values.astype(dtype)
    else:
        nest.combine.ufunc.at(total.reshape(-1), flat, values.astype(dtype))
    np.add.at(count.reshape(-1), flat, 1)
    return Partial(Piece(total, tuple(low for low, _ in box)), count)


def merge(nest: Nest, first: Partial, second: Partial) -> Partial:
    """Two partial results of the same box joined, as a cut reduction needs."""
    a, b = first.total.data, second.total.data
    ufunc = nest.combine.ufunc
    total = np.where(second.count > 0, b, a) if ufunc is None else ufunc(a, b).astype(a.dtype)
    return Partial(Piece(total, first.total.origin), first.count + second.count)


def finish_tile(nest: Nest, tile: Tile, partial: Partial, pieces: Mapping[str, Piece]) -> Piece:
    """The last step on a tile whose points are all combined."""
    total = partial.total.data
    operands = [_read_after(access, nest, tile, partial.total, pieces) for access in nest.after]
    result = nest.finish(total, partial.count, *operands)
    return Piece(np.asarray(result).astype(total.dtype).reshape(total.shape), partial.total.origin)


def _read_after(access: Access, nest: Nest, tile: Tile, total: Piece, pieces: Mapping[str, Piece]) -> Array:
    """An operand of `after` in the shape of the result's box."""
    small = {name: (r if name in nest.out.loops else (0, 1)) for name, r in tile.items()}
    bound = np.ones(tuple(high - low for low, high in small.values()), bool)
    written = _subscripts(nest.out, small)
    for values, start, size in zip(written, total.origin, total.data.shape, strict=True):
        bound &= (values >= start) & (values < start + size)
    values = _read(access, small, bound, pieces)
    result = np.zeros(total.data.shape, values.dtype)
    result[tuple(v[bound] - start for v, start in zip(written, total.origin, strict=True))] = values
    return result


def evaluate(nest: Nest, arrays: Mapping[str, Array]) -> Array:
    """The result of a nest from whole operand arrays by tensor name; bfloat16 is computed in float32, rounded once."""
    if nest.body.name != "quantise" and any(access.tensor.dtype is DType.BF16 for access in nest.operands):
        wide = {name: a.astype(np.float32) if a.dtype.name == "bfloat16" else a for name, a in arrays.items()}
        return evaluate(_widened(nest), wide).astype(nest.out.tensor.dtype.numpy)
    pieces = {name: Piece(array, (0,) * array.ndim) for name, array in arrays.items()}
    whole = nest.space.whole()
    partial = evaluate_tile(nest, whole, pieces)
    full = tuple((0, size) for size in nest.out.tensor.shape)
    if nest.out.footprint(whole).box != full:  # not every element is written: the others finish the identity
        total = np.full(nest.out.tensor.shape, nest.combine.start(nest.out.tensor.dtype.numpy))
        count = np.zeros(nest.out.tensor.shape, np.int64)
        inside = tuple(slice(*r) for r in nest.out.footprint(whole).box)
        total[inside], count[inside] = partial.total.data, partial.count
        partial = Partial(Piece(total, (0,) * total.ndim), count)
    return finish_tile(nest, whole, partial, pieces).data


def _widened(nest: Nest) -> Nest:
    """The nest with float32 in the place of bfloat16."""

    def one(access: Access) -> Access:
        if access.tensor.dtype is not DType.BF16:
            return access
        return replace(access, tensor=replace(access.tensor, dtype=DType.F32))

    return replace(nest, out=one(nest.out), ins=tuple(map(one, nest.ins)), after=tuple(map(one, nest.after)))


def _reached(nest: Nest) -> Mask:
    """The elements of the result that a point of the nest writes."""
    whole = nest.space.whole()
    exists = existing(nest, whole)
    reached = np.zeros(nest.out.tensor.shape, bool)
    reached[tuple(values[exists] for values in _subscripts(nest.out, whole))] = True
    return reached


def evaluate_chain(chain: Sequence[Nest], arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor that the nests of a chain write, by name; several nests may write parts of one tensor."""
    known = dict(arrays)
    written: dict[str, Array] = {}
    for nest in chain:
        name, result = nest.out.tensor.name, evaluate(nest, known)
        if name in written:
            result = np.where(_reached(nest), result, written[name])
        known[name] = written[name] = result
    return written
