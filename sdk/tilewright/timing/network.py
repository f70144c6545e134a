"""The bound of a compiled network: builds the image, with a trace once more for its layers, and bounds both."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tilewright.compile import Compiled, write
from tilewright.run.build import build
from tilewright.run.cycles import load_model
from tilewright.run.image import Toolchain
from tilewright.target import Target
from tilewright.timing.bound import Analysis, TimeBound
from tilewright.timing.flow_facts import ait, otawa
from tilewright.timing.machine import Cost

DEBUG = ("-g1",)
"""Lines of C; gcc's code is the same with and without."""


@dataclass(frozen=True)
class LayerBound:
    """What a plan instruction takes, None where it runs only for some inputs, which no count of its own tells."""

    name: str
    op: str
    cost: Cost | None


@dataclass(frozen=True)
class SliceBound:
    """What one call of `run_some` takes, from the layer named first to the one named last."""

    first: str
    last: str
    cost: Cost


@dataclass(frozen=True)
class Bounded:
    """The bound of a network on a target, and its loop bounds as other tools take them."""

    model: str
    target: str
    toolchain: Toolchain
    core: str
    wait_states: int
    bound: TimeBound
    layers: tuple[LayerBound, ...]
    slices: tuple[SliceBound, ...]
    flow_facts: str
    annotations: str

    @property
    def longest_slice(self) -> SliceBound | None:
        """The slice that may take most instructions; None for a network without slices."""
        return max(self.slices, key=lambda one: one.cost.most, default=None)


def bound_network(
    compiled: Compiled, target: Target, *, layers: bool = False, loops: bool = False, keep: Path | None = None
) -> Bounded:
    """Build and bound; `keep` is where a copy of the image goes. See timing/bound.py for errors."""
    interface = compiled.artifacts.interface
    with tempfile.TemporaryDirectory(prefix="tilewright-time-") as name:
        work = Path(name)
        (work / "project").mkdir()
        write(compiled, work / "project")
        image = build(work / "project", interface, target, work / "plain", extra_flags=DEBUG)
        analysis = Analysis(image)
        bound = analysis.bound(again=loops)
        rows = bound_layers(compiled, target, work / "project", work / "traced") if layers else ()
        if keep is not None:
            shutil.copyfile(image.path, keep)
        model = load_model(target)
        return Bounded(
            interface.model, target.name, image.toolchain, model.core if model is not None else "",
            target.flash_wait_states, bound, rows, bound_slices(compiled, analysis),
            otawa(image.path, bound.loops), ait(image.path, bound.loops),
        )  # fmt: skip


def bound_layers(compiled: Compiled, target: Target, project: Path, work: Path) -> tuple[LayerBound, ...]:
    """Every layer of a written project by itself, of an image with trace that is built in `work`."""
    traced = build(project, compiled.artifacts.interface, target, work, trace=True)
    costs = Analysis(traced).bound().layers
    return tuple(LayerBound(one.name, one.call.node.op, costs.get(one.index)) for one in compiled.plan.instructions)


def bound_slices(compiled: Compiled, analysis: Analysis) -> tuple[SliceBound, ...]:
    """Every call of `run_some`; none where there is no such function, or where it takes pointers of the caller's."""
    interface, plan = compiled.artifacts.interface, compiled.plan.instructions
    if interface.takes_pointers or interface.context:
        return ()
    return tuple(
        SliceBound(plan[one.first].name, plan[one.last].name, analysis.bound(part=number).cost)
        for number, one in enumerate(compiled.artifacts.slices)
    )
