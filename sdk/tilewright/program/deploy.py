"""Deploys a network by regions: the SDK's pipeline with two changes, for modes that decide placement.

freeze: `const` in flash, as without a program. constant: must have become a value before binding. export: a blob beside
the firmware that the generated code reads where the caller put it. runtime: RAM, updatable by such a blob.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tilewright.codegen.artifacts import Artifacts
from tilewright.codegen.generator import Generator, emitter, generator
from tilewright.frontend.read import read
from tilewright.memory.placed import PlacedPlan
from tilewright.pipeline import Compiler, Depends
from tilewright.plan.constants import with_own_constants
from tilewright.platform import Feature, MemoryLevel
from tilewright.program.network import check_folded
from tilewright.program.placement import refuse_regions, weight_regions
from tilewright.program.schema import Schema
from tilewright.schedule.question import Lowered
from tilewright.schedule.request import Request, request

T = TypeVar("T")


def with_program(pipeline: Compiler[T], schema: Schema) -> Compiler[T]:
    """A copy of the pipeline that places each region as the schema says."""

    def folded(network: Lowered, request: Request = Depends(request)) -> Lowered:
        """Refuse prefixes that fit no node, and constant regions that still compute."""
        names = [*_names_in(request.source), *(node.name for node in network.loaded.nodes)]
        check_folded(names, network.model, schema)
        return network

    def by_region(
        request: Request = Depends(request),
    ) -> Generator:
        """Write the code with the weights of each region in their place."""

        def write(placed: PlacedPlan, levels: Sequence[MemoryLevel], flags: Sequence[str]) -> Artifacts:
            placed = replace(placed, plan=with_own_constants(placed.plan))
            regions = weight_regions(placed.plan, schema)
            if not request.platform.can(Feature.REGIONS):
                refuse_regions(regions, request.platform.name)
            return emitter(request, regions)(placed, levels, flags)

        return write

    changed = pipeline.copy()
    changed.insert(folded, after="lower")
    changed.dependency_overrides[generator] = by_region
    return changed


def _names_in(source: Path) -> list[str]:
    """The names of the nodes in a model file; loading has folded some of them away."""
    return [node.name for node in read(source).proto.graph.node if node.name]
