"""A loop nest: the iteration space of one computation and how it addresses its operands.

    n, g, oc, oh, ow, ic, kh, kw = space = Space.of(n=1, g=1, oc=8, oh=6, ow=6, ic=3, kh=3, kw=3)
    Nest(space, y[n, g*8 + oc, oh, ow], (x[n, g*3 + ic, oh + kh - 1, ow + kw - 1], w[g*8 + oc, ic, kh, kw]),
         body=body("mul"), combine=combine("add"))

The whole meaning: every element of `out` starts at the identity of `combine`; at every point of the space where all of
`out` and `ins` lie inside their tensors (or inside the declared margin, where they read 0), `combine` takes in
`body(*ins)`; then `finish(total, count, *after)` is applied once to every element, `count` being the number of points
that it took in. Points outside do not exist: that one rule is zero padding for Conv, minus infinity for MaxPool, "not
counted" for AveragePool. Loops of extent 1 keep their name in the text and take no part in any analysis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import cast

import numpy as np

from tilewright.model import DType, Shape
from tilewright.ops.index.affine import Affine, Indices, Number, Range, Tile
from tilewright.ops.index.body import BODY_COPY, COMBINE_SET, FINISH_KEEP, Body, Combine, Finish
from tilewright.ops.index.table import Table

Subscript = Affine | Table
Box = tuple[Range, ...]
"""One half-open range per tensor axis."""


@dataclass(frozen=True)
class Space:
    """The loops, outermost first. Unpacks into subscripts."""

    items: tuple[tuple[str, int], ...]

    @staticmethod
    def of(**extents: int) -> Space:
        """`Space.of(m=4, n=8)`."""
        return Space(tuple(extents.items()))

    @cached_property
    def extents(self) -> Mapping[str, int]:
        """Extent of every loop, those of one step as well."""
        return dict(self.items)

    @cached_property
    def moving(self) -> Mapping[str, int]:
        """Extent of the loops that have more than one step; only these can be cut."""
        return {name: extent for name, extent in self.items if extent > 1}

    def __iter__(self) -> Iterator[Affine]:
        return (Affine.loop(name) for name, _ in self.items)

    def whole(self) -> Tile:
        """The tile that is everything."""
        return {name: (0, extent) for name, extent in self.items}


@dataclass(frozen=True)
class Tensor:
    """Name, shape and element type of an operand. `x[i, 2*j + k]` is an access.

    `values` (row-major) are constants that the operator itself brings, e.g. interpolation weights. An `iota` tensor
    has no memory: each element is its own row-major index.
    """

    name: str
    shape: Shape
    dtype: DType = DType.F32
    values: tuple[float, ...] = ()
    iota: bool = False

    def __getitem__(self, subscripts: Subscript | int | tuple[Subscript | int, ...]) -> Access:
        subs = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        if len(subs) != len(self.shape):
            raise ValueError(f"{self.name} has {len(self.shape)} axes, {len(subs)} subscripts given")
        return Access(self, tuple(Affine((), s) if isinstance(s, int) else s for s in subs))


@dataclass(frozen=True)
class Footprint:
    """What a tile touches of a tensor: `box`, and the `before`/`after` padding that it lacks, per axis."""

    box: Box
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Elements of the box."""
        return prod(high - low for low, high in self.box)


@dataclass(frozen=True)
class Access:
    """A tensor and its subscripts. `margin`: (before, after) padding per axis that counts as read, as zero."""

    tensor: Tensor
    subscripts: tuple[Subscript, ...]
    margin: tuple[Range, ...] = ()

    @cached_property
    def loops(self) -> frozenset[str]:
        """Names of the loops that move the access."""
        return frozenset(name for sub in self.subscripts for name in sub.loops)

    def footprint(self, tile: Tile) -> Footprint:
        """Hull of the touched elements, clipped to the tensor."""
        box, before, after = [], [], []
        for sub, size in zip(self.subscripts, self.tensor.shape, strict=True):
            low, high = sub.hull(tile)
            first, last = low, high
            if low < 0 or high > size:  # a stride may step over the edge, so look at the values themselves
                values = np.asarray(sub.at(mesh({n: tile[n] for n in sub.loops})))
                inside = values[(values >= 0) & (values < size)]
                first, last = (int(inside.min()), int(inside.max()) + 1) if inside.size else (0, 0)
            box.append((first, last))
            before.append(max(0, first - low))
            after.append(max(0, high - last))
        return Footprint(tuple(box), tuple(before), tuple(after))

    def tile_elements(self, sizes: Mapping[str, Number]) -> Number:
        """Elements of the largest footprint over all tiles of these sizes (integers or arrays of candidates)."""
        lengths = (np.minimum(s.extent(sizes), n) for s, n in zip(self.subscripts, self.tensor.shape, strict=True))
        total: Indices = np.asarray(prod(lengths))
        return cast(Number, total if total.ndim else int(total))

    def tile_bytes(self, sizes: Mapping[str, Number], dtype: DType | None = None) -> Number:
        """Bytes of the largest footprint; `dtype` where it is not the tensor's own, e.g. an accumulator. 0 for iota."""
        if self.tensor.iota:
            return self.tile_elements(sizes) * 0
        return -(-self.tile_elements(sizes) * (dtype or self.tensor.dtype).bits // 8)

    def __str__(self) -> str:
        return f"{self.tensor.name}[{', '.join(map(str, self.subscripts))}]"


def mesh(tile: Tile) -> dict[str, Indices]:
    """Broadcastable index arrays, one per loop."""
    return dict(zip(tile, np.ogrid[tuple(slice(*r) for r in tile.values())], strict=True)) if tile else {}


@dataclass(frozen=True)
class Nest:
    """`out combine= body(*ins)` at every point that exists, then `out = finish(out, *after)`; see the module's text."""

    space: Space
    out: Access
    ins: tuple[Access, ...]
    body: Body = BODY_COPY
    combine: Combine = COMBINE_SET
    finish: Finish = FINISH_KEEP
    after: tuple[Access, ...] = ()

    def __post_init__(self) -> None:
        for access in self.operands:
            if unknown := access.loops - self.space.extents.keys():
                raise ValueError(f"{access} is moved by {', '.join(sorted(unknown))}, which the nest does not have")
        if any(isinstance(sub, Table) or sub.div != 1 for sub in self.out.subscripts):
            raise ValueError(f"{self.out} cannot be written: a result needs affine subscripts without division")
        for access in self.after:
            if beyond := access.loops - self.out.loops:
                raise ValueError(f"{access} is read once per result but moved by {', '.join(sorted(beyond))}")

    @property
    def operands(self) -> tuple[Access, ...]:
        """All accesses, the result first."""
        return (self.out, *self.ins, *self.after)

    @property
    def points(self) -> int:
        """Points of the iteration space, those that do not exist counted too."""
        return prod(self.space.extents.values())

    @cached_property
    def parallel(self) -> frozenset[str]:
        """Loops of more than one step whose tiles write disjoint results; the other moving loops reduce."""
        moving = self.space.moving
        loops: set[str] = set()
        for sub in self.out.subscripts:
            assert isinstance(sub, Affine)
            span, digits = 1, sorted((abs(c), n) for n, c in sub.terms if n in moving)
            for coeff, name in digits:
                if coeff < span:  # digits overlap: y[ih*2 + kh] with three kh is written twice
                    break
                span += coeff * (moving[name] - 1)
            else:
                loops |= {name for _, name in digits}
        return frozenset(loops)

    @property
    def reductions(self) -> tuple[str, ...]:
        """Moving loops that are not parallel, outermost first."""
        return tuple(name for name in self.space.moving if name not in self.parallel)

    @cached_property
    def complete(self) -> bool:
        """True where every element of the result is written by exactly one step of the parallel loops.

        Otherwise (a ConvTranspose with stride and dilation) all of the result starts at the identity first, and points
        are combined into it in any order.
        """
        if any(name not in self.parallel for name in self.out.loops & self.space.moving.keys()):
            return False
        for sub, size in zip(self.out.subscripts, self.out.tensor.shape, strict=True):
            assert isinstance(sub, Affine)
            span = 1
            for coeff, name in sorted((abs(c), n) for n, c in sub.terms if n in self.space.moving):
                if coeff != span:
                    return False
                span *= self.space.moving[name]
            low, high = sub.hull(self.space.whole())
            if low > 0 or high < size:
                return False
        return True

    @property
    def digits(self) -> tuple[tuple[str, str], ...]:
        """Pairs (inner, outer) of loops that share an axis of the result.

        The inner one stays whole or the outer one is cut to single steps, else the tile of the result has holes.
        """
        pairs: list[tuple[str, str]] = []
        for sub in self.out.subscripts:
            assert isinstance(sub, Affine)
            by_weight = sorted((abs(c), n) for n, c in sub.terms if n in self.space.moving)
            pairs += [(inner, outer) for (_, inner), (_, outer) in pairwise(by_weight)]
        return tuple(pairs)

    def tiles(self, sizes: Mapping[str, int], order: tuple[str, ...] = ()) -> Iterator[Tile]:
        """All tiles, the last loop of `order` running fastest; loops not in `sizes` stay whole."""
        names = order or tuple(self.space.extents)
        ends = [self.space.extents[n] for n in names]
        steps = [sizes.get(n, end) for n, end in zip(names, ends, strict=True)]
        for index in np.ndindex(*(-(-end // step) for end, step in zip(ends, steps, strict=True))):
            cut = {n: (i * s, min((i + 1) * s, e)) for n, i, s, e in zip(names, index, steps, ends, strict=True)}
            whole = self.space.whole()
            yield {n: cut.get(n, whole[n]) for n in self.space.extents}

    def renamed(self, names: Mapping[str, str]) -> Nest:
        """The same nest over tensors of other names."""

        def one(access: Access) -> Access:
            name = access.tensor.name
            return replace(access, tensor=replace(access.tensor, name=names.get(name, name)))

        return replace(self, out=one(self.out), ins=tuple(map(one, self.ins)), after=tuple(map(one, self.after)))

    def __str__(self) -> str:
        text = f"{self.out} {self.combine.symbol} {self.body.text([str(a) for a in self.ins])}"
        if self.finish.name == "keep":
            return text
        return f"{text}; {self.out.tensor.name} = {self.finish.text([self.out.tensor.name, *map(str, self.after)])}"
