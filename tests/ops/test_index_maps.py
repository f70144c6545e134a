"""What is derived from index maps, against brute force: boxes, coverage, tiles, loads, transfers, fused producers."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from ops.building import FAMILIES, evaluated, named, nests, operands
from tilewright.model import Array
from tilewright.ops.index import fast, reference
from tilewright.ops.index.affine import Tile
from tilewright.ops.index.body import FINISH_KEEP
from tilewright.ops.index.fused_chain import chain_tiles, producer_tile
from tilewright.ops.index.nest import Nest
from tilewright.ops.index.reference import Partial, Piece
from tilewright.ops.index.transfer import loads, partial_reloads, transfer, trips

ROUNDS = 12


def touched(nest: Nest, tile: Tile, which: int) -> tuple[Array, ...]:
    """Subscript values of an access at every point of the tile that exists; written without the library's own loops."""
    found = []
    access = nest.operands[which]
    for point in np.ndindex(*(high - low for low, high in tile.values())):
        at = {name: low + step for (name, (low, _)), step in zip(tile.items(), point, strict=True)}
        exists = True
        for other in (nest.out, *nest.ins):
            margin = other.margin or ((0, 0),) * len(other.subscripts)
            for sub, size, (before, after) in zip(other.subscripts, other.tensor.shape, margin, strict=True):
                exists = exists and -before <= int(sub.at(at)) < size + after
        place = [int(sub.at(at)) for sub in access.subscripts]
        if exists and all(0 <= p < size for p, size in zip(place, access.tensor.shape, strict=True)):
            found.append(place)
    return tuple(np.array(found, np.int64).reshape(len(found), len(access.subscripts)).T)


def cut_sizes(r: random.Random, nest: Nest) -> dict[str, int]:
    sizes = {n: r.randint(1, e) for n, e in nest.space.moving.items()}
    for inner, outer in nest.digits:
        if sizes[outer] > 1:
            sizes[inner] = nest.space.extents[inner]
    return sizes


def small(nest: Nest) -> bool:
    return nest.points <= 3000


@pytest.mark.parametrize("family", FAMILIES)
def test_boxes_hold_everything_that_is_read(family: str) -> None:
    r = random.Random(family)
    for _ in range(4):
        for nest in filter(small, nests(FAMILIES[family](r))):
            sizes = cut_sizes(r, nest)
            whole = {n: sizes.get(n, e) for n, e in nest.space.extents.items()}
            for tile in list(nest.tiles(sizes))[:12]:
                for which, access in enumerate(nest.operands):
                    if which > len(nest.ins):
                        continue
                    foot, points = access.footprint(tile), touched(nest, tile, which)
                    assert foot.elements <= access.tile_elements(whole)
                    if points and points[0].size:
                        for (low, high), values in zip(foot.box, points, strict=True):
                            assert low <= values.min()
                            assert values.max() < high


@pytest.mark.parametrize("family", FAMILIES)
def test_a_box_is_exactly_what_is_read_where_reductions_stay_whole(family: str) -> None:
    if family.startswith("conv_transpose"):
        return  # points whose weight does not exist read no input
    r = random.Random(family)
    for nest in (nest for _ in range(5) for nest in nests(FAMILIES[family](r)) if small(nest)):
        sizes = {n: s for n, s in cut_sizes(r, nest).items() if n in nest.parallel}
        for tile in list(nest.tiles(sizes))[:6]:
            for which, access in enumerate((nest.out, *nest.ins)):
                points = touched(nest, tile, which)
                if access.tensor.name in ("x", "y") and points and points[0].size:
                    exact = tuple((int(p.min()), int(p.max()) + 1) for p in points)
                    assert access.footprint(tile).box == exact


@pytest.mark.parametrize("family", FAMILIES)
def test_parallel_tiles_cover_the_result_exactly_once(family: str) -> None:
    r = random.Random(family)
    for _ in range(ROUNDS):
        for nest in nests(FAMILIES[family](r)):
            if not nest.complete:
                continue  # spread, as ConvTranspose with stride and dilation
            covered = np.zeros(nest.out.tensor.shape, int)
            first = {n: 0 for n in nest.reductions}
            for tile in nest.tiles(cut_sizes(r, nest)):
                if all(tile[n][0] == at for n, at in first.items()):
                    covered[tuple(slice(*b) for b in nest.out.footprint(tile).box)] += 1
            assert (covered == 1).all()


def run_tiled(nest: Nest, arrays: dict[str, Array], sizes: dict[str, int], order: tuple[str, ...]) -> Array:
    """Tile by tile from local copies of the derived boxes only, reductions cut too."""
    out, partials, tiles = nest.out.tensor, dict[tuple[tuple[int, int], ...], Partial](), {}
    for tile in nest.tiles(sizes, order):
        pieces = {
            a.tensor.name: reference.cut(arrays[a.tensor.name], a.footprint(tile).box)
            for a in nest.ins
            if a.tensor.name in arrays
        }
        partial, box = reference.evaluate_tile(nest, tile, pieces), nest.out.footprint(tile).box
        partials[box] = reference.merge(nest, partials[box], partial) if box in partials else partial
        tiles[box] = tile
    result = np.zeros(out.shape, out.dtype.numpy)
    whole = {name: Piece(array, (0,) * array.ndim) for name, array in arrays.items()}
    for box, partial in partials.items():
        result[tuple(slice(*b) for b in box)] = reference.finish_tile(nest, tiles[box], partial, whole).data
    return result


@pytest.mark.parametrize("family", FAMILIES)
def test_nests_compute_what_the_operator_computes_whole_and_tiled(family: str) -> None:
    r = random.Random(family)
    for seed in range(ROUNDS):
        made = FAMILIES[family](r)
        arrays, chain = operands(made, seed), nests(made)
        wanted = evaluated(made, arrays)
        known = named(made, arrays)
        for nest in chain:
            whole = reference.evaluate(nest, known)
            if nest.complete:
                order = list(nest.space.extents)
                r.shuffle(order)
                tiled = run_tiled(nest, known, cut_sizes(r, nest), tuple(order))
                np.testing.assert_allclose(tiled, whole, rtol=1e-5, atol=1e-6)
            known[nest.out.tensor.name] = whole
        for name, value in wanted.items():
            assert known[name].dtype == value.dtype
            np.testing.assert_allclose(known[name], value, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("family", ["conv1", "conv2", "conv3", "depthwise", "conv_transpose2", "gemm", "matmul"])
def test_strided_views_and_the_naive_meaning_agree(family: str) -> None:
    r = random.Random(family)
    for seed in range(30):
        made = FAMILIES[family](r)
        known = named(made, operands(made, seed))
        (nest,) = nests(made)
        if fast.suits(nest):
            total = fast.sum_of_products(nest, known)
            naive = reference.evaluate(replace(nest, finish=FINISH_KEEP, after=()), known)
            assert np.array_equal(total, naive)


@pytest.mark.parametrize("family", FAMILIES)
def test_loads_are_what_a_walk_over_the_tiles_counts(family: str) -> None:
    r = random.Random(family)
    for _ in range(ROUNDS):
        for nest in nests(FAMILIES[family](r)):
            sizes, order = cut_sizes(r, nest), list(nest.space.extents)
            r.shuffle(order)
            counts = trips(nest, sizes)
            for access in nest.operands:
                seen: list[dict[str, tuple[int, int]]] = []
                for tile in nest.tiles(sizes, tuple(order)):
                    part = {n: tile[n] for n in access.loops}
                    if not seen or part != seen[-1]:
                        seen.append(part)
                assert loads(access, counts, order) == len(seen)
                if access is nest.out:
                    distinct = {str(part) for part in seen}
                    assert partial_reloads(nest, counts, order) == len(seen) - len(distinct)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_transfer_addresses_exactly_the_box(family: str) -> None:
    r = random.Random(family)
    for _ in range(ROUNDS):
        for nest in nests(FAMILIES[family](r)):
            for tile in list(nest.tiles(cut_sizes(r, nest)))[:3]:
                for access in nest.operands:
                    foot, shape = access.footprint(tile), access.tensor.shape
                    if foot.elements and shape:
                        layout = r.sample(range(len(shape)), len(shape))
                        moved = transfer(foot.box, shape, layout)
                        memory = np.arange(int(np.prod(shape))).reshape([shape[a] for a in layout])
                        starts = np.array([moved.offset])
                        for count, stride in moved.repeats:
                            starts = (starts[:, None] + np.arange(count) * stride).ravel()
                        addressed = (starts[:, None] + np.arange(moved.run)).ravel()
                        assert np.array_equal(addressed, memory[tuple(slice(*foot.box[a]) for a in layout)].ravel())
                        assert moved.commands(9) == 1
                        assert moved.commands(1) == moved.bursts


@pytest.mark.parametrize("family", FAMILIES)
def test_the_producers_tile_writes_all_that_is_needed(family: str) -> None:
    r = random.Random(family)
    for _ in range(ROUNDS):
        for nest in filter(small, nests(FAMILIES[family](r))):
            box = tuple((low := r.randrange(size), r.randint(low + 1, size)) for size in nest.out.tensor.shape)
            tile = producer_tile(nest, box)
            grid = np.meshgrid(*(np.arange(e) for e in nest.space.extents.values()), indexing="ij")
            loops = dict(zip(nest.space.extents, grid, strict=True))
            hit = np.ones(grid[0].shape if grid else (), bool)
            for sub, (low, high) in zip(nest.out.subscripts, box, strict=True):
                values = np.asarray(sub.at(loops))
                hit &= (values >= low) & (values < high)
            for (low, high), values in zip(tile.values(), grid, strict=True):
                assert low <= values[hit].min()
                assert values[hit].max() < high


NORMS = ["layer_norm", "rms_norm", "group_norm", "instance_norm", "lp_norm"]


@pytest.mark.parametrize("family", ["softmax", "log_softmax", "hardmax", "lrn", *NORMS])
def test_a_chain_cut_in_its_rows_gives_the_same(family: str) -> None:
    r = random.Random(family)
    for seed in range(ROUNDS):
        made = FAMILIES[family](r)
        arrays, chain = operands(made, seed), nests(made)
        known, last = named(made, arrays), chain[-1]
        result = np.zeros(last.out.tensor.shape, last.out.tensor.dtype.numpy)
        for tile in last.tiles(cut_sizes(r, last)):
            pieces: dict[str, Piece] = {}
            for nest, part in zip(chain, chain_tiles(chain, tile), strict=True):
                for access in (*nest.ins, *nest.after):
                    name = access.tensor.name
                    if name in known:
                        pieces[name] = reference.cut(known[name], access.footprint(part).box)
                partial = reference.evaluate_tile(nest, part, pieces)
                pieces[nest.out.tensor.name] = reference.finish_tile(nest, part, partial, pieces)
            result[tuple(slice(*b) for b in last.out.footprint(tile).box)] = pieces[last.out.tensor.name].data
        np.testing.assert_allclose(result, evaluated(made, arrays)["y"], rtol=2e-5, atol=1e-5)
