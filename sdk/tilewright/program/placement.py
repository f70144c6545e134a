"""Where the constants of a region lie on the device: the frozen slots of each region that is no plain flash."""

from __future__ import annotations

import re

from tilewright.codegen.blob import WeightRegion
from tilewright.errors import UnsupportedError, UsageError
from tilewright.plan.plan import ExecutionPlan
from tilewright.program.network import region_of
from tilewright.program.schema import CompileMode, Region, Schema


def weight_regions(plan: ExecutionPlan, schema: Schema) -> tuple[WeightRegion, ...]:
    """The regions of mode export and runtime with their constants, in the schema's order.

    UsageError for one that has no constants, and for two whose names are one in C.
    """
    places = {slot.index: region_of(slot.node, schema) for slot in plan.frozen_slots if not slot.constant.level}
    regions: list[WeightRegion] = []
    for region in schema.regions:
        if region.mode not in (CompileMode.EXPORT, CompileMode.RUNTIME):
            continue
        slots = tuple(index for index, name in places.items() if name == region.name)
        if not slots:
            raise UsageError(
                f"region '{region.name}' has no weights", why=f"it is to be shipped as {region.mode.value}",
                fix="choose freeze, or widen its prefixes", file=schema.origin,
            )  # fmt: skip
        regions.append(WeightRegion(region.name, _identifier(region), region.mode is CompileMode.EXPORT, slots))
    names = [region.identifier for region in regions]
    for placed in regions:
        if names.count(placed.identifier) > 1:
            raise UsageError(f"region '{placed.name}' has the same name in C as another", fix="rename one")
    return tuple(regions)


def refuse_regions(regions: tuple[WeightRegion, ...], platform: str) -> None:
    """UnsupportedError where a platform writes its code itself and cannot keep weights outside."""
    if regions:
        raise UnsupportedError(
            f"region '{regions[0].name}' cannot be kept outside of the code on '{platform}'",
            why="the platform writes its code itself", fix="choose freeze",
        )  # fmt: skip


def _identifier(region: Region) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", region.name).strip("_").lower() or "region"
