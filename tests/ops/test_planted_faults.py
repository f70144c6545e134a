"""The checks of `test_index_maps.py` see faults: each planted one makes one of them fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ops import test_index_maps as checks
from ops.building import call, evaluated, named, nests, operands
from tilewright.ops.index import reference
from tilewright.ops.index.affine import Affine
from tilewright.ops.index.body import Combine, combine, finish
from tilewright.ops.index.fused_chain import producer_tile
from tilewright.ops.index.nest import Access, Footprint, Nest
from tilewright.ops.index.transfer import Transfer, transfer

Patch = pytest.MonkeyPatch
Check = Callable[[str], None]


def _short_hull(patch: Patch) -> None:
    hull = Affine.hull
    patch.setattr(Affine, "hull", lambda self, box: (hull(self, box)[0], max(hull(self, box)[1] - 1, 1)))


def _late_hull(patch: Patch) -> None:
    hull = Affine.hull
    patch.setattr(
        Affine, "hull", lambda self, box: (min(hull(self, box)[0] + 1, hull(self, box)[1]), hull(self, box)[1])
    )


def _interval_clip(patch: Patch) -> None:
    def footprint(self: Access, tile: Any) -> Footprint:
        hulls = [sub.hull(tile) for sub in self.subscripts]
        box = tuple((max(0, lo), min(hi, n)) for (lo, hi), n in zip(hulls, self.tensor.shape, strict=True))
        return Footprint(box, (0,) * len(box), (0,) * len(box))

    patch.setattr(Access, "footprint", footprint)


def _unclipped(patch: Patch) -> None:
    def footprint(self: Access, tile: Any) -> Footprint:
        box = tuple(sub.hull(tile) for sub in self.subscripts)
        return Footprint(box, (0,) * len(box), (0,) * len(box))

    patch.setattr(Access, "footprint", footprint)


def _small_extent(patch: Patch) -> None:
    extent = Affine.extent
    patch.setattr(Affine, "extent", lambda self, sizes: np.maximum(extent(self, sizes) - 1, 1))


def _no_digits(patch: Patch) -> None:
    patch.setattr(Nest, "digits", ())


def _everything_parallel(patch: Patch) -> None:
    patch.setattr(Nest, "parallel", property(lambda self: frozenset(self.space.moving)))


def _largest_from_zero(patch: Patch) -> None:
    start = Combine.start
    patch.setattr(
        Combine, "start", lambda self, dtype: np.zeros((), dtype) if np.isinf(self.identity) else start(self, dtype)
    )


def _loads_of_still_loops(patch: Patch) -> None:
    def loads(access: Access, counts: dict[str, int], order: list[str]) -> int:
        moving = [i for i, name in enumerate(order) if name in access.loops]
        return int(np.prod([counts[n] for n in order[: moving[-1] + 1]])) if moving else 1

    patch.setattr(checks, "loads", loads)


def _loads_once_per_tile(patch: Patch) -> None:
    def loads(access: Access, counts: dict[str, int], order: list[str]) -> int:
        return int(np.prod([counts[n] for n in order if n in access.loops], initial=1))

    patch.setattr(checks, "loads", loads)


def _no_partial_reloads(patch: Patch) -> None:
    patch.setattr(checks, "partial_reloads", lambda nest, counts, order: 0)


def _run_too_long(patch: Patch) -> None:
    def longer(box: Any, shape: Any, layout: Any) -> Transfer:
        moved = transfer(box, shape, layout)
        return replace(moved, run=moved.run + 1)

    patch.setattr(checks, "transfer", longer)


def _layout_ignored(patch: Patch) -> None:
    patch.setattr(checks, "transfer", lambda box, shape, layout: transfer(box, shape))


def _producer_short(patch: Patch) -> None:
    original = producer_tile

    def short(nest: Nest, box: Any) -> Any:
        return {n: (low, max(high - 1, low + 1)) for n, (low, high) in original(nest, box).items()}

    patch.setattr(checks, "producer_tile", short)


FAULTS: list[tuple[Callable[[Patch], None], Check, str]] = [
    (_short_hull, checks.test_boxes_hold_everything_that_is_read, "conv2"),
    (_late_hull, checks.test_boxes_hold_everything_that_is_read, "conv2"),
    (_interval_clip, checks.test_a_box_is_exactly_what_is_read_where_reductions_stay_whole, "conv1"),
    (_unclipped, checks.test_a_box_is_exactly_what_is_read_where_reductions_stay_whole, "conv2"),
    (_small_extent, checks.test_boxes_hold_everything_that_is_read, "conv2"),
    (_no_digits, checks.test_parallel_tiles_cover_the_result_exactly_once, "conv_transpose2"),
    (_everything_parallel, checks.test_parallel_tiles_cover_the_result_exactly_once, "conv2"),
    (_short_hull, checks.test_nests_compute_what_the_operator_computes_whole_and_tiled, "average_pool"),
    (_largest_from_zero, checks.test_nests_compute_what_the_operator_computes_whole_and_tiled, "max_pool_indices"),
    (_loads_of_still_loops, checks.test_loads_are_what_a_walk_over_the_tiles_counts, "conv2"),
    (_loads_once_per_tile, checks.test_loads_are_what_a_walk_over_the_tiles_counts, "conv2"),
    (_no_partial_reloads, checks.test_loads_are_what_a_walk_over_the_tiles_counts, "conv2"),
    (_run_too_long, checks.test_a_transfer_addresses_exactly_the_box, "conv2"),
    (_layout_ignored, checks.test_a_transfer_addresses_exactly_the_box, "conv2"),
    (_producer_short, checks.test_the_producers_tile_writes_all_that_is_needed, "conv2"),
    (_short_hull, checks.test_a_chain_cut_in_its_rows_gives_the_same, "softmax"),
]


@pytest.mark.parametrize(("fault", "check", "family"), FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_planted_fault_is_seen(fault: Callable[[Patch], None], check: Check, family: str, monkeypatch: Patch) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, IndexError, ValueError)):
        check(family)


def _conv() -> Any:
    return call("Conv", (1, 4, 7, 7), (4, 2, 3, 3), (4,), group=2, strides=(2, 1), dilations=(1, 2), pads=(1, 2, 0, 1))


def _moved(nest: Nest, which: int, axis: int, change: Callable[[Any], Any]) -> Nest:
    access = nest.ins[which]
    subs = tuple(change(sub) if i == axis else sub for i, sub in enumerate(access.subscripts))
    ins = tuple(replace(access, subscripts=subs) if i == which else a for i, a in enumerate(nest.ins))
    return replace(nest, ins=ins)


WRONG_MAPS: dict[str, Callable[[Nest], Nest]] = {
    "padding one short": lambda n: _moved(n, 0, 2, lambda s: s + 1),
    "padding one long": lambda n: _moved(n, 0, 3, lambda s: s - 1),
    "stride forgotten": lambda n: _moved(n, 0, 2, lambda s: s - Affine.loop("oh")),
    "dilation forgotten": lambda n: _moved(n, 0, 3, lambda s: s - Affine.loop("kw")),
    "group forgotten": lambda n: _moved(n, 0, 1, lambda s: s - Affine.loop("g") * 2),
    "kernel mirrored": lambda n: _moved(n, 1, 2, lambda s: 2 - s),
    "bias forgotten": lambda n: replace(n, finish=finish("keep"), after=()),
    "largest instead of sum": lambda n: replace(n, combine=combine("max")),
}


@pytest.mark.parametrize("name", WRONG_MAPS)
def test_a_wrong_index_map_computes_something_else(name: str) -> None:
    made = _conv()
    arrays = operands(made, 3)
    (right,) = nests(made)
    wanted = evaluated(made, arrays)["y"]
    assert np.array_equal(reference.evaluate(right, named(made, arrays)), wanted)
    assert not np.array_equal(reference.evaluate(WRONG_MAPS[name](right), named(made, arrays)), wanted)
