"""Operators of every family with index maps, drawn at random: cut, checked, and run tile by tile."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from ops.building import FAMILIES, operands
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.graphs.tiled import run as run_tiled
from tilewright.layout import Layout
from tilewright.model import Model
from tilewright.plan.build import build
from tilewright.plan.execute import run as run_whole
from tilewright.platform import Call, Kernel, Rule, TiledKernelMethods, TileView
from tilewright.tiling.check import check
from tilewright.tiling.expand import expand
from tilewright.tiling.front import walked
from tilewright.tiling.stages import work_of
from tilewright.tiling.subject import subject_of
from tilewright.tiling.tiled_graph import TiledGraph
from tiling.cutting import PLATFORM, kernel, levels


class Anything(TiledKernelMethods):
    """A kernel without demands."""

    tile_type = "none"

    def rules(self, call: Call) -> list[Rule]:
        return []

    def tile(self, call: Call, view: TileView) -> Mapping[str, int]:
        return {}


def graph(made: object, found: Kernel) -> BoundGraph:
    assert isinstance(made, Call)
    tensors = {t.name: t for t in (*made.inputs, *made.outputs) if t is not None}
    inputs = tuple(t.name for i, t in enumerate(made.inputs) if t is not None and i not in made.constants)
    constants = {made.tensor(i).name: value for i, value in made.constants.items()}
    model = Model("net", (made.node,), tensors, constants, inputs, tuple(t.name for t in made.outputs), made.opset)
    layouts = {name: Layout.default(t.shape) for name, t in tensors.items() if name not in constants}
    return BoundGraph(model, PLATFORM, (BoundNode(made, found),), layouts, model.outputs)


@pytest.mark.parametrize("family", FAMILIES)
def test_tiles_of_an_operator_compute_the_operator(family: str) -> None:
    draw = random.Random(family)
    cut_somewhere = False
    for _ in range(4):
        made = FAMILIES[family](draw)
        found = replace(kernel("Relu"), op=made.node.op, methods=Anything())
        bound = graph(made, found)
        work = work_of(made, found, bound.layouts, found.constants(bound.operands(bound.nodes[0])))
        subject = subject_of([work], levels(1 << 30))
        assert subject is not None
        cuts = [cut for cut in walked(subject, 1 << 30) if cut.tiles <= 60]
        for cut in draw.sample(cuts, min(3, len(cuts))):
            schedule = expand(subject, cut)
            check(schedule, 1 << 30, 4)
            assert schedule.compute_bytes == cut.compute_bytes
            plan = build(TiledGraph(bound, {made.node.name: schedule}), constants=False)
            arrays = [a for i, a in enumerate(operands(made)) if a is not None and i not in made.constants]
            for tiled, whole in zip(run_tiled(plan, arrays), run_whole(plan, arrays), strict=True):
                np.testing.assert_array_equal(tiled, whole)
            cut_somewhere |= cut.tiles > 1
    assert cut_somewhere or not work.cuttable
