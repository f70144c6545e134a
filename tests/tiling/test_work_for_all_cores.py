"""On the cluster a tile holds work for all eight cores wherever its layer does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

import pytest
from conftest import NetworkFiles
from tilewright.binding.graph import BoundGraph, BoundNode
from tilewright.platform import Kernel, Operands
from tilewright.schedule.tile import tile
from tilewright.tiling import front
from tilewright.tiling.subject import Subject
from tilewright.tiling.switches import TileOptions
from tilewright.tiling.tiled_graph import TiledGraph
from tiling.networks import of_l1, on_pulp

KIB = 1024
NETWORKS = ("ad_int8", "dscnn_int8", "resnet8_int8", "vww_int8")
CORES = 8


def kernel_of(bound: BoundNode) -> Kernel:
    assert bound.kernel is not None
    return bound.kernel


def items(bound: BoundNode, sizes: Mapping[str, int]) -> int:
    """What the kernel's C shares among the cores in a tile of these sizes."""
    name = kernel_of(bound).name
    if name == "DenseRowI8":
        return sizes["n"]
    if name.startswith("Block"):
        lines, columns = (1, sizes["m"]) if name == "BlockDenseI8" else (sizes.get("oh", 1), sizes["ow"])
        channels = {"BlockConvI8": "oc", "BlockDepthwiseI8": "g", "BlockDenseI8": "n"}[name]
        return blocks(bound, lines, columns, sizes[channels])
    if name == "TiledPoolI8":
        return sizes["c"]
    if name in ("TiledPairI8", "TiledPairVectorI8", "TiledTableI8", "TiledQuantiseSteps", "TiledDequantiseTable"):
        return prod(size for loop, size in sizes.items() if "." not in loop)
    from tilewright.platforms.pulp.kernels.loops import TileLoops  # known once the platform is loaded
    from tilewright.platforms.pulp.kernels.loops_text import shared_loops

    methods = kernel_of(bound).methods
    assert isinstance(methods, TileLoops), name
    return prod(sizes[loop] for loop in shared_loops(methods.printed(Operands(bound.call)).nests))


def blocks(bound: BoundNode, lines: int, columns: int, channels: int) -> int:
    """Blocks of pixels times groups of four channels, as `block_i8.c.mako` counts them."""
    from tilewright.platforms.pulp.kernels.block_i8 import plan_of
    from tilewright.platforms.pulp.kernels.conv_block_i8 import window_of
    from tilewright.platforms.pulp.kernels.dense_block_i8 import window_of as product_of

    call, name = bound.call, kernel_of(bound).name
    window = product_of(call) if name == "BlockDenseI8" else window_of(call)
    plan = plan_of(window, call, apart=name == "BlockDepthwiseI8")
    if plan.window.flat or plan.gathered:
        lines, columns = 1, lines * columns
    full, over = divmod(columns, plan.pixels)
    singles = over if full == 0 or over <= 2 else 0
    return lines * (full + (singles if singles == over else 1)) * -(-channels // 4)


def starving(graph: BoundGraph, tiled: TiledGraph) -> list[str]:
    """Nodes with a tile of too few items though the layer has more."""
    bound = {one.call.node.name: one for one in graph.nodes}
    found = []
    for schedule in tiled.schedules.values():
        for step in schedule.steps():
            for stage, loops, computed in zip(schedule.stages, step.tiles, step.computed, strict=True):
                one = bound[stage.node]
                here = items(one, {loop: high - low for loop, (low, high) in loops.items()})
                few = computed and here < min(CORES, items(one, stage.extents))
                if few and stage.node not in found:
                    found.append(stage.node)
    return found


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("kib", [64, 32, 16, 8])
def test_every_core_has_work_in_every_tile(network: Callable[[str], NetworkFiles], name: str, kib: int) -> None:
    graph = on_pulp(network(name).model)
    assert starving(graph, tile(graph, of_l1(kib * KIB))) == []


@pytest.mark.parametrize("name", ["dscnn_int8", "resnet8_int8"])
def test_tiles_for_few_cores_are_noticed(
    network: Callable[[str], NetworkFiles], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small(subject: Subject) -> dict[str, list[int]]:
        return {
            loop: [subject.multiples.get(loop, 1)] for loop in subject.cuttable if loop in ("n", "g", "oc", "oh", "ow")
        }

    graph = on_pulp(network(name).model)
    monkeypatch.setattr(front, "candidate_sizes", small)
    tiled = tile(graph, of_l1(64 * KIB), options=TileOptions(fuse=False, sit=False))
    assert starving(graph, tiled)
