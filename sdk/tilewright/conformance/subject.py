"""One network as C that a batch program runs: compiled from a model in memory, without a file or a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.binding.bind import bind
from tilewright.codegen.artifacts import Artifacts
from tilewright.codegen.emit import emit
from tilewright.frontend.load import load
from tilewright.memory.placed import PlacedPlan
from tilewright.memory.planner import place_plan
from tilewright.model import Array, Model, Tensor
from tilewright.passes.driver import run as run_passes
from tilewright.passes.quantise.lower import lower
from tilewright.plan.aliasing.apply import with_aliasing
from tilewright.plan.build import build
from tilewright.plan.check import check as check_plan
from tilewright.platform import Feature, Kernel, Platform
from tilewright.plugins import kernels_of
from tilewright.schedule.tile import tile

if TYPE_CHECKING:
    import onnx

ALLOCATOR = "greedy"
"""Hundreds of small networks are placed: the proof of an optimum is not what is tested."""


@dataclass(frozen=True)
class Subject:
    """A network with its C and the inputs of every run, in the order of the plan's inputs."""

    placed: PlacedPlan
    artifacts: Artifacts
    runs: tuple[tuple[Array, ...], ...]

    @property
    def name(self) -> str:
        """The prefix of every symbol."""
        return self.placed.plan.name

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that every run fills."""
        plan = self.placed.plan
        return tuple(plan.slots[slot].tensor for slot in plan.input_slots)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The tensors that every run reads back."""
        plan = self.placed.plan
        return tuple(plan.slots[slot].tensor for slot in plan.output_slots)


def load_and_pass(
    source: bytes | onnx.ModelProto,
    name: str,
    frozen: Mapping[str, Array] | None = None,
    *,
    passes: bool = True,
    bounds: Mapping[str, int] | None = None,
) -> Model:
    """The model as binding takes it; `passes` off leaves out what only makes it smaller."""
    model = lower(load(source, name=name, frozen=frozen or {}, bounds=bounds))
    return run_passes(model)[0] if passes else model


def place(
    model: Model,
    platform: Platform,
    kernels: Sequence[Kernel] | None = None,
    io: str = "arena",
    *,
    views: bool = False,
) -> PlacedPlan:
    """Bind, tile, plan and place; `kernels` instead of all that the platform has. With `views` moves share bytes."""
    bound = bind(model, platform, kernels_of(platform) if kernels is None else kernels)
    plan = build(tile(bound))
    if views and platform.can(Feature.ALIASING):
        plan = with_aliasing(plan, compute_align(platform, plan.home))
    check_plan(plan)
    return place_plan(plan, platform, io=io, allocator=ALLOCATOR)


def compute_align(platform: Platform, home: str) -> int:
    """What addresses in the level of activations are multiples of."""
    return next(level.align for level in platform.memory if level.name == (home or platform.compute_in))


def subject(placed: PlacedPlan, platform: Platform, runs: Sequence[Sequence[Array]]) -> Subject:
    """The placed plan as C, to be run on `runs`."""
    return Subject(placed, emit(placed, platform.memory, ()), tuple(tuple(run) for run in runs))
