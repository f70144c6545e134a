"""From a model to a plan: one instruction per node, or one per primitive operation.

`compile_plan` keeps nodes as they are; `compile_traced` takes composite operators apart first, so that a backend sees
primitives only. Shapes are inferred, nothing is executed; what nothing reads is dropped and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.binding.bind import bind
from tilewright.errors import UnsupportedNode
from tilewright.graphs.dead import eliminate_dead
from tilewright.graphs.primitives import PRIMITIVES, decompose
from tilewright.model import Model
from tilewright.plan.build import build
from tilewright.plan.check import check
from tilewright.plan.plan import ExecutionPlan
from tilewright.plugins import kernels_of, platform
from tilewright.tiling.tiled_graph import TiledGraph


@dataclass(frozen=True)
class Lowered:
    """A plan, and the names of the nodes that nothing reads."""

    plan: ExecutionPlan
    removed: tuple[str, ...]


def compile_plan(model: Model, name: str = "generic") -> Lowered:
    """One instruction per node that computes, on the platform `name`; views are slots, no instructions."""
    chosen = platform(name)
    plan = build(TiledGraph(bind(model, chosen, kernels_of(chosen)), {}))
    check(plan)
    eliminated = eliminate_dead(plan)
    return Lowered(eliminated.plan, eliminated.removed)


def compile_traced(model: Model, name: str = "generic") -> Lowered:
    """The same over primitive operations; UnsupportedNode names a node that has no decomposition."""
    primitive = decompose(model)
    for node in primitive.nodes:
        if node.op not in PRIMITIVES or node.clamp is not None:
            raise UnsupportedNode(
                f"node '{node.name}' ({node.op}) cannot be traced to primitives",
                why="it is not a primitive operation and has no decomposition", fix="use compile_plan instead",
                node=node.name,
            )  # fmt: skip
    return compile_plan(primitive, name)
